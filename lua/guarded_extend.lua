-- SPDX-License-Identifier: BSD-2-Clause
-- Lets a lock last ARGV[5] milliseconds from now if the holder ARGV[3] has it,
-- or gives back to him what this node has lost. KEYS[1] is the lock, KEYS[2]
-- its lease record, KEYS[3] the node's own record.
--
-- ARGV: cfg run token value ttl_ms t lo hi linger_ms keep_ms seen strict.
-- t is the lock's number, 0 if the caller does not know it; lo and hi bound our
-- TIME; seen is the largest number that the caller has had from this node.
--
-- Returns
--   {1, TIME, f}: extended; its number here is f. It counts if f is t
--   {2, TIME, f}: repaired, and now has the number t. It does not count: the
--       caller did not have this node all the time
--   {0, TIME, value, remaining_ms}: somebody else's, as in acquire
--   {0, TIME, '', 0}: gone, and not to be repaired
--   {-1, TIME, reason}: the node may not vote
--   {-2, TIME}: its clock is too far from the other nodes'
-- and has changed nothing but in the first two cases.

-- --- Shared by acquire, confirm and extend: a test compares them ------------

-- Decimal digits only: tonumber() would also take 'inf', '0x10' and ' 1 '. With
-- more than 16 of them a number is beyond 2^53, where doubles are not exact.
local function number(text)
    return text and #text <= 16 and string.find(text, '^%d+$') and
           tonumber(text)
end

-- 2^53 - 1: no lock ever gets this number, because adding 1 must be exact.
local LAST = 9007199254740991

local function fault(what)
    return redis.error_reply('ERR quorlock: ' .. what)
end

-- A lease record is '<token> <end of the lease in our TIME, in microseconds>
-- <number> <held or released> <until>', and behind that, each after a space,
-- the tokens of earlier holders whose leases ended without a release, while
-- nobody who was told of them has released. until is the largest end of a lease
-- that another took over without a release: if our clock was ahead then, that
-- holder may still be there when it is right again, whoever has released since.
-- Returns nothing if the text is not one.
local function read_lease(text)
    local owner, ends, f, state, bar, earlier =
        string.match(text, '^(%S+) (%d+) (%d+) (%l+) (%d+)(.*)$')
    ends, f, bar = number(ends), number(f), number(bar)
    if ends and f and f > 0 and bar and
       (state == 'held' or state == 'released') and
       (earlier == '' or string.find(earlier, '^ %S')) then
        return owner, ends, f, state, bar, earlier
    end
end

local function lease(token, ends, f, bar, earlier)
    return string.format('%s %.0f %.0f held %.0f%s', token, ends, f, bar,
                         earlier)
end

-- The largest number that the lock may have had. Without a record: not larger
-- than hw. floor is what hw was made when the node became ready; a record with
-- a smaller number came back with old data, and is as good as missing.
local function largest(f, hw, floor)
    return math.max(f or hw, floor)
end

-- Whether this node may vote. It was declared ready for one life of the server
-- process, its run_id: restarted, flushed, or promoted from a replica it may
-- have forgotten who holds what. Returns the reply that says why not, or nil,
-- the node's largest number, how far its clock may be off in us, its floor, and
-- the number that all new ones are above.
local function refusal(key, now, cfg, run, seen, strict, ttl)
    local node = redis.call('HMGET', key, 'state', 'cfg', 'prev', 'run', 'hw',
                            'max_ttl_ms', 'slack_ms', 'floor', 'least')
    local hw, max_ttl, slack = number(node[5]), number(node[6]), number(node[7])
    local floor, least = number(node[8] or '0'), number(node[9] or '0')
    if not node[1] then
        return {-1, now, 'missing'}
    end
    if not (hw and max_ttl and slack and floor and least) then
        return fault('the node record cannot be read')
    end
    if cfg == '' or (cfg ~= node[2] and cfg ~= node[3]) then
        return {-1, now, 'cfg'}
    end
    if node[1] ~= 'ready' or run == '' or run ~= node[4] then
        return {-1, now, 'not ready'}
    end
    -- Behind a proxy there may be another process than the one that was asked
    -- for its run_id after connecting.
    if strict == '1' and run ~=
       string.match(redis.call('INFO', 'server'), '\nrun_id:(%x+)') then
        return {-1, now, 'not ready'}
    end
    -- It has answered larger numbers in this life: a snapshot was restored.
    if hw < seen then
        return {-1, now, 'rolled back'}
    end
    if ttl > max_ttl then
        return {-1, now, 'ttl'}
    end
    return nil, hw, slack * 1000, floor, least
end

-- --- End of what is shared ------------------------------------------------

-- Once: inside a script it moves in Redis 6.2 and 7.0.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local token, ttl, t = ARGV[3], number(ARGV[5]), number(ARGV[6])
local lo, hi, seen = number(ARGV[7]), number(ARGV[8]), number(ARGV[11])
local linger, keep = number(ARGV[9]), number(ARGV[10])
if not (ttl and ttl > 0 and t and lo and hi and linger and keep and seen) then
    return fault('an argument is not a number')
end
local no, hw, _, floor = refusal(KEYS[3], now, ARGV[1], ARGV[2], seen, ARGV[12],
                                 ttl)
if no then
    return no
end
if now < lo or now > hi then
    return {-2, now}
end
if t >= LAST then
    return {-1, now, 'exhausted'}
end

local record = redis.call('GET', KEYS[2])
local owner, ends, f, state, bar, earlier
if record then
    owner, ends, f, state, bar, earlier = read_lease(record)
    if not owner then
        return fault('the lease record cannot be read')
    end
end
bar = bar or 0
local live = state == 'held' and now < ends

-- The value is '<token>' or '<token> <label>', 152 bytes at most. A longer one
-- is not ours, and may be huge, so only its start is fetched.
local value = redis.call('GETRANGE', KEYS[1], 0, 159)
-- GETRANGE answers '' for a missing key and for an empty value alike.
local plain = value ~= '' or redis.call('EXISTS', KEYS[1]) == 1
local ours = value == token or
             string.sub(value, 1, #token + 1) == token .. ' '

if (plain and not ours) or (live and owner ~= token) then
    local left = 0
    if plain then
        left = redis.call('PTTL', KEYS[1]) -- -1: it never expires
    else
        value = owner
    end
    if live and left >= 0 then
        left = math.max(left, math.ceil((ends - now) / 1000))
    end
    return {0, now, value, left}
end

local code = 1
local base = largest(f, hw, floor)
if not live or base > f then
    -- Nobody has it. It may be given back only if nobody with a larger number
    -- can have had it since, and not if its holder has released it; nor while
    -- one who was displaced may still be there.
    if t == 0 or base > t or owner == token and state == 'released' then
        return {0, now, '', 0}
    end
    if now < bar then
        return {0, now, '', 0}
    end
    if state == 'held' and owner ~= token then
        bar = math.max(bar, ends)
    end
    code, f = 2, t
elseif f < t then
    -- It was acquired with a smaller number, and never confirmed.
    code, f = 2, t
end
-- A lease of his never ends earlier than it was said to: our clock may have
-- been ahead then, and what it counted for may be counted still.
local lasts = now + (ttl + linger) * 1000
if live then
    lasts = math.max(lasts, ends)
end
redis.call('SET', KEYS[2], lease(token, lasts, f, bar, earlier or ''),
           'PX', string.format('%.0f', math.ceil((lasts - now) / 1000) + keep))
if plain then
    redis.call('PEXPIRE', KEYS[1], ARGV[5])
else
    redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[5])
end
-- Records expire; the largest number of them all must not be forgotten.
if f > hw then
    redis.call('HSET', KEYS[3], 'hw', string.format('%.0f', f))
end
return {code, now, f}
