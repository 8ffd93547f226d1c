# SPDX-License-Identifier: BSD-2-Clause
"""The requests of the guarded level as Lua, written from doc/protocol.md alone.

They share no line with lua/*.lua: that both work on the same records is what
tests/interop/guarded.py is about.
"""

# What several of them begin with.
COMMON = """
local clock = redis.call('TIME')
local TIME = clock[1] * 1000000 + clock[2]
local function int(x) return string.format('%.0f', x) end
local function begins(value, token)
    return value and (value == token or
           value:sub(1, #token + 1) == token .. ' ')
end
local function read(key)
    local text = redis.call('GET', key)
    if not text then return nil end
    local token, ends, f, state, free, earlier =
        text:match('^(%S+) (%d+) (%d+) (%a+) (%d+)(.*)$')
    local r = {token = token, ends = tonumber(ends), f = tonumber(f),
               state = state, free = tonumber(free), earlier = earlier}
    r.live = state == 'held' and TIME < r.ends
    return r
end
local function write(key, token, ends, f, state, free, earlier, px)
    redis.call('SET', key, token .. ' ' .. int(ends) .. ' ' .. int(f) .. ' ' ..
               state .. ' ' .. int(free) .. earlier, 'PX', int(px))
end
-- Before that TIME nobody else may have it, once `token` takes it over.
local function displaces(r, token)
    if not r then return 0 end
    if r.state == 'held' and r.token ~= token then
        return math.max(r.free, r.ends)
    end
    return r.free
end
local function other(name, r)
    local value, left = redis.call('GETRANGE', name, 0, 159), 0
    if redis.call('EXISTS', name) == 1 then
        left = redis.call('PTTL', name)
    elseif r and r.live then
        value = r.token
    end
    if r and left ~= -1 then
        local ends = math.max(r.live and r.ends or 0, r.free)
        if TIME < r.free and value == '' then value = r.token end
        left = math.max(left, math.ceil((ends - TIME) / 1000))
    end
    return {0, TIME, value, left}
end
local function refusal(key, cfg, run, seen, strict, ttl)
    local function field(f) return redis.call('HGET', key, f) end
    if redis.call('EXISTS', key) == 0 then return {-1, TIME, 'missing'} end
    if cfg == '' or cfg ~= field('cfg') and cfg ~= field('prev') then
        return {-1, TIME, 'cfg'}
    end
    if field('state') ~= 'ready' or run == '' or run ~= field('run') then
        return {-1, TIME, 'not ready'}
    end
    if strict == '1' and not redis.call('INFO', 'server'):find(
            'run_id:' .. run, 1, true) then
        return {-1, TIME, 'not ready'}
    end
    if tonumber(field('hw')) < tonumber(seen) then
        return {-1, TIME, 'rolled back'}
    end
    if ttl and tonumber(ttl) > tonumber(field('max_ttl_ms')) then
        return {-1, TIME, 'ttl'}
    end
end
local function high(key)
    return tonumber(redis.call('HGET', key, 'hw'))
end
local function field(key, name)
    return tonumber(redis.call('HGET', key, name) or '0')
end
local function base_of(r, key)
    return math.max(r and r.f or high(key), field(key, 'floor'))
end
local function outdated(r, key)
    return r.f < field(key, 'floor')
end
local function raise(key, f)
    if f > high(key) then redis.call('HSET', key, 'hw', int(f)) end
end
local LAST = 2 ^ 53 - 1
"""

ACQUIRE = COMMON + """
local name, lease, node = KEYS[1], KEYS[2], KEYS[3]
local cfg, run, token, value, ttl, p, lo, hi, linger, keep, seen, strict =
    unpack(ARGV)
local no = refusal(node, cfg, run, seen, strict, ttl)
if no then return no end
ttl, p, linger, keep = tonumber(ttl), tonumber(p), tonumber(linger),
    tonumber(keep)
if TIME < tonumber(lo) or TIME > tonumber(hi) or
   p > TIME + 1000 * redis.call('HGET', node, 'slack_ms') then
    return {-2, TIME}
end
local r, key = read(lease), redis.call('GET', name)
if r and r.live and r.token ~= token then return other(name, r) end
if key and not begins(key, token) then return other(name, r) end
if r and r.live and not outdated(r, node) then
    return {1, TIME, r.f, 0, 0, '', ''}
end
if r and TIME < r.free then return other(name, r) end
local base = math.max(base_of(r, node), field(node, 'least'))
local f = p > base and p or base + 1
if f >= LAST then return {-1, TIME, 'exhausted'} end
local told = r and r.earlier or ''
local earlier = told
if r and r.state == 'held' then
    local kept = 0
    earlier = ''
    for word in (r.token .. told):gmatch('%S+') do
        kept = kept + 1
        if kept <= 3 then earlier = earlier .. ' ' .. word end
    end
end
redis.call('SET', name, value, 'PX', int(ttl))
write(lease, token, TIME + (ttl + linger) * 1000, f, 'held',
      displaces(r, token), earlier, ttl + linger + keep)
raise(node, f)
if not r then return {1, TIME, f, 0, 0, '', ''} end
return {1, TIME, f, r.state == 'released' and 1 or 2, r.f, r.token, told}
"""

CONFIRM = COMMON + """
local lease, node = KEYS[1], KEYS[2]
local cfg, run, token, m, seen, strict = unpack(ARGV)
local no = refusal(node, cfg, run, seen, strict, nil)
if no then return no end
local r = read(lease)
if not (r and r.live and r.token == token) or outdated(r, node) then
    return {0, TIME, '', 0}
end
local f = math.max(r.f, tonumber(m))
if f >= LAST then return {-1, TIME, 'exhausted'} end
write(lease, token, r.ends, f, 'held', r.free, r.earlier,
      redis.call('PTTL', lease))
raise(node, f)
return {1, TIME, f}
"""

EXTEND = COMMON + """
local name, lease, node = KEYS[1], KEYS[2], KEYS[3]
local cfg, run, token, value, ttl, t, lo, hi, linger, keep, seen, strict =
    unpack(ARGV)
local no = refusal(node, cfg, run, seen, strict, ttl)
if no then return no end
ttl, t, linger, keep = tonumber(ttl), tonumber(t), tonumber(linger),
    tonumber(keep)
if TIME < tonumber(lo) or TIME > tonumber(hi) then return {-2, TIME} end
local r, key = read(lease), redis.call('GET', name)
if key and not begins(key, token) or r and r.live and r.token ~= token then
    return other(name, r)
end
local code, f = 1, r and r.f
local ends, free = TIME + (ttl + linger) * 1000, r and r.free or 0
if r and r.live then ends = math.max(ends, r.ends) end
if not (r and r.live) or outdated(r, node) then
    if t == 0 or base_of(r, node) > t or r and TIME < r.free or
       r and r.token == token and r.state == 'released' then
        return {0, TIME, '', 0}
    end
    code, f, free = 2, t, displaces(r, token)
elseif f < t then
    code, f = 2, t
end
write(lease, token, ends, f, 'held', free, r and r.earlier or '',
      math.ceil((ends - TIME) / 1000) + keep)
redis.call('SET', name, key or value, 'PX', int(ttl))
raise(node, f)
return {code, TIME, f}
"""

RELEASE = COMMON + """
local name, lease = KEYS[1], KEYS[2]
local token, keep, had = unpack(ARGV)
local r, key = read(lease), redis.call('GET', name)
local was = false
if r and r.token == token and r.state == 'held' then
    write(lease, token, TIME, r.f, 'released', r.free,
          had == '1' and '' or r.earlier, tonumber(keep))
    was = true
end
if begins(key, token) then
    redis.call('DEL', name)
    was = true
end
if was then return {1, TIME} end
if key or r and r.live then return other(name, r) end
return {0, TIME, '', 0}
"""

# The verbs that begin a group.
FORM = COMMON + """
local node = KEYS[1]
if redis.call('EXISTS', node) == 1 then return 0 end
local cfg, max_ttl, slack, run, members, hw = unpack(ARGV)
redis.call('HSET', node, 'state', 'forming', 'cfg', cfg, 'prev', '',
    'run', run, 'hw', hw, 'max_ttl_ms', max_ttl, 'slack_ms', slack,
    'at', int(TIME), 'ref', '', 'q_run', '', 'sync', '', 'members', members,
    'floor', hw)
return 1
"""

ACTIVATE = COMMON + """
local node = KEYS[1]
local is = redis.call('HMGET', node, 'state', 'cfg', 'run')
if is[1] ~= 'forming' or is[2] ~= ARGV[1] or is[3] ~= ARGV[2] then
    return 0
end
redis.call('HSET', node, 'state', 'ready', 'at', int(TIME), 'sync', '')
return 1
"""

# TIME and the record, in one step.
LOOK = """
local clock = redis.call('TIME')
return {clock[1] * 1000000 + clock[2],
        redis.call('HMGET', KEYS[1], 'state', 'cfg', 'prev', 'slack_ms')}
"""
