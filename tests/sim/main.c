/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim: lives through one simulated world after the other, and stops at the
 * first in which a promise is broken.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "redis_model.h"
#include "shares.h"
#include "world.h"

static const char usage[] =
    "usage: sim [options]\n"
    "  --seed S           the first world's seed (1)\n"
    "  --runs N           so many worlds, one seed after the other (1)\n"
    "  --acquisitions N   as many worlds as that takes\n"
    "  --soak             figures every minute; on and on unless a number\n"
    "                     of acquisitions is given\n"
    "  --jobs J           so many processes, each with its share of the seeds\n"
    "  --each N           acquisitions in each world (1000)\n"
    "  --inside           no faults outside the fault model\n"
    "  --calm             no faults at all\n"
    "  --level L          worlds of one kind: plain, guarded, strict, mixed; "
    "or\n"
    "                     attacked: the faults of guarded ones on plain "
    "clients\n"
    "  --seeds FILE...    the seeds in these files\n"
    "  --hash             print each world's hash\n"
    "  --verbose          tell everything as it happens\n"
    "A failure leaves its story in sim-SEED.txt. See doc/proof.md.\n";

struct plan {
    struct world_options world;
    uint64_t runs, acquisitions; /* 0: not by this */
    bool soak, hash, from_files;
    unsigned jobs;
    struct share *share; /* this process's */
    double started, told;
};

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void print_swarm(const struct swarm *s, FILE *file)
{
    fprintf(file,
            "%u nodes, %u clients, %u locks, %u handles each; ttl %u ms, node "
            "timeout %u ms, drift %u ppm, retry %u ms\n",
            s->nodes, s->clients, s->locks, s->handles, s->ttl_ms,
            s->node_timeout_ms, s->drift_ppm, s->retry_ms);
    if (s->guarded)
        fprintf(file,
                "level %u%s%s%s; max ttl %u ms, slack %u ms, keep %u ms, lock "
                "delay %u ms\n",
                s->level, s->silent ? ", silent" : "",
                s->syncs ? ", syncs" : "", s->wild ? ", wild clocks" : "",
                s->max_ttl_ms, s->slack_ms, s->keep_ms, s->lock_delay_ms);
    for (unsigned i = 0; i < FAULTS; i++)
        if (s->every_ns[i] > 0)
            fprintf(file, "about every %.3f s: %s\n",
                    (double)s->every_ns[i] / 1e9, fault_word((enum fault)i));
}

/* What each client thinks of each node. */
static void print_standings(const struct world *w, FILE *file)
{
    for (unsigned c = 0; c < w->swarm.clients; c++)
        for (unsigned i = 0; w->client[c].ql && i < w->swarm.nodes; i++) {
            const struct ql_member *member = &w->client[c].ql->member[i];
            const char *text = "";
            ql_verdict verdict = QL_V_GRANTED;

            if (w->client[c].ql->watch)
                verdict = ql_watch_verdict(member, &text);
            fprintf(file, "client %u of node %u: state %d; %s: %s\n", c, i,
                    (int)ql_node_state(member->node), ql_verdict_word(verdict),
                    text);
        }
}

static void report_failure(const struct world *w)
{
    char name[64];
    FILE *file;

    snprintf(name, sizeof name, "sim-%" PRIu64 ".txt", w->seed);
    file = fopen(name, "w");
    for (FILE *to = file; to; to = to == stderr ? NULL : stderr) {
        print_swarm(&w->swarm, to);
        tale_print(&w->tale, to);
        print_standings(w, to);
        fprintf(to, "seed %" PRIu64 ": %s\n", w->seed, w->failure);
    }
    if (file)
        fclose(file);
    fprintf(stderr,
            "%s has the end of the story. Replay: sim --seed %" PRIu64
            " --each N --verbose, with the options of this run\n",
            file ? name : "This", w->seed);
}

/* An assertion, in the library or here, is a broken promise too. */
static void aborted(int signal)
{
    (void)signal;
    kernel_leave_all();
    if (!world_alive)
        return;
    snprintf(world_alive->failure, sizeof world_alive->failure,
             "an assertion failed");
    report_failure(world_alive);
}

static bool run_world(struct plan *plan, uint64_t seed)
{
    struct world *w;
    bool good;

    plan->world.seed = seed;
    w = world_run(&plan->world);
    if (!w) {
        fprintf(stderr, "sim: out of memory\n");
        return false;
    }
    good = w->failure[0] == '\0';
    if (plan->hash)
        printf("%" PRIu64 " %016" PRIx64 "\n", seed, w->hash);
    tally_add(&plan->share->sum, &w->tally);
    plan->share->violations += !good;
    if (!good)
        report_failure(w);
    else
        world_free(w);
    return good;
}

static bool is_done(const struct plan *plan)
{
    const struct tally *sum = &plan->share->sum;

    if (plan->acquisitions)
        return sum->acquisitions >= plan->acquisitions / plan->jobs;
    return !plan->soak && sum->worlds >= plan->runs / plan->jobs;
}

static void tell_figures(struct plan *plan)
{
    struct share sum;

    shares_add(&sum);
    plan->told = seconds();
    tally_print(&sum.sum, plan->told - plan->started);
    printf("  %14" PRIu64 "  broken promises, inside the model\n",
           sum.violations);
    fflush(stdout);
}

/* One process's worlds: every jobs-th seed. */
static bool run_share(void *of_plan, unsigned job)
{
    struct plan *plan = of_plan;
    uint64_t seed = plan->world.seed + job;

    plan->share = shares_of(job);
    for (; !is_done(plan) && !shares_failed(); seed += plan->jobs)
        if (!run_world(plan, seed))
            return false;
    return true;
}

static void tell_sometimes(void *of_plan)
{
    struct plan *plan = of_plan;

    if (plan->soak && seconds() - plan->told > 60)
        tell_figures(plan);
}

static bool run_all(struct plan *plan)
{
    if (plan->jobs == 1 && !plan->soak)
        return run_share(plan, 0);
    shares_run(run_share, tell_sometimes, plan);
    return !shares_failed();
}

static enum swarm_level level_of(const char *word)
{
    static const char *const words[] = {"each",   "plain", "guarded",
                                        "strict", "mixed", "attacked"};

    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0)
            return (enum swarm_level)i;
    return SWARM_EACH;
}

/* Each line: a seed, acquisitions, the level ("each": as drawn), and perhaps
 * what faults; after a # a remark. */
static bool run_file(struct plan *plan, const char *name)
{
    FILE *file = fopen(name, "r");
    char line[256];
    bool good = true;

    if (!file) {
        fprintf(stderr, "sim: %s: %s\n", name, strerror(errno));
        return false;
    }
    while (good && fgets(line, sizeof line, file)) {
        uint64_t seed, each;
        char level[16], choice[16] = "any";

        if (sscanf(line, "%" SCNu64 " %" SCNu64 " %15s %15s", &seed, &each,
                   level, choice) < 3)
            continue;
        plan->world.level = level_of(level);
        plan->world.acquisitions = each;
        plan->world.choice = strcmp(choice, "inside") == 0 ? SWARM_INSIDE
                             : strcmp(choice, "calm") == 0 ? SWARM_CALM
                                                           : SWARM_ANY;
        good = run_world(plan, seed);
    }
    fclose(file);
    return good;
}

static const struct option options[] = {
    {"seed", required_argument, NULL, 's'},
    {"runs", required_argument, NULL, 'r'},
    {"acquisitions", required_argument, NULL, 'a'},
    {"each", required_argument, NULL, 'e'},
    {"soak", no_argument, NULL, 'k'},
    {"jobs", required_argument, NULL, 'j'},
    {"inside", no_argument, NULL, 'i'},
    {"calm", no_argument, NULL, 'c'},
    {"level", required_argument, NULL, 'l'},
    {"seeds", no_argument, NULL, 'f'},
    {"hash", no_argument, NULL, 'h'},
    {"verbose", no_argument, NULL, 'v'},
    {NULL, 0, NULL, 0},
};

static bool read_option(struct plan *plan, int option)
{
    switch (option) {
    case 's':
        plan->world.seed = strtoull(optarg, NULL, 10);
        return true;
    case 'r':
        plan->runs = strtoull(optarg, NULL, 10);
        return true;
    case 'a':
        plan->acquisitions = strtoull(optarg, NULL, 10);
        return true;
    case 'e':
        plan->world.acquisitions = strtoull(optarg, NULL, 10);
        return true;
    case 'k':
        return plan->soak = true;
    case 'j':
        plan->jobs = (unsigned)strtoul(optarg, NULL, 10);
        return plan->jobs > 0;
    case 'i':
        plan->world.choice = SWARM_INSIDE;
        return true;
    case 'c':
        plan->world.choice = SWARM_CALM;
        return true;
    case 'l':
        plan->world.level = level_of(optarg);
        return plan->world.level != SWARM_EACH;
    case 'f':
        return plan->from_files = true;
    case 'h':
        return plan->hash = true;
    case 'v':
        return plan->world.verbose = true;
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    struct plan plan = {
        .world = {.seed = 1, .acquisitions = 1000}, .runs = 1, .jobs = 1};
    bool good = true;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
        if (!read_option(&plan, option)) {
            fputs(usage, stderr);
            return 64;
        }
    signal(SIGABRT, aborted);
    plan.started = plan.told = seconds();
    if (!shares_start(plan.jobs)) {
        fprintf(stderr, "sim: --jobs %u: %s\n", plan.jobs, strerror(errno));
        return 1;
    }
    plan.share = shares_of(0);
    if (!plan.from_files)
        good = run_all(&plan);
    for (; plan.from_files && good && optind < argc; optind++)
        good = run_file(&plan, argv[optind]);
    tell_figures(&plan);
    redis_close_lua();
    return good ? 0 : 1;
}
