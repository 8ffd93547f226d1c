/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the scripts of lua/ as they are, in one Lua 5.1 for all the servers of
 * the world: what they call goes to the server for which one runs. Values pass
 * between Lua and Redis by the rules of its documentation.
 */
#include <stdio.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "redis/script.h"
#include "redis_model.h"

#define ARGS_MAX 40

static lua_State *lua;
static int chunk[QL_SCRIPTS]; /* compiled, in Lua's registry */
static struct redis *running;

/* What a command answered inside a script: the first value of `at`. Returns
 * what comes after it. */
static const char *push_reply(lua_State *L, const char *at)
{
    const char *line = strchr(at, '\r') + 2;
    long long number = strtoll(at + 1, NULL, 10);

    switch (at[0]) {
    case ':':
        lua_pushnumber(L, (lua_Number)number);
        return line;
    case '$':
        if (number < 0) {
            lua_pushboolean(L, 0);
            return line;
        }
        lua_pushlstring(L, line, (size_t)number);
        return line + number + 2;
    case '*':
        lua_createtable(L, (int)number, 0);
        for (int i = 1; i <= number; i++) {
            line = push_reply(L, line);
            lua_rawseti(L, -2, i);
        }
        return line;
    case '+':
        lua_createtable(L, 0, 1);
        lua_pushlstring(L, at + 1, (size_t)(line - at) - 3);
        lua_setfield(L, -2, "ok");
        return line;
    default: /* redis.call() passes errors on */
        lua_pushlstring(L, at + 1, (size_t)(line - at) - 3);
        lua_error(L);
        return line;
    }
}

/* A number is printed as "%.17g", which takes longer than all the rest. */
#define DIGITS_MAX 32

static void read_word(lua_State *L, int index, struct word *word, char *digits)
{
    lua_Number number;

    if (lua_type(L, index) == LUA_TNUMBER) {
        number = lua_tonumber(L, index);
        if (number >= 0 && number < 1000 && number == (int)number) {
            word->bytes = digits;
            word->len = 0;
            if (number >= 100)
                digits[word->len++] = (char)('0' + (int)number / 100);
            if (number >= 10)
                digits[word->len++] = (char)('0' + (int)number / 10 % 10);
            digits[word->len++] = (char)('0' + (int)number % 10);
            return;
        }
        word->bytes = digits;
        word->len = (size_t)snprintf(digits, DIGITS_MAX, "%.17g", number);
        return;
    }
    word->bytes = luaL_checklstring(L, index, &word->len);
}

static int call(lua_State *L)
{
    static struct bytes reply;
    struct word argv[ARGS_MAX];
    char digits[ARGS_MAX][DIGITS_MAX];
    int argc = lua_gettop(L);

    bytes_take(&reply, bytes_count(&reply));
    if (argc < 1 || argc > ARGS_MAX)
        return luaL_error(L, "ERR wrong number of arguments");
    for (int i = 0; i < argc; i++)
        read_word(L, i + 1, &argv[i], digits[i]);
    if (!redis_run_key_command(running, (unsigned)argc, argv, &reply) &&
        !redis_run_server_command(running, (unsigned)argc, argv, &reply))
        return luaL_error(L, "ERR Unknown Redis command called from script");
    bytes_put(&reply, "", 1);
    push_reply(L, bytes_first(&reply));
    return 1;
}

/* A table that is sent as an error. */
static int error_reply(lua_State *L)
{
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, 1);
    lua_setfield(L, -2, "err");
    return 1;
}

static void compile(void)
{
    lua = luaL_newstate();
    assert(lua);
    luaL_openlibs(lua);
    lua_createtable(lua, 0, 1);
    lua_pushcfunction(lua, call);
    lua_setfield(lua, -2, "call");
    lua_pushcfunction(lua, error_reply);
    lua_setfield(lua, -2, "error_reply");
    lua_setglobal(lua, "redis");
    for (unsigned i = 0; i < QL_SCRIPTS; i++) {
        const struct ql_script *script = ql_script_at(i);

        if (luaL_loadbuffer(lua, script->source, strlen(script->source),
                            script->name) != 0) {
            fprintf(stderr, "sim: %s\n", lua_tostring(lua, -1));
            abort();
        }
        chunk[i] = luaL_ref(lua, LUA_REGISTRYINDEX);
    }
}

static void set_words(const char *name, unsigned count, const struct word *word)
{
    lua_createtable(lua, (int)count, 0);
    for (unsigned i = 0; i < count; i++) {
        lua_pushlstring(lua, word[i].bytes, word[i].len);
        lua_rawseti(lua, -2, (int)i + 1);
    }
    lua_setglobal(lua, name);
}

/* A table with the field "err" or "ok" is no array. */
static bool put_line(struct bytes *reply, const char *field,
                     void (*put)(struct bytes *reply, const char *text))
{
    bool is_one;

    lua_getfield(lua, -1, field);
    is_one = lua_type(lua, -1) == LUA_TSTRING;
    if (is_one)
        put(reply, lua_tostring(lua, -1));
    lua_pop(lua, 1);
    return is_one;
}

/* The value on top of Lua's stack, as a reply; and takes it off. */
static void put_value(struct bytes *reply)
{
    size_t count = 0, len;
    const char *text;

    switch (lua_type(lua, -1)) {
    case LUA_TNUMBER:
        reply_number(reply, (long long)lua_tonumber(lua, -1));
        break;
    case LUA_TSTRING:
        text = lua_tolstring(lua, -1, &len);
        reply_string(reply, text, len);
        break;
    case LUA_TBOOLEAN:
        if (lua_toboolean(lua, -1))
            reply_number(reply, 1);
        else
            reply_nil(reply);
        break;
    case LUA_TTABLE:
        if (put_line(reply, "err", reply_error) ||
            put_line(reply, "ok", reply_status))
            break;
        for (;; count++, lua_pop(lua, 1)) {
            lua_rawgeti(lua, -1, (int)count + 1);
            if (lua_isnil(lua, -1))
                break;
        }
        lua_pop(lua, 1);
        reply_array(reply, count);
        for (size_t i = 1; i <= count; i++) {
            lua_rawgeti(lua, -1, (int)i);
            put_value(reply);
        }
        break;
    default:
        reply_nil(reply);
    }
    lua_pop(lua, 1);
}

void redis_run_script(struct redis *redis, unsigned index, unsigned keys,
                      unsigned argc, const struct word *argv,
                      struct bytes *reply)
{
    if (!lua)
        compile();
    running = redis;
    set_words("KEYS", keys, argv);
    set_words("ARGV", argc - keys, argv + keys);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, chunk[index]);
    if (lua_pcall(lua, 0, 1, 0) == 0) {
        put_value(reply);
        return;
    }
    reply_error(reply, lua_tostring(lua, -1));
    lua_pop(lua, 1);
}

void redis_close_lua(void)
{
    if (lua)
        lua_close(lua);
    lua = NULL;
}
