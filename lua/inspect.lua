-- SPDX-License-Identifier: BSD-2-Clause
-- Says what is at the lock KEYS[1], and changes nothing. Whether it is ours is
-- for the caller to see.
--
-- Returns 0: there is no such key. Otherwise {the start of its value, its
-- remaining milliseconds}: both in one step, so that they belong together.

-- A value of somebody else's may be huge, so only its start is fetched.
local value = redis.call('GETRANGE', KEYS[1], 0, 159)
-- GETRANGE answers '' for a missing key and for an empty value alike.
if value == '' and redis.call('EXISTS', KEYS[1]) == 0 then
    return 0
end
return {value, redis.call('PTTL', KEYS[1])}
