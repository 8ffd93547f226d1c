-- SPDX-License-Identifier: BSD-2-Clause
-- Says what is at the lock KEYS[1] and in its lease record KEYS[2], in one
-- step, and changes nothing. Whether it is ours is for the caller to see.
--
-- Returns {1, TIME, value, remaining_ms, f, state}: somebody has it. state is
-- 'held' by the record, with number f; or 'plain': only the plain key is there.
-- {0, TIME, value, 0, f, state}: nobody has it. state is 'released', 'ended' if
-- the last holder, whose token value then is, did not release it, or '' if none
-- is remembered. remaining_ms is the plain key's, or without one the record's,
-- which counts for longer.

-- Once: inside a script it moves in Redis 6.2 and 7.0.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- '<token> <end of the lease in our TIME, in microseconds> <number> <held or
-- released> <until>', and holders who did not release. With more than 16 digits
-- a number would not be exact.
local record = redis.call('GET', KEYS[2])
local owner, ends, f, state = '', 0, 0, ''
if record then
    owner, ends, f, state = string.match(record, '^(%S+) (%d+) (%d+) (%l+) %d+')
    if not owner or #ends > 16 or #f > 16 or
       (state ~= 'held' and state ~= 'released') then
        return redis.error_reply('ERR quorlock: the lease record cannot be ' ..
                                 'read')
    end
    ends, f = tonumber(ends), tonumber(f)
end
if state == 'held' and now >= ends then
    state = 'ended'
end

-- A value of somebody else's may be huge, so only its start is fetched.
local value = redis.call('GETRANGE', KEYS[1], 0, 159)
local left = redis.call('PTTL', KEYS[1]) -- -1: it never expires
if left ~= -2 then
    if state == 'held' then
        return {1, now, value, left, f, 'held'}
    end
    return {1, now, value, left, 0, 'plain'}
end
if state == 'held' then
    return {1, now, owner, math.ceil((ends - now) / 1000), f, 'held'}
end
return {0, now, state == 'ended' and owner or '', 0, f, state}
