-- SPDX-License-Identifier: BSD-2-Clause
-- Looks at, and changes, the node's own record KEYS[1]: a hash without expiry,
-- one in each database that holds locks. ARGV: a verb and its arguments, below.
--
-- Every verb answers with the record as it then is: {TIME, 'absent'}, or {TIME,
-- 'present', cfg, prev, run, state, hw, max_ttl_ms, slack_ms, at, ref, q_run,
-- sync, members, plan}, all strings, '' for what is missing. A verb whose
-- conditions are not met changes nothing and answers likewise, so each may be
-- repeated, and two clients that do the same thing at once do it once.

local FIELDS = {'cfg', 'prev', 'run', 'state', 'hw', 'max_ttl_ms', 'slack_ms',
                'at', 'ref', 'q_run', 'sync', 'members', 'plan'}
-- Once: inside a script it moves in Redis 6.2 and 7.0.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- Decimal digits only: tonumber() would also take 'inf', '0x10' and ' 1 '. With
-- more than 16 of them a number is beyond 2^53, where doubles are not exact.
local function number(text)
    return text and #text <= 16 and string.find(text, '^%d+$') and
           tonumber(text)
end

local function digits(value)
    return string.format('%.0f', value)
end

-- The record; without a state there is none.
local function read()
    local values = redis.call('HMGET', KEYS[1], unpack(FIELDS))
    local it = {}
    for i, field in ipairs(FIELDS) do
        it[field] = values[i] or ''
    end
    return it
end

local was = read()
local absent = was.state == ''

local function set(...)
    redis.call('HSET', KEYS[1], ...)
end

-- No number of this node may be forgotten, whatever else is.
local function larger_hw(hw)
    return digits(math.max(number(hw) or 0, number(was.hw) or 0))
end

-- A record from nothing. floor: lease records that are older than it, and have
-- smaller numbers, are as good as missing.
local function write(state, cfg, prev, max_ttl, slack, run, q_run, ref, members,
                     hw)
    set('cfg', cfg, 'prev', prev, 'run', run, 'state', state,
        'hw', larger_hw(hw), 'max_ttl_ms', max_ttl, 'slack_ms', slack,
        'at', digits(now), 'ref', ref, 'q_run', q_run, 'sync', '',
        'members', members, 'floor', larger_hw(hw),
        'plan', '')
end

-- How many arguments each verb has, and which of them are numbers.
local verb = {}
local arguments = {
    look = {0}, form = {6, 2, 3, 6}, activate = {3}, quarantine = {7, 3, 4, 7},
    ready = {6, 3, 4, 5}, durable = {2}, verified = {2}, next = {4, 4},
    plan = {2}, abandon = {2},
    join = {7, 3, 4, 7}, settle = {1}, remove = {1}, again = {7, 2, 3, 6, 7},
}

function verb.look()
end

-- A group begins: first this on every node, and then `activate` on every node.
-- So a record that is missing beside an active one was lost.
function verb.form(cfg, max_ttl, slack, run, members, hw)
    if absent then
        write('forming', cfg, '', max_ttl, slack, run, '', '', members, hw)
    end
end

-- Only in the life in which it was formed: a record that came back from disk
-- may be older than the leases that were given since.
function verb.activate(cfg, run, sync)
    if was.state == 'forming' and was.cfg == cfg and was.run == run then
        set('state', 'ready', 'at', digits(now), 'sync', sync)
    end
end

-- The node has lost something: it was restarted, flushed, promoted, restored.
-- It does not vote until every lease that it may have forgotten has ended.
function verb.quarantine(cfg, prev, max_ttl, slack, members, run, ref)
    if absent then
        write('quarantine', cfg, prev, max_ttl, slack, '', run, ref, members,
              '0')
        return
    end
    local ready = was.state == 'ready' and was.run == run
    -- It lasts since then; unless our clock was set back behind that.
    local lasting = was.state == 'quarantine' and was.q_run == run and
                    number(was.at) and number(was.at) <= now
    local known = was.state == 'ready' or was.state == 'forming' or
                  was.state == 'quarantine'
    if known and not ready and not lasting then
        set('state', 'quarantine', 'run', '', 'q_run', run, 'at', digits(now),
            'ref', ref)
    end
end

-- The quarantine has lasted D microseconds, by our clock and by `ref`, the
-- other nodes' median TIME. hw was read from enough of them.
function verb.ready(cfg, run, ref, hw, D, sync)
    if was.state ~= 'quarantine' or was.q_run ~= run or
       (was.cfg ~= cfg and (was.prev ~= cfg or cfg == '')) then
        return
    end
    local at, since = number(was.at), number(was.ref)
    if not since or since == 0 then
        -- The others' time was not known when it began; it is since now.
        set('ref', ref)
        return
    end
    if at and now - at >= number(D) and number(ref) - since >= number(D) then
        set('state', 'ready', 'run', run, 'hw', larger_hw(hw), 'sync', sync,
            'at', digits(now), 'floor', larger_hw(hw))
    end
end

-- It was restarted, and forgot nothing: every write was on disk before it was
-- acknowledged. That must have been seen in the life before and in this one.
function verb.durable(run, sync)
    if was.state == 'ready' and was.sync ~= '' and was.sync == was.run and
       sync == run then
        set('run', run, 'sync', sync, 'at', digits(now))
    end
end

function verb.verified(run, sync)
    if was.state == 'ready' and was.run == run then
        set('sync', sync)
    end
end

-- Two changes of one list, begun at different nodes, can lead to lists whose
-- majorities do not meet. So whoever begins one has it planned by a majority
-- first, and a node plans one only.
function verb.plan(cfg, members)
    if was.state == 'ready' and was.cfg == cfg and
       (was.plan == '' or was.plan == members) then
        set('plan', members)
    end
end

function verb.abandon(cfg, members)
    if was.cfg == cfg and was.plan ~= '' and was.plan == members then
        set('plan', '')
    end
end

-- Membership goes from one list to the next; both are served meanwhile. hw is
-- the largest of all members, and all new numbers are above it: majorities of
-- the next list need not meet those of the one that is not served any more.
verb['next'] = function(old_cfg, new_cfg, members, hw)
    if was.cfg == old_cfg and not absent and was.state ~= 'removed' and
       was.plan == members and members ~= '' then
        set('prev', old_cfg, 'cfg', new_cfg, 'members', members, 'plan', '',
            'hw', larger_hw(hw), 'least', larger_hw(hw))
    end
end

function verb.join(cfg, prev, max_ttl, slack, run, members, hw)
    if absent or was.state == 'removed' then
        write('ready', cfg, prev, max_ttl, slack, run, '', '', members, hw)
    end
end

-- The list before is served no longer. Until what it granted has ended there
-- is no further step: `at` tells since when.
function verb.settle(cfg)
    if was.cfg == cfg and was.prev ~= '' then
        set('prev', '')
        if was.state == 'ready' then
            set('at', digits(now))
        end
    end
end

function verb.remove(cfg)
    if not absent and cfg ~= '' and (was.cfg == cfg or was.prev == cfg) then
        set('state', 'removed', 'run', '', 'plan', '')
    end
end

-- A majority has lost its records: an operator has the group begin anew. What
-- was granted before has ended when the quarantine has.
function verb.again(cfg, max_ttl, slack, members, run, ref, hw)
    write('quarantine', cfg, '', max_ttl, slack, '', run, ref, members, hw)
end

local shape = arguments[ARGV[1]]
if not shape or #ARGV ~= shape[1] + 1 then
    return redis.error_reply('ERR quorlock: no such verb of the node record')
end
for i = 2, #shape do
    if not number(ARGV[1 + shape[i]]) then
        return redis.error_reply('ERR quorlock: an argument is not a number')
    end
end
if not absent and not number(was.hw) and ARGV[1] ~= 'look' then
    return redis.error_reply('ERR quorlock: the node record cannot be read')
end
verb[ARGV[1]](unpack(ARGV, 2))

local is = read()
if is.state == '' then
    return {digits(now), 'absent'}
end
local answer = {digits(now), 'present'}
for _, field in ipairs(FIELDS) do
    answer[#answer + 1] = is[field]
end
return answer
