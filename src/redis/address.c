/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses from text that people type. A sentence about a faulty one shows
 * its scheme or its host, and never a port, a database or a part before an
 * '@': where a password was typed without percent-encoding, any of these may
 * be a piece of it.
 */
#include "redis/address.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

struct span {
    const char *at;
    size_t len;
};

struct parser {
    const ql_allocator *mem;
    struct ql_address address;
    struct span shown; /* what may be said of a faulty one */
    const char *fault; /* NULL: out of memory */
};

static bool fail(struct parser *parser, const char *fault)
{
    parser->fault = fault;
    return false;
}

static bool take_prefix(struct span *text, const char *prefix)
{
    size_t len = strlen(prefix);

    if (text->len < len || strncasecmp(text->at, prefix, len) != 0)
        return false;
    text->at += len;
    text->len -= len;
    return true;
}

/* Cuts `text` at the first of `stops`, which stays with the rest. */
static struct span cut(struct span *text, const char *stops)
{
    struct span head = {text->at, 0};

    while (head.len < text->len && !strchr(stops, text->at[head.len]))
        head.len++;
    text->at += head.len;
    text->len -= head.len;
    return head;
}

static bool copy(struct parser *parser, char **ret, struct span text)
{
    *ret = ql_mem_copy(parser->mem, text.at, text.len);
    return *ret || fail(parser, NULL);
}

static bool read_number(struct span text, unsigned max, unsigned *ret)
{
    unsigned long number = 0;

    if (text.len == 0 || text.len > 10)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        number = number * 10 + (unsigned long)(text.at[i] - '0');
        if (number > max)
            return false;
    }
    *ret = (unsigned)number;
    return true;
}

static bool read_db(struct parser *parser, struct span text)
{
    return read_number(text, 0x7fffffff, &parser->address.db) ||
           fail(parser, "the database must be a number from 0");
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* %41 is an A. A NUL could not be part of a string. */
static bool decode(struct parser *parser, char **ret, struct span text)
{
    char *out;
    size_t len = 0;

    if (!copy(parser, ret, text))
        return false;
    out = *ret;
    for (size_t i = 0; i < text.len; i++) {
        int high, low;

        if (text.at[i] != '%') {
            out[len++] = text.at[i];
            continue;
        }
        high = i + 2 < text.len ? hex_digit(text.at[i + 1]) : -1;
        low = i + 2 < text.len ? hex_digit(text.at[i + 2]) : -1;
        if (high < 0 || low < 0 || (high == 0 && low == 0))
            return fail(parser, "in user and password a '%' must be written "
                                "%25, and other bytes % and two digits");
        out[len++] = (char)(high << 4 | low);
        i += 2;
    }
    out[len] = '\0';
    return true;
}

/* The "[user]:password" before an '@'. */
static bool read_login(struct parser *parser, struct span login)
{
    struct span user = cut(&login, ":");

    if (login.len == 0)
        return fail(parser, "the part before '@' must be user:password, or "
                            ":password");
    login.at++;
    login.len--;
    if (user.len > 0 && !decode(parser, &parser->address.user, user))
        return false;
    return decode(parser, &parser->address.password, login);
}

static bool read_host(struct parser *parser, struct span host)
{
    parser->shown = host;
    if (host.len == 0)
        return fail(parser, "there is no host name");
    if (host.len > 255)
        return fail(parser, "the host name is too long");
    for (size_t i = 0; i < host.len; i++)
        if (strchr("/@?#[]\"\\", host.at[i]))
            return fail(parser, "the host name has a character that no host "
                                "name has");
    return copy(parser, &parser->address.host, host);
}

/* "host", "host:port", "[v6]", "[v6]:port". */
static bool read_host_port(struct parser *parser, struct span text)
{
    struct span host;

    if (take_prefix(&text, "[")) {
        host = cut(&text, "]");
        parser->shown = host;
        if (!take_prefix(&text, "]") || (text.len > 0 && text.at[0] != ':'))
            return fail(parser, "the brackets must hold the whole IPv6 "
                                "address, as in [::1]:6379");
    } else {
        host = cut(&text, ":");
        if (text.len > 0 && memchr(text.at + 1, ':', text.len - 1)) {
            parser->shown = host;
            return fail(parser, "an IPv6 address needs brackets, as in "
                                "[::1]:6379");
        }
    }
    if (!read_host(parser, host))
        return false;
    if (!take_prefix(&text, ":"))
        return true;
    if (!read_number(text, 65535, &parser->address.port) ||
        parser->address.port == 0)
        return fail(parser, "the port must be a number from 1 to 65535");
    return true;
}

/* Behind "redis://". Sets `shown_text` to what may be displayed of it. */
static bool read_url(struct parser *parser, struct span text,
                     struct span *ret_display)
{
    struct span authority = cut(&text, "/?#");
    const char *at = memrchr(authority.at, '@', authority.len);

    if (at) {
        struct span login = {authority.at, (size_t)(at - authority.at)};

        authority.len -= login.len + 1;
        authority.at = at + 1;
        if (!read_login(parser, login))
            return false;
    }
    ret_display->at = authority.at;
    ret_display->len = authority.len + text.len;
    if (!read_host_port(parser, authority))
        return false;
    if (take_prefix(&text, "/") && text.len > 0)
        return read_db(parser, text);
    return text.len == 0 ||
           fail(parser, "behind the host there may be a port and, after a "
                        "slash, the number of a database");
}

static bool read_path(struct parser *parser, struct span path)
{
    parser->shown = path;
    if (path.len < 2 || path.at[0] != '/')
        return fail(parser, "a unix socket needs an absolute path, as in "
                            "unix:///run/redis.sock");
    if (path.len >= sizeof((struct sockaddr_un *)NULL)->sun_path)
        return fail(parser, "the path is too long for a unix socket");
    return copy(parser, &parser->address.path, path);
}

/* Behind "unix://". */
static bool read_unix(struct parser *parser, struct span text)
{
    struct span path = cut(&text, "?");

    /* Some write a login here; it must not be shown. */
    if (path.len > 0 && path.at[0] != '/')
        path.len = 0;
    if (!read_path(parser, path))
        return false;
    if (text.len == 0)
        return true;
    if (!take_prefix(&text, "?db="))
        return fail(parser, "behind the path there may be ?db=N only");
    return read_db(parser, text);
}

static bool has_control(struct span text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.at[i] <= ' ' || text.at[i] == 0x7f)
            return true;
    return false;
}

/* "redis://" and the rest without its login, or the text as it stands. */
static bool set_display(struct parser *parser, const char *scheme,
                        struct span rest)
{
    size_t len = strlen(scheme);
    char *display = ql_mem_alloc(parser->mem, len + rest.len + 1);

    if (!display)
        return fail(parser, NULL);
    memcpy(display, scheme, len);
    memcpy(display + len, rest.at, rest.len);
    display[len + rest.len] = '\0';
    parser->address.display = display;
    return true;
}

static bool read_any(struct parser *parser, struct span text)
{
    struct span whole = text, scheme;
    const char *colon;

    if (text.len == 0)
        return fail(parser, "it is empty");
    if (has_control(text))
        return fail(parser, "it has spaces or control characters in it");
    if (text.at[0] == '/')
        return read_path(parser, text) && set_display(parser, "", whole);
    if (take_prefix(&text, "unix://"))
        return read_unix(parser, text) && set_display(parser, "", whole);
    if (take_prefix(&text, "redis://"))
        return read_url(parser, text, &whole) &&
               set_display(parser, "redis://", whole);
    colon = memmem(text.at, text.len, "://", 3);
    if (colon) {
        scheme.at = text.at;
        scheme.len = (size_t)(colon - text.at);
        parser->shown = scheme;
        return fail(parser, take_prefix(&text, "rediss://")
                                ? "TLS is not supported yet"
                                : "unknown scheme: use redis:// or unix://");
    }
    if (memchr(text.at, '@', text.len))
        return fail(parser, "a user or a password needs the form "
                            "redis://user:password@host:port");
    return read_host_port(parser, text) && set_display(parser, "", whole);
}

/* What may be shown is shown in part if it is long, and printable. */
static void explain(const struct parser *parser, char *error, size_t size)
{
    char shown[64];
    size_t len = parser->shown.len;

    if (!error || size == 0)
        return;
    if (len >= sizeof shown)
        len = sizeof shown - 1;
    if (len > 0)
        memcpy(shown, parser->shown.at, len);
    shown[len] = '\0';
    if (len > 0)
        snprintf(error, size, "server address \"%s\": %s", shown,
                 parser->fault);
    else
        snprintf(error, size, "server address: %s", parser->fault);
}

int ql_address_parse(struct ql_address *ret_address, const ql_allocator *mem,
                     const char *text, size_t len, char *error, size_t size)
{
    struct parser parser = {.mem = mem, .address = {.port = QL_DEFAULT_PORT}};
    struct span whole = {text, len};

    if (read_any(&parser, whole)) {
        *ret_address = parser.address;
        return QL_OK;
    }
    ql_address_free(&parser.address, mem);
    if (!parser.fault)
        return QL_E_NOMEM;
    explain(&parser, error, size);
    return QL_E_INVALID;
}

/* Passwords do not stay behind in freed memory. */
static void free_secret(const ql_allocator *mem, char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    ql_mem_free(mem, secret);
}

void ql_address_free(struct ql_address *address, const ql_allocator *mem)
{
    ql_mem_free(mem, address->display);
    ql_mem_free(mem, address->host);
    ql_mem_free(mem, address->path);
    free_secret(mem, address->user);
    free_secret(mem, address->password);
    memset(address, 0, sizeof *address);
}

static bool separates(char c)
{
    return c == ',' || c == ' ' || (c >= '\t' && c <= '\r');
}

const char *ql_address_next(const char **cursor, size_t *ret_len)
{
    const char *start = *cursor;
    const char *end;

    while (separates(*start))
        start++;
    end = start;
    while (*end && !separates(*end))
        end++;
    *cursor = end;
    *ret_len = (size_t)(end - start);
    return end > start ? start : NULL;
}
