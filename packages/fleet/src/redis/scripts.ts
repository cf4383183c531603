import { createHash } from 'node:crypto';
import { BOUNDS, type Bounds, MOST_QUORUM, RENEWED_MS } from '../fleet-state.ts';
import {
  ACTION_FIELDS,
  CIRCUIT_FIELDS,
  HEAD,
  LONGEST,
  LONGEST_CHARACTER,
  LONGEST_VERSION,
  LUA_READ_FIELDS,
  luaTable,
  MOST_GENERATION,
} from '../record-fields.ts';
import { CLOCK_STEP_MS } from '../records.ts';

/**
 * The protocol as Lua: `fleet-state.ts` says the same in TypeScript, and a property test compares them. Each script uses one key. The
 * hash has `e` (epoch), `v` (version), `c:ID` for a circuit, and `a:KEY` for an action. A circuit or action is its
 * version, a space, and JSON. The channel of hints has the name of the key, and that of a topic the name of
 * the key and the topic. Redis counts who listens, so it knows who lives, and nothing is written.
 *
 * Anything may be in the hash. A record that does not fit counts as absent, and is never loaded if it is too long. The scripts alone
 * judge that. What is read fits when it is written. A hash without an epoch and a version that fit, or with more fields than a fleet has, is not of a fleet: it counts as absent, and the next process that
 * has something to say replaces it (G7: missing is unknown, not closed).
 */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** A key that a script has written expires: after an hour at least, and after this time at the latest. */
const LEAST_LIFE_MS = 3_600_000;
const MOST_LIFE_MS = 30 * 24 * 3_600_000;

/** Channels that one command asks about. Lua passes no more than some 8,000 arguments. */
const CHANNELS = 500;

/** ARGV: 1 the time, which only tests set; 2 the epoch of a new store; then what each script names. */
const common = ({ circuits, actions }: Bounds): string => `
-- The error names the command: Redis 7.0 does not say which one a user may not run.
local function call(command, ...)
  local answer = redis.pcall(command, ...)
  if type(answer) == 'table' and answer.err then error({ err = answer.err .. ' (' .. command .. ')' }) end
  return answer
end
local key, now = KEYS[1], tonumber(ARGV[1])
if not now then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
${LUA_READ_FIELDS}
local KINDS = {
  ['c:'] = { fields = ${luaTable(CIRCUIT_FIELDS)}, name = ${LONGEST.circuitName + 2}, value = ${LONGEST.circuit} },
  ['a:'] = { fields = ${luaTable(ACTION_FIELDS)}, name = ${LONGEST.actionName + 2}, value = ${LONGEST.action} }
}
local size, epoch, version = call('HLEN', key), false, 0
if size > 0 and size <= ${circuits + actions + 2}
  and call('HSTRLEN', key, 'e') <= ${HEAD.epoch} and call('HSTRLEN', key, 'v') <= 16 then
  local head = call('HMGET', key, 'e', 'v')
  version = head[2] and string.match(head[2], '^%d+$') and tonumber(head[2]) or ${HEAD.version} + 1
  epoch = version <= ${HEAD.version} and isName(head[1]) and head[1]
end
if not epoch then version = 0 end

-- The version and the JSON of a field that may fit.
local function raw(field)
  local kind = KINDS[string.sub(field, 1, 2)]
  if not epoch or not kind or #field > kind.name or call('HSTRLEN', key, field) > kind.value then return nil end
  local number, json = string.match(call('HGET', key, field) or '', '^(%d+) (.*)$')
  number = tonumber(number)
  if number and number <= version then return number, json end
end
-- The record of a JSON that fits. Only what is long can become too long when it is written.
local function fitting(field, json)
  local kind = KINDS[string.sub(field, 1, 2)]
  local isJson, value = pcall(cjson.decode, json)
  local record = isJson and readFields(kind.fields, value)
  if not record or #field > kind.name then return nil end
  local longest = kind.value - ${LONGEST_VERSION}
  if #json * ${LONGEST_CHARACTER} <= longest or #cjson.encode(record) <= longest then return record end
end
local function load(field)
  local number, json = raw(field)
  if number then return fitting(field, json), number end
end
local function names(kind)
  local found = {}
  for _, field in ipairs(epoch and call('HKEYS', key) or {}) do
    if string.sub(field, 1, 2) == kind then found[#found + 1] = field end
  end
  return found
end
-- In one command, so that a save that fails changes nothing. Nil: it would not fit when it is read.
local function save(field, record, lifeMs, hint, instead)
  local json = cjson.encode(record)
  if #json > KINDS[string.sub(field, 1, 2)].value - ${LONGEST_VERSION} or not fitting(field, json) then return nil end
  if size > 0 and not epoch then call('UNLINK', key) end
  local value = string.format('%.0f ', version + 1) .. json
  call('HSET', key, 'e', epoch or ARGV[2], 'v', string.format('%.0f', version + 1), field, value)
  if instead then call('HDEL', key, instead) end
  local life = math.min(math.max(call('PTTL', key), ${LEAST_LIFE_MS}, lifeMs), ${MOST_LIFE_MS})
  call('PEXPIRE', key, string.format('%.0f', life))
  if hint then redis.pcall('SPUBLISH', key, '') end
  return { now, value }
end
local function listeners(channels)
  local counts = {}
  for from = 1, #channels, ${CHANNELS} do
    local answer = redis.pcall('PUBSUB', 'SHARDNUMSUB', unpack(channels, from, math.min(from + ${CHANNELS - 1}, #channels)))
    if answer.err then return {} end
    for i = 1, #answer, 2 do
      counts[#counts + 1] = string.sub(answer[i], #key + 1)
      counts[#counts + 1] = answer[i + 1]
    end
  end
  return counts
end
local function following(generation)
  return math.min(generation + 1, ${MOST_GENERATION})
end
local function found(record, number)
  return { now, string.format('%.0f ', number) .. cjson.encode(record) }
end
`;

/** ARGV: 3 id, 4 process, 5 category, 6 wait, 7 quorum, 8 window, 9 generation, 10 age, 11 processes that live, or nothing. */
const report = ({ circuits }: Bounds): string => `
local field, process, wait, generation = 'c:' .. ARGV[3], ARGV[4], tonumber(ARGV[6]), tonumber(ARGV[9])
local function refused()
  return { now, '0 {"s":"pending","g":0,"c":"unknown","t":0,"w":0}' }
end
if #field > KINDS['c:'].name then return refused() end
local known, number = load(field)
local circuit = known or { s = 'closed', g = 0 }
local after = { s = 'open', c = ARGV[5], t = now, w = wait }
if generation > circuit.g then
  after.g, after.t = generation, now - math.min(tonumber(ARGV[10]), wait)
elseif known and (generation > 0 or circuit.s == 'open') then
  return found(known, number)
else
  after.g = following(circuit.g)
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
    if said and said <= now and now - said < ${RENEWED_MS} then return found(known, number) end
    after.s, after.g, after.n = 'pending', circuit.g, seen
  end
end
local instead
if not known and epoch and size >= ${circuits} then
  local count, isClosed, oldest = 0, false, 0
  for _, name in ipairs(names('c:')) do
    local one, changed = load(name)
    if one and name ~= field then
      count = count + 1
      local closed = one.s == 'closed'
      local first = not instead or (closed and not isClosed) or (closed == isClosed and changed < oldest)
      if one.s ~= 'open' and first then instead, isClosed, oldest = name, closed, changed end
    end
  end
  if count < ${circuits} then
    instead = nil
  elseif not instead then
    return refused()
  end
end
return save(field, after, 4 * wait, after.s == 'open', instead) or refused()
`;

/** ARGV: 3 id, 4 process, 5 generation, 6 token, 7 lease, 8 whether a holder is asked to give it back, 9 the longest wait, or nothing. */
const CLAIM = `
local field, process, token, lease = 'c:' .. ARGV[3], ARGV[4], ARGV[6], tonumber(ARGV[7])
local circuit = load(field)
if not circuit or circuit.s ~= 'open' or circuit.g ~= tonumber(ARGV[5]) then return false end
local wait, untilMs = math.min(circuit.w, tonumber(ARGV[9]) or circuit.w), circuit.u or 0
local life = math.max(lease, 4 * wait)
if circuit.h and untilMs > now and untilMs <= now + lease + ${CLOCK_STEP_MS} then
  if circuit.h ~= process or circuit.k ~= token then
    if ARGV[8] == '1' and not circuit.d then
      circuit.d = 1
      save(field, circuit, life, true)
    end
    return false
  end
  if now + lease - untilMs >= ${RENEWED_MS} then
    circuit.u = now + lease
    if not save(field, circuit, life, false) then return false end
  end
elseif circuit.t <= now + ${CLOCK_STEP_MS} and now - circuit.t < wait then
  return false
else
  circuit.h, circuit.k, circuit.u, circuit.d = process, token, now + lease, nil
  if not save(field, circuit, life, false) then return false end
end
return epoch
`;

/** ARGV: 3 id, 4 process, 5 epoch, 6 generation, 7 token, 8 result, 9 category, 10 wait. */
const SETTLE = `
local field, result = 'c:' .. ARGV[3], ARGV[8]
local circuit = load(field)
if not circuit or epoch ~= ARGV[5] or circuit.g ~= tonumber(ARGV[6]) then return 'stale' end
if circuit.h ~= ARGV[4] or circuit.k ~= ARGV[7] or (circuit.u or 0) <= now then return 'stale' end
local wanted = circuit.d
circuit.h, circuit.k, circuit.u, circuit.d = nil, nil, nil, nil
if result ~= 'returned' then circuit.g, circuit.t = following(circuit.g), now end
if result == 'success' then circuit.s = 'closed' end
if result == 'failure' then circuit.c, circuit.w = ARGV[9], tonumber(ARGV[10]) end
return save(field, circuit, 4 * circuit.w, result == 'success' or wanted) and 'done' or 'stale'
`;

/** ARGV: 3 id, 4 generation. */
const END = `
local field = 'c:' .. ARGV[3]
local circuit = load(field)
if not circuit or circuit.s ~= 'open' or circuit.g ~= tonumber(ARGV[4]) then return 0 end
local after = { s = 'closed', g = following(circuit.g), c = circuit.c, t = now, w = circuit.w }
return save(field, after, 4 * circuit.w, true) and 1 or 0
`;

/**
 * ARGV: 3 key of the action, 4 id, 5 body, 6 age, 7 for how long it is forced, 8 and kept, 9 when the action that it follows was made.
 * Its answer: false without room, 0 if it does not fit.
 */
const control = ({ actions }: Bounds): string => `
local field, id, kept = 'a:' .. ARGV[3], ARGV[4], tonumber(ARGV[8])
local made = math.max(now - tonumber(ARGV[6]), math.min(tonumber(ARGV[9]) + 1, now + ${CLOCK_STEP_MS}))
local function isKept(one)
  return one.u > now and one.m <= now + ${CLOCK_STEP_MS}
end
local known, number = load(field)
if known and not isKept(known) then known = nil end
if known and (known.m >= made or known.i == id) then return found(known, number) end
local count, oldest, oldestMade, oldestVersion = 0, nil, 0, 0
for _, name in ipairs(names('a:')) do
  local one, changed = load(name)
  if not one or not isKept(one) then
    call('HDEL', key, name)
  else
    count = count + 1
    local first = not oldest or one.m < oldestMade or (one.m == oldestMade and changed < oldestVersion)
    if one.o <= now and first then oldest, oldestMade, oldestVersion = name, one.m, changed end
  end
end
local instead
if not known and count >= ${actions} then
  if not oldest then return false end
  instead = oldest
end
local after = { i = id, b = ARGV[5], m = made, o = now + tonumber(ARGV[7]), u = now + kept }
return save(field, after, kept, true, instead) or 0
`;

/**
 * ARGV: 3 epoch, 4 version, then topics. Its answer: now, epoch, version, whether it is whole, who listens as pairs of a
 * topic and a number (without a topic: all), how much was left out, then names and values of what has changed.
 */
const read = ({ circuits, actions }: Bounds): string => `
local channels = { key }
for i = 5, #ARGV do channels[#channels + 1] = key .. ARGV[i] end
local since = epoch and ARGV[3] == epoch and tonumber(ARGV[4]) or 0
if since > version then since = 0 end
local answer = { now, epoch or '', version, since == 0 and 1 or 0, listeners(channels), epoch and 0 or size }
if since == version then return answer end
local left = { ['c:'] = ${circuits}, ['a:'] = ${actions} }
for _, field in ipairs(call('HKEYS', key)) do
  local kind = string.sub(field, 1, 2)
  local number, json = raw(field)
  if KINDS[kind] and (not number or number > since) then
    if number and left[kind] > 0 and fitting(field, json) then
      left[kind] = left[kind] - 1
      answer[#answer + 1] = field
      answer[#answer + 1] = string.format('%.0f ', number) .. json
    else
      answer[6] = answer[6] + 1
    end
  end
end
return answer
`;

const script = (text: string): Script => ({ text, sha: createHash('sha1').update(text).digest('hex') });

export type ScriptName = 'report' | 'claim' | 'settle' | 'end' | 'control' | 'read';

/** The scripts for a store with these bounds. */
export const fleetScripts = (bounds: Bounds = BOUNDS): Readonly<Record<ScriptName, Script>> => {
  const all = common(bounds);
  return {
    report: script(all + report(bounds)),
    claim: script(all + CLAIM),
    settle: script(all + SETTLE),
    end: script(all + END),
    control: script(all + control(bounds)),
    read: script(all + read(bounds)),
  };
};
