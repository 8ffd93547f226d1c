-- SPDX-License-Identifier: BSD-2-Clause
-- Raises the number of a lock that the holder ARGV[3] has to ARGV[4], so that a
-- majority of nodes comes to have the same one. KEYS[1] is the lease record,
-- KEYS[2] the node's own. A larger number stays: another node's was smaller.
--
-- ARGV: cfg run token m seen strict. seen is the largest number that the
-- caller has had from this node.
--
-- Returns {1, TIME, f}: it is the caller's, and its number is f. {0, TIME, '',
-- 0}: it is not. {-1, TIME, reason}: the node may not vote. Whose it is and
-- which number it has are one step: without the first two holders could be
-- given the same number, and so they could if the caller counted an f that is
-- not m.

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
local m, seen = number(ARGV[4]), number(ARGV[5])
if not (m and seen) then
    return fault('an argument is not a number')
end
local no, hw, _, floor = refusal(KEYS[2], now, ARGV[1], ARGV[2], seen, ARGV[6],
                                 0)
if no then
    return no
end
if m >= LAST then
    return {-1, now, 'exhausted'}
end

local record = redis.call('GET', KEYS[1])
if not record then
    return {0, now, '', 0}
end
local owner, ends, f, state, bar, earlier = read_lease(record)
if not owner then
    return fault('the lease record cannot be read')
end
if owner ~= ARGV[3] or state ~= 'held' or now >= ends then
    return {0, now, '', 0}
end
if f < floor then
    return {0, now, '', 0}
end
if m > f then
    f = m
    redis.call('SET', KEYS[1], lease(owner, ends, f, bar, earlier), 'KEEPTTL')
end
-- Records expire; the largest number of them all must not be forgotten.
if f > hw then
    redis.call('HSET', KEYS[2], 'hw', string.format('%.0f', f))
end
return {1, now, f}
