/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock(1): a table of verbs. What each does is in the file of its name.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/say.h"
#include "cli/verb.h"
#include "quorlock/quorlock.h"

struct verb {
    const char *name;
    const char *arguments;
    const char *summary;
    enum verb_bit bit;
    int min, max; /* arguments; 0: no maximum, a command follows */
    verb_fn *run;
};

#define NO_ARGUMENTS (-1) /* as a maximum */

static const struct verb VERBS[] = {
    {"run", "[options] NAME [--] COMMAND [ARG...]",
     "run COMMAND while holding the lock NAME", VERB_RUN, 1, 0, verb_run},
    {"acquire", "[options] NAME", "take the lock and print its token",
     VERB_ACQUIRE, 1, 1, verb_acquire},
    {"extend", "[options] NAME TOKEN", "let a lock last --ttl from now",
     VERB_EXTEND, 2, 2, verb_extend},
    {"release", "[options] NAME TOKEN", "give a lock back", VERB_RELEASE, 2, 2,
     verb_release},
    {"status", "[options] NAME", "show who holds the lock, node by node",
     VERB_STATUS, 1, 1, verb_status},
    {"list", "[options] [PREFIX]", "show all locks, or those that begin so",
     VERB_LIST, 0, 1, verb_list},
    {"force-release", "[options] NAME", "take a lock away from its holder",
     VERB_FORCE_RELEASE, 1, 1, verb_force_release},
    {"init", "[options]", "make the servers a group, for the guarded level",
     VERB_INIT, 0, NO_ARGUMENTS, verb_init},
    {"members", "[options] [add URL | remove URL | settle | abandon]",
     "show the group, or change it by one server", VERB_MEMBERS, 0, 2,
     verb_members},
    {"check", "[options]", "look for what makes locks on the servers unsafe",
     VERB_CHECK, 0, NO_ARGUMENTS, verb_check},
    {"dev", "[options] [--] [COMMAND [ARG...]]",
     "run COMMAND, or a shell, with private servers", VERB_DEV, 0, 0, verb_dev},
};

#define VERB_COUNT (sizeof(VERBS) / sizeof(VERBS[0]))

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (!strcmp(VERBS[i].name, name))
            return &VERBS[i];
    return NULL;
}

static int help_all(FILE *out)
{
    fputs("quorlock: a lock on a majority of independent Redis or Valkey "
          "masters\n\n",
          out);
    for (size_t i = 0; i < VERB_COUNT; i++)
        fprintf(out, "  quorlock %-13s  %s\n", VERBS[i].name, VERBS[i].summary);
    fputs("\n  quorlock VERB --help    its arguments and options\n"
          "  quorlock --version\n\n"
          "Servers are given with -S URL, or in QUORLOCK_SERVERS.\n",
          out);
    return fflush(out) ? EXIT_OS : EXIT_DONE;
}

static int help_verb(const struct verb *verb, FILE *out)
{
    fprintf(out, "quorlock %s %s\n%c%s.\n\n", verb->name, verb->arguments,
            verb->summary[0] - 'a' + 'A', verb->summary + 1);
    options_help(verb->bit, out);
    fputs("\nThe exit statuses are in quorlock(1).\n", out);
    return fflush(out) ? EXIT_OS : EXIT_DONE;
}

static int print_version(void)
{
    printf("quorlock %s (library %s)\n", QL_VERSION, ql_version());
    return fflush(stdout) ? EXIT_OS : EXIT_DONE;
}

static int count_wrong(const struct verb *verb, int argc)
{
    if (argc < verb->min)
        say("%s: too few arguments", verb->name);
    else if (verb->max && argc > (verb->max > 0 ? verb->max : 0))
        say("%s: too many arguments", verb->name);
    else
        return 0;
    say("usage: quorlock %s %s", verb->name, verb->arguments);
    return EXIT_BAD_USAGE;
}

static int run_verb(const struct verb *verb, int argc, char **argv)
{
    struct options options;
    int code;

    options_init(&options);
    code = options_parse(&options, verb->bit, verb->max == 0, &argc, argv);
    if (!code && options.help)
        code = help_verb(verb, stdout);
    else if (!code)
        code = count_wrong(verb, argc);
    if (!code && !options.help)
        code = verb->run(&options, argc, argv);
    options_free(&options);
    return code;
}

/* Where a standard descriptor is closed, a socket would get its number, and
 * what we print would go to a server. */
static int fill_standard_descriptors(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd < 0)
        return -1;
    return close(fd);
}

int main(int argc, char **argv)
{
    const struct verb *verb = argc > 1 ? find_verb(argv[1]) : NULL;

    if (fill_standard_descriptors())
        return EXIT_OS;
    if (verb)
        return run_verb(verb, argc - 1, argv + 1);
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return help_all(stdout);
    if (argc == 2 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")))
        return print_version();
    if (argc > 1)
        say("there is no verb '%s'", argv[1]);
    help_all(stderr);
    return EXIT_BAD_USAGE;
}
