-- SPDX-License-Identifier: BSD-2-Clause
-- Lets the lock KEYS[1] last ARGV[2] milliseconds from now if it is held with
-- the token ARGV[1]. Never creates it: a lock that has gone may have been held
-- by somebody else in the meantime.
--
-- Returns 1: extended. 0: there is no such key. Otherwise it is somebody
-- else's: {the start of its value, its remaining milliseconds}.

-- The value is '<token>' or '<token> <label>', 152 bytes at most. A longer one
-- is not ours, and may be huge, so only its start is fetched.
local value = redis.call('GETRANGE', KEYS[1], 0, 159)
-- GETRANGE answers '' for a missing key and for an empty value alike.
if value == '' and redis.call('EXISTS', KEYS[1]) == 0 then
    return 0
end
local token = ARGV[1]
if value == token or string.sub(value, 1, #token + 1) == token .. ' ' then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    return 1
end
return {value, redis.call('PTTL', KEYS[1])}
