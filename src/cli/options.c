/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the command line by the table of options. Not getopt_long(3), because
 * that accepts abbreviations, which break scripts when an option is added, and
 * cannot say in our own words what is wrong.
 */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/exit_code.h"
#include "cli/option_table.h"
#include "cli/say.h"

/* Where the reader is. */
struct reader {
    struct options *options;
    enum verb_bit verb;
    int argc;
    int next; /* of argv */
    char **argv;
    uint64_t given; /* a bit for each row that the command line has set */
};

void options_init(struct options *options)
{
    *options = (struct options){
        .wait_ms = OPTION_UNSET,
        .ttl_ms = 10000,
        .retry_delay_ms = 200,
        .node_timeout_ms = 50,
        .kill_after_ms = OPTION_UNSET,
        .conflict_code = EXIT_HELD,
        .nodes = 5,
        .level = LEVEL_GUARDED,
        .max_ttl_ms = OPTION_UNSET,
        .clock_slack_ms = OPTION_UNSET,
    };
}

void options_free(struct options *options)
{
    free(options->servers);
    free(options->user);
    free(options->password_file);
    free(options->shell_command);
    free(options->label);
}

static const struct option_row *find_name(enum verb_bit verb, const char *name,
                                          size_t length)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &OPTION_TABLE[i];

        if ((row->verbs & verb) && strlen(row->name) == length &&
            !memcmp(row->name, name, length))
            return row;
    }
    return NULL;
}

static const struct option_row *find_letter(enum verb_bit verb, char letter)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if ((OPTION_TABLE[i].verbs & verb) && OPTION_TABLE[i].letter == letter)
            return &OPTION_TABLE[i];
    return NULL;
}

/* Overwrites what stands before the last '@': user and password. */
void options_hide_password(char *url)
{
    char *end = strrchr(url, '@');
    char *start = strstr(url, "://");

    start = start ? start + 3 : url;
    while (end && start < end)
        *start++ = '*';
}

/* Stores a value from the command line. The value is not shown when wrong if
 * it may hold a password. */
static int take(struct reader *reader, const struct option_row *row, char *text)
{
    size_t index = (size_t)(row - OPTION_TABLE);
    const char *wrong = option_store(row, reader->options, text);

    reader->given |= UINT64_C(1) << index;
    if (row->kind == OPTION_SERVERS)
        options_hide_password(text);
    if (!wrong)
        return 0;
    say("--%s %s: '%s' %s", row->name, row->argument, text, wrong);
    return EXIT_BAD_USAGE;
}

/* `text` is the value in the same argument, or NULL: then it is the next. */
static int take_value(struct reader *reader, const struct option_row *row,
                      char *text)
{
    if (!text) {
        if (reader->next >= reader->argc) {
            say("--%s needs a value: %s", row->name, row->argument);
            return EXIT_BAD_USAGE;
        }
        text = reader->argv[reader->next++];
    }
    return take(reader, row, text);
}

static int read_long(struct reader *reader, char *name)
{
    char *value = strchr(name, '=');
    size_t length = value ? (size_t)(value - name) : strlen(name);
    const struct option_row *row = find_name(reader->verb, name, length);

    if (!row) {
        say("unknown option --%.*s: see --help", (int)length, name);
        return EXIT_BAD_USAGE;
    }
    if (row->argument)
        return take_value(reader, row, value ? value + 1 : NULL);
    if (value) {
        say("--%s takes no value", row->name);
        return EXIT_BAD_USAGE;
    }
    return take(reader, row, name);
}

/* "-qn", "-w5", "-w 5". */
static int read_letters(struct reader *reader, char *letters)
{
    for (; *letters; letters++) {
        const struct option_row *row = find_letter(reader->verb, *letters);
        int code;

        if (!row) {
            say("unknown option -%c: see --help", *letters);
            return EXIT_BAD_USAGE;
        }
        if (row->argument)
            return take_value(reader, row, letters[1] ? letters + 1 : NULL);
        code = take(reader, row, letters);
        if (code)
            return code;
    }
    return 0;
}

static int read_environment(struct reader *reader)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &OPTION_TABLE[i];
        const char *text = row->variable ? getenv(row->variable) : NULL;
        const char *wrong;

        if (!text || !*text || !(row->verbs & reader->verb) ||
            (reader->given >> i & 1))
            continue;
        wrong = option_store(row, reader->options, text);
        if (wrong) {
            say("the variable %s %s", row->variable, wrong);
            return EXIT_BAD_CONFIG;
        }
    }
    return 0;
}

/* Reads argument by argument; `*kept` of them, which are no options, move to
 * the front. */
static int read_arguments(struct reader *reader, bool stop, int *kept)
{
    while (reader->next < reader->argc) {
        char *argument = reader->argv[reader->next];
        int code;

        if (argument[0] != '-' || !argument[1]) {
            if (stop)
                return 0;
            reader->argv[(*kept)++] = argument;
            reader->next++;
            continue;
        }
        reader->next++;
        if (!strcmp(argument, "--"))
            return 0;
        code = argument[1] == '-' ? read_long(reader, argument + 2)
                                  : read_letters(reader, argument + 1);
        if (code)
            return code;
    }
    return 0;
}

int options_parse(struct options *options, enum verb_bit verb, bool stop,
                  int *argc, char **argv)
{
    struct reader reader = {options, verb, *argc, 1, argv, 0};
    int kept = 0;
    int code = read_arguments(&reader, stop, &kept);

    if (code)
        return code;
    while (reader.next < reader.argc)
        argv[kept++] = argv[reader.next++];
    argv[kept] = NULL;
    *argc = kept;
    return options->help ? 0 : read_environment(&reader);
}

void options_help(enum verb_bit verb, FILE *out)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &OPTION_TABLE[i];
        char left[64];

        if (!row->help || !(row->verbs & verb))
            continue;
        snprintf(left, sizeof(left), "%c%c%c --%s%s%s", row->letter ? '-' : ' ',
                 row->letter ? row->letter : ' ', row->letter ? ',' : ' ',
                 row->name, row->argument ? " " : "",
                 row->argument ? row->argument : "");
        fprintf(out, "  %-32s %s\n", left, row->help);
    }
}
