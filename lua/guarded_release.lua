-- SPDX-License-Identifier: BSD-2-Clause
-- Releases the lock KEYS[1] if the holder ARGV[1] has it. Its lease record
-- KEYS[2] then says so for another ARGV[2] milliseconds: the next holder need
-- not wonder, and its number will be larger. ARGV[3] is 1 if he had the lock,
-- and was told of holders who ended without a release: then they are forgotten.
-- 0: it was an attempt that came to nothing. The node's own record is not
-- asked: releasing is always right.
--
-- Returns {1, TIME}: released. {0, TIME, '', 0}: nobody has it. Otherwise it is
-- somebody else's, and stays: {0, TIME, the start of the plain key's value or
-- else the token in the record, remaining_ms}.

-- Once: inside a script it moves in Redis 6.2 and 7.0.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local token = ARGV[1]

-- '<token> <end of the lease in our TIME, in microseconds> <number> <held or
-- released> <until>', and holders who did not release. A record that cannot be
-- read is left alone: it grants nothing.
local record = redis.call('GET', KEYS[2])
local owner, ends, f, state, bar, earlier
if record then
    owner, ends, f, state, bar, earlier =
        string.match(record, '^(%S+) (%d+) (%d+) (%l+) (%d+)(.*)$')
end
local live = state == 'held' and #ends <= 16 and now < tonumber(ends)

-- The value is '<token>' or '<token> <label>', 152 bytes at most. A longer one
-- is not ours, and may be huge, so only its start is fetched.
local value = redis.call('GETRANGE', KEYS[1], 0, 159)
-- GETRANGE answers '' for a missing key and for an empty value alike.
local plain = value ~= '' or redis.call('EXISTS', KEYS[1]) == 1
local plain_ours = value == token or
                   string.sub(value, 1, #token + 1) == token .. ' '
-- Also when the lease has ended: late, but released.
local record_ours = state == 'held' and owner == token

if plain_ours then
    redis.call('DEL', KEYS[1])
end
if record_ours then
    local keep = string.find(ARGV[2], '^0*$') and '1' or ARGV[2]
    -- A server that is full stores nothing for a script that has not written
    -- yet, but it lets one set an expiry.
    redis.call('PEXPIRE', KEYS[2], keep)
    redis.call('SET', KEYS[2],
               string.format('%s %.0f %s released %s%s', token, now, f, bar,
                             ARGV[3] == '1' and '' or earlier),
               'PX', keep)
end
if record_ours or plain_ours then
    return {1, now}
end
if not plain and not live then
    return {0, now, '', 0}
end
local left = 0
if plain then
    left = redis.call('PTTL', KEYS[1]) -- -1: it never expires
else
    value = owner
end
if live and left >= 0 then
    left = math.max(left, math.ceil((tonumber(ends) - now) / 1000))
end
return {0, now, value, left}
