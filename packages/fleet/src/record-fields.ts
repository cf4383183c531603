import { isObject } from '@breakerbox/core/internal';

/**
 * What a record of the store may hold. `redis/scripts.ts` writes the same rules as Lua, so that the scripts and this process agree on
 * what fits. Lengths count bytes in Lua and characters here, so what fits there fits here.
 */
export type FieldRule = (
  | { readonly one: readonly string[] }
  /** A string of 1 to so many characters. */
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

const name: FieldRule = { text: LONGEST_NAME };
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

/** By the names of {@link ActionRecord}. A body of 2,000 characters has up to 6,000 bytes. */
export const ACTION_FIELDS = {
  i: name,
  b: { text: 8_000 },
  m: time,
  o: time,
  u: time,
} as const satisfies FieldRules;

/** Bytes of what the store keeps of one circuit or action, and of its name. Anything longer is not of a fleet. */
export const LONGEST = { circuit: 2_000, action: 16_000, circuitName: 2_000, actionName: 8_000 } as const;

/** A store with a higher version, or with a longer epoch, starts again. */
export const HEAD = { version: MOST, epoch: LONGEST_NAME } as const;

const isNumber = (value: unknown, most: number, isWhole = false): boolean =>
  typeof value === 'number' && value >= 0 && value <= most && (!isWhole || Number.isInteger(value));

const isText = (value: unknown, most: number): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= most;

const isTimes = (value: unknown, most: number): boolean => {
  if (!isObject(value)) return false;
  const entries = Object.entries(value);
  if (Array.isArray(value)) return entries.length === 0; // Lua writes a map without entries as it writes such a list.
  return entries.length <= most && entries.every(([key, ms]) => isText(key, LONGEST_NAME) && isNumber(ms, MOST));
};

const fits = (rule: FieldRule, value: unknown): boolean => {
  if (value === undefined) return rule.optional === true;
  if ('one' in rule) return rule.one.some((one) => one === value);
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
local function isTimes(value, most)
  if type(value) ~= 'table' then return false end
  local count = 0
  for name, ms in pairs(value) do
    count = count + 1
    if count > most or not isText(name, ${LONGEST_NAME}) or not isNumber(ms, ${MOST}) then return false end
  end
  return true
end
local function fits(rule, value)
  if value == nil then return rule.optional end
  if rule.one then return type(value) == 'string' and rule.one[value] == true end
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
