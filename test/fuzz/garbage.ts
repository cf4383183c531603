/** Values that do not belong where they are: for records, messages and answers of every kind. Any text of the fuzzer makes the same kind of input. */
import type { Random } from './mutate.ts';

const pick = <T>(all: readonly T[], random: Random): T => all[random(all.length)] as T;

/** Numbers at the edge of what code expects, as JSON has them. `1e999` becomes infinite. */
const NUMBERS = [
  ...[
    '0',
    '-0',
    '-1',
    '-5',
    '0.5',
    '1',
    '1e3',
    '1500',
    '86400000',
    '2592000000',
    '1e12',
    '1e13',
    '1e14',
    '1e15',
    '1e21',
  ],
  ...[
    '9007199254740991',
    '9007199254740992',
    '9223372036854775807',
    '18446744073709551616',
    '1e308',
    '-1e308',
    '1e999',
    '-1e999',
  ],
];

const STRINGS = [
  ...[
    '',
    ' ',
    '0',
    '-1',
    'abc',
    'NaN',
    'null',
    'undefined',
    '__proto__',
    'constructor',
    'toString',
    '../../etc/passwd',
  ],
  ...[
    '\u0000',
    '\n',
    '\r\n',
    '\u001b[31m',
    '\u009b31m',
    '\u202e',
    '\u2028',
    '\ud800',
    '\u{1f4a3}',
    '%s%n',
    '{{7*7}}',
    "' OR 1=1",
    '<script>',
  ],
];

/** Characters that JSON, UTF-8 or Lua writes longer than others. */
const WIDE = ['x', 'é', '\u007f', '/', '\ud800'];

/** JSON text of a value of any kind. */
export const garbageJson = (random: Random, depth = 2): string => {
  switch (random(depth > 0 ? 12 : 8)) {
    case 0:
    case 1:
    case 2:
      return pick(NUMBERS, random);
    case 3:
    case 4:
      return JSON.stringify(pick(STRINGS, random));
    case 5:
      return JSON.stringify(pick(WIDE, random).repeat(pick([33, 65, 257, 1_900, 20_000], random)));
    case 6:
      return pick(['true', 'false', 'null'], random);
    case 7:
      return pick(['[]', '{}', '[[]]', '{"":0}', `${'['.repeat(500)}${']'.repeat(500)}`], random);
    case 8:
    case 9:
      return `[${Array.from({ length: random(4) }, () => garbageJson(random, depth - 1)).join(',')}]`;
    default:
      return `{${Array.from({ length: random(4) }, () => `${JSON.stringify(pick(STRINGS, random))}:${garbageJson(random, depth - 1)}`).join(',')}}`;
  }
};

/** No JSON, or hardly any. */
const BROKEN = [
  '',
  ' ',
  '{',
  '}',
  '{"',
  'NaN',
  'Infinity',
  '{"a":0x10}',
  '{"a":1}x',
  'undefined',
  '\u0000',
  '\u{1f4a3}',
];

/** How many kinds of wrong contents {@link garbleField} knows. */
const GARBLES = 6;

/** Gives one field other contents: by `kind`, from 0 to below {@link GARBLES}. */
const garbleField = (fields: Map<string, string>, field: string, kind: number, random: Random): void => {
  const old = fields.get(field) ?? 'null';
  if (kind === 0) fields.delete(field);
  else if (kind === 1) fields.set(field, pick(NUMBERS, random));
  else if (kind === 2) fields.set(field, JSON.stringify(pick(STRINGS, random)));
  else if (kind === 3) fields.set(field, JSON.stringify(old));
  else if (kind === 4) fields.set(field, `[${old}]`);
  else fields.set(field, garbageJson(random));
};

const fieldsOf = (record: Readonly<Record<string, unknown>>): Map<string, string> =>
  new Map(Object.entries(record).map(([field, value]) => [field, JSON.stringify(value) ?? 'null']));

const textOf = (fields: ReadonlyMap<string, string>): string =>
  `{${[...fields].map(([field, value]) => `${JSON.stringify(field)}:${value}`).join(',')}}`;

/** The JSON text of a record in which one to three fields are wrong. Sometimes it is no record, or no JSON. */
export const garbledJson = (record: Readonly<Record<string, unknown>>, random: Random): string => {
  if (random(12) === 0) return random(2) === 0 ? garbageJson(random) : pick(BROKEN, random);
  const fields = fieldsOf(record);
  for (let left = 1 + random(3); left > 0; left -= 1)
    garbleField(fields, pick([...fields.keys(), 'z'], random), random(GARBLES), random);
  return textOf(fields);
};

/** Every field of `record` once with each kind of wrong contents: what a test of all fields begins with. */
export const eachFieldGarbled = (record: Readonly<Record<string, unknown>>, random: Random): readonly string[] =>
  Object.keys(record).flatMap((field) =>
    Array.from({ length: GARBLES }, (_, kind) => {
      const fields = fieldsOf(record);
      garbleField(fields, field, kind, random);
      return textOf(fields);
    }),
  );
