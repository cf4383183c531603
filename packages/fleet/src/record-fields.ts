import { isObject } from '@breakerbox/core/internal';
import { LONGEST_BODY } from './fleet-action.ts';

/**
 * What a record of the store may hold. `redis/scripts.ts` writes the same rules as Lua, so that the scripts and this process agree on
 * what fits. Lengths are bytes of UTF-8.
 */
export type FieldRule = (
  | { readonly one: readonly string[] }
  /** A name: {@link isName}. */
  | { readonly name: true }
  /** A string of 1 to so many bytes. */
  | { readonly text: number }
  /** A number from 0 to this one. */
  | { readonly most: number; readonly isWhole?: true }
  /** At most so many names with a time each. */
  | { readonly times: number }
) & { readonly optional?: true };

export type FieldRules = Readonly<Record<string, FieldRule>>;

const LONGEST_NAME = 64;
/** Lua writes numbers with 14 digits: the year 2286, as Unix milliseconds. */
const MOST = 1e13;

/** The largest generation, after which it grows no more. Only a store that lies has it. */
export const MOST_GENERATION = 1e12;

const name: FieldRule = { name: true };
const time: FieldRule = { most: MOST };

/** By the names of {@link CircuitRecord}. A category of a later release counts as `unknown`. */
export const CIRCUIT_FIELDS = {
  s: { one: ['pending', 'open', 'closed'] },
  g: { most: MOST_GENERATION, isWhole: true },
  c: name,
  t: time,
  w: time,
  n: { times: 16, optional: true },
  h: { ...name, optional: true },
  k: { ...name, optional: true },
  u: { ...time, optional: true },
  d: { most: 1, optional: true },
} as const satisfies FieldRules;

/** By the names of {@link ActionRecord}. A character of a body has up to 3 bytes. */
export const ACTION_FIELDS = {
  i: name,
  b: { text: 3 * LONGEST_BODY },
  m: time,
  o: time,
  u: time,
} as const satisfies FieldRules;

/**
 * Bytes of what the store keeps of one circuit or action, and of its name. Anything longer is not of a fleet. Lua writes some characters
 * of a body with up to six bytes, so a record can be short enough to be read and too long to be written: the scripts check both.
 */
export const LONGEST = { circuit: 2_000, action: 16_000, circuitName: 2_000, actionName: 8_000 } as const;

/** Bytes that Lua writes for one byte of a string, such as `\u007f`. */
export const LONGEST_CHARACTER = 6;

/** The version of a record, as digits, and a space. */
export const LONGEST_VERSION = 16;

/** A store with a higher version, or with an epoch that is no name, starts again. */
export const HEAD = { version: MOST, epoch: LONGEST_NAME } as const;

/** Names that processes make, and categories: characters that JSON, UTF-8 and all clients write in one way. */
const NAME = /^[A-Za-z0-9_.:-]+$/;
const LUA_NAME = '^[%w_.:-]+$';

/** Whether it is a name, such as an id, a holder, a category or an epoch. */
export const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST_NAME && NAME.test(value);

const isNumber = (value: unknown, most: number, isWhole = false): boolean =>
  typeof value === 'number' && value >= 0 && value <= most && (!isWhole || Number.isInteger(value));

/** Lua has no half of a character that UTF-16 writes as two. */
const isText = (value: unknown, most: number): boolean =>
  typeof value === 'string' && value.length > 0 && Buffer.byteLength(value) <= most && !/\p{Surrogate}/u.test(value);

const isTimes = (value: unknown, most: number): boolean => {
  if (!isObject(value)) return false;
  const entries = Object.entries(value);
  if (Array.isArray(value)) return entries.length === 0; // Lua writes a map without entries as it writes such a list.
  return entries.length <= most && entries.every(([key, ms]) => isName(key) && isNumber(ms, MOST));
};

const fits = (rule: FieldRule, value: unknown): boolean => {
  if (value === undefined) return rule.optional === true;
  if ('one' in rule) return rule.one.some((one) => one === value);
  if ('name' in rule) return isName(value);
  if ('text' in rule) return isText(value, rule.text);
  return 'most' in rule ? isNumber(value, rule.most, rule.isWhole) : isTimes(value, rule.times);
};

/** The fields of a record that has all of them as it should. Undefined for any other value. */
export const readFields = <Fields>(rules: FieldRules, value: unknown): Fields | undefined => {
  if (!isObject(value)) return undefined;
  const given = value as Readonly<Record<string, unknown>>;
  const own = Object.keys(rules).filter((field) => Object.hasOwn(given, field));
  if (!Object.entries(rules).every(([field, rule]) => fits(rule, own.includes(field) ? given[field] : undefined)))
    return undefined;
  return Object.fromEntries(own.map((field) => [field, given[field]])) as Fields;
};

const luaOf = (rule: FieldRule): string => {
  const optional = `optional = ${rule.optional === true}`;
  if ('one' in rule) return `{ one = { ${rule.one.map((one) => `['${one}'] = true`).join(', ')} }, ${optional} }`;
  if ('name' in rule) return `{ name = true, ${optional} }`;
  if ('text' in rule) return `{ text = ${rule.text}, ${optional} }`;
  if ('most' in rule) return `{ most = ${rule.most}, isWhole = ${rule.isWhole === true}, ${optional} }`;
  return `{ times = ${rule.times}, ${optional} }`;
};

/** The rules as a table of Lua. */
export const luaTable = (rules: FieldRules): string =>
  `{ ${Object.entries(rules)
    .map(([field, rule]) => `${field} = ${luaOf(rule)}`)
    .join(', ')} }`;

/** The checks of {@link readFields}, as Lua: `readFields(rules, value)`. */
export const LUA_READ_FIELDS = `
local function isNumber(value, most)
  return type(value) == 'number' and value >= 0 and value <= most
end
local function isText(value, most)
  return type(value) == 'string' and #value > 0 and #value <= most
end
local function isName(value)
  return isText(value, ${LONGEST_NAME}) and string.match(value, '${LUA_NAME}') ~= nil
end
local function isTimes(value, most)
  if type(value) ~= 'table' then return false end
  local count = 0
  for name, ms in pairs(value) do
    count = count + 1
    if count > most or not isName(name) or not isNumber(ms, ${MOST}) then return false end
  end
  return true
end
local function fits(rule, value)
  if value == nil then return rule.optional end
  if rule.one then return type(value) == 'string' and rule.one[value] == true end
  if rule.name then return isName(value) end
  if rule.text then return isText(value, rule.text) end
  if rule.most then return isNumber(value, rule.most) and (not rule.isWhole or value % 1 == 0) end
  return isTimes(value, rule.times)
end
local function readFields(rules, value)
  if type(value) ~= 'table' then return nil end
  local record = {}
  for field, rule in pairs(rules) do
    if not fits(rule, value[field]) then return nil end
    record[field] = value[field]
  end
  return record
end
`;
