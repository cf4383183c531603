import { createHash } from 'node:crypto';
import { BOUNDS, type Bounds, MOST_QUORUM, RENEWED_MS } from '../fleet-state.ts';
import { CLOCK_STEP_MS } from '../records.ts';

/**
 * The protocol as Lua: `fleet-state.ts` says the same in TypeScript, and a property test compares them. Each script uses one key. The
 * hash has `e` (epoch), `v` (version), `c:ID` for a circuit, and `a:KEY` for an action. A circuit or action is its
 * version, a space, and JSON. The channel of hints has the name of the key, and that of a topic the name of
 * the key and the topic. Redis counts who listens, so it knows who lives, and nothing is written.
 */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** ARGV: 1 the time, which only tests set; 2 the epoch of a new store; then what each script names. */
const COMMON = `
local key, now = KEYS[1], tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local function load(field)
  local value = redis.call('HGET', key, field)
  if value then return cjson.decode(string.match(value, ' (.*)')) end
end
local function nextVersion()
  return (tonumber(redis.call('HGET', key, 'v')) or 0) + 1
end
local function save(field, record, lifeMs, hint)
  redis.call('HSETNX', key, 'e', ARGV[2])
  local value = redis.call('HINCRBY', key, 'v', 1) .. ' ' .. cjson.encode(record)
  redis.call('HSET', key, field, value)
  redis.call('PEXPIRE', key, math.ceil(math.max(redis.call('PTTL', key), 3600000, lifeMs)))
  if hint then redis.pcall('SPUBLISH', key, '') end
  return { now, value }
end
local function listeners(channels)
  local answer = redis.pcall('PUBSUB', 'SHARDNUMSUB', unpack(channels))
  if answer.err then return {} end
  for i = 1, #answer, 2 do answer[i] = string.sub(answer[i], #key + 1) end
  return answer
end
local function found(field)
  return { now, redis.call('HGET', key, field) }
end
`;

/** ARGV: 3 id, 4 process, 5 category, 6 wait, 7 quorum, 8 window, 9 generation, 10 age, 11 processes that live, or nothing. */
const report = ({ circuits }: Bounds): string => `
local field, process, wait, generation = 'c:' .. ARGV[3], ARGV[4], tonumber(ARGV[6]), tonumber(ARGV[9])
local known = load(field)
local circuit = known or { s = 'closed', g = 0 }
local after = { s = 'open', c = ARGV[5], t = now, w = wait }
if generation > circuit.g then
  after.g, after.t = generation, now - math.min(tonumber(ARGV[10]), wait)
elseif known and (generation > 0 or circuit.s == 'open') then
  return found(field)
else
  after.g = circuit.g + 1
  local seen, count = { [process] = now }, 1
  for other, at in pairs(circuit.n or {}) do
    if other ~= process and now - at < tonumber(ARGV[8]) then
      seen[other] = at
      count = count + 1
    end
  end
  local living = tonumber(ARGV[11])
  living = living and math.max(living, listeners({ key })[2] or 0) or ${MOST_QUORUM}
  if count < math.min(tonumber(ARGV[7]), living, ${MOST_QUORUM}) then
    local said = (circuit.n or {})[process]
    if said and said <= now and now - said < ${RENEWED_MS} then return found(field) end
    after.s, after.g, after.n = 'pending', circuit.g, seen
  end
end
if not known and redis.call('HLEN', key) >= ${circuits} then
  local all, count, least, leastClosed, leastVersion = redis.call('HGETALL', key), 0, nil, false, 0
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 2) == 'c:' then
      count = count + 1
      local version, json = string.match(all[i + 1], '^(%d+) (.*)')
      local state = cjson.decode(json).s
      local closed, number = state == 'closed', tonumber(version)
      local first = not least or (closed and not leastClosed) or (closed == leastClosed and number < leastVersion)
      if state ~= 'open' and first then least, leastClosed, leastVersion = all[i], closed, number end
    end
  end
  if count >= ${circuits} then
    if not least then return { now, '0 {"s":"pending","g":0,"c":"unknown","t":0,"w":0}' } end
    redis.call('HDEL', key, least)
  end
end
return save(field, after, 4 * wait, after.s == 'open')
`;

/** ARGV: 3 id, 4 process, 5 generation, 6 token, 7 lease, 8 whether a holder is asked to give it back. */
const CLAIM = `
local field, process, token, lease = 'c:' .. ARGV[3], ARGV[4], ARGV[6], tonumber(ARGV[7])
local circuit = load(field)
if not circuit or circuit.s ~= 'open' or circuit.g ~= tonumber(ARGV[5]) then return false end
local life = math.max(lease, 4 * circuit.w)
if circuit.h and circuit.u > now and circuit.u <= now + lease + ${CLOCK_STEP_MS} then
  if circuit.h ~= process or circuit.k ~= token then
    if ARGV[8] == '1' and not circuit.d then
      circuit.d = 1
      save(field, circuit, life, true)
    end
    return false
  end
  if now + lease - circuit.u >= ${RENEWED_MS} then
    circuit.u = now + lease
    save(field, circuit, life, false)
  end
elseif circuit.t <= now + ${CLOCK_STEP_MS} and now - circuit.t < circuit.w then
  return false
else
  circuit.h, circuit.k, circuit.u, circuit.d = process, token, now + lease, nil
  save(field, circuit, life, false)
end
return redis.call('HGET', key, 'e')
`;

/** ARGV: 3 id, 4 process, 5 epoch, 6 generation, 7 token, 8 result, 9 category, 10 wait. */
const SETTLE = `
local field, result = 'c:' .. ARGV[3], ARGV[8]
local circuit = load(field)
if not circuit or redis.call('HGET', key, 'e') ~= ARGV[5] or circuit.g ~= tonumber(ARGV[6]) then return 'stale' end
if circuit.h ~= ARGV[4] or circuit.k ~= ARGV[7] or circuit.u <= now then return 'stale' end
local wanted = circuit.d
circuit.h, circuit.k, circuit.u, circuit.d = nil, nil, nil, nil
if result ~= 'returned' then circuit.g, circuit.t = circuit.g + 1, now end
if result == 'success' then circuit.s = 'closed' end
if result == 'failure' then circuit.c, circuit.w = ARGV[9], tonumber(ARGV[10]) end
save(field, circuit, 4 * circuit.w, result == 'success' or wanted)
return 'done'
`;

/** ARGV: 3 id, 4 generation. */
const END = `
local field = 'c:' .. ARGV[3]
local circuit = load(field)
if not circuit or circuit.s ~= 'open' or circuit.g ~= tonumber(ARGV[4]) then return 0 end
save(field, { s = 'closed', g = circuit.g + 1, c = circuit.c, t = now, w = circuit.w }, 4 * circuit.w, true)
return 1
`;

/** ARGV: 3 key of the action, 4 id, 5 body, 6 age, 7 for how long it is forced, 8 and kept, 9 when the action that it follows was made. */
const control = ({ actions }: Bounds): string => `
local field, id, kept = 'a:' .. ARGV[3], ARGV[4], tonumber(ARGV[8])
local made = math.max(now - tonumber(ARGV[6]), math.min(tonumber(ARGV[9]) + 1, now + ${CLOCK_STEP_MS}))
local function isKept(one)
  return one.u > now and one.m <= now + ${CLOCK_STEP_MS}
end
local known = load(field)
if known and not isKept(known) then known = nil end
if known and (known.m >= made or known.i == id) then return found(field) end
local all, count, oldest, oldestMade, oldestVersion = redis.call('HGETALL', key), 0, nil, 0, 0
for i = 1, #all, 2 do
  if string.sub(all[i], 1, 2) == 'a:' then
    local version, json = string.match(all[i + 1], '^(%d+) (.*)')
    local one, number = cjson.decode(json), tonumber(version)
    if not isKept(one) then
      redis.call('HDEL', key, all[i])
    else
      count = count + 1
      local first = not oldest or one.m < oldestMade or (one.m == oldestMade and number < oldestVersion)
      if one.o <= now and first then oldest, oldestMade, oldestVersion = all[i], one.m, number end
    end
  end
end
if not known and count >= ${actions} then
  if not oldest then return false end
  redis.call('HDEL', key, oldest)
end
return save(field, { i = id, b = ARGV[5], m = made, o = now + tonumber(ARGV[7]), u = now + kept }, kept, true)
`;

/**
 * ARGV: 3 epoch, 4 version, then topics. Its answer: now, epoch, version, whether it is whole, who listens as pairs of a
 * topic and a number (without a topic: all), then names and values of what has changed.
 */
const READ = `
local channels, answer = { key }, { now, '', 0, 1 }
for i = 5, #ARGV do channels[#channels + 1] = key .. ARGV[i] end
local head = redis.call('HMGET', key, 'e', 'v')
local version, since = tonumber(head[2]) or 0, ARGV[3] == head[1] and tonumber(ARGV[4]) or 0
if head[1] then
  if since > version then since = 0 end
  answer = { now, head[1], version, since == 0 and 1 or 0 }
end
answer[5] = {}
local all = since == version and {} or redis.call('HGETALL', key)
for i = 1, #all, 2 do
  local kind = string.sub(all[i], 1, 2)
  if (kind == 'c:' or kind == 'a:') and tonumber(string.match(all[i + 1], '^%d+')) > since then
    answer[#answer + 1] = all[i]
    answer[#answer + 1] = all[i + 1]
  end
end
answer[5] = listeners(channels)
return answer
`;

const script = (text: string): Script => ({ text, sha: createHash('sha1').update(text).digest('hex') });

export type ScriptName = 'report' | 'claim' | 'settle' | 'end' | 'control' | 'read';

/** The scripts for a store with these bounds. */
export const fleetScripts = (bounds: Bounds = BOUNDS): Readonly<Record<ScriptName, Script>> => ({
  report: script(COMMON + report(bounds)),
  claim: script(COMMON + CLAIM),
  settle: script(COMMON + SETTLE),
  end: script(COMMON + END),
  control: script(COMMON + control(bounds)),
  read: script(COMMON + READ),
});
