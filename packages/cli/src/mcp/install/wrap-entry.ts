import type { Edit } from 'jsonc-parser';
import { type HttpServer, type Property, propertiesOf, type RelayedServer, type StdioServer } from './server-entry.ts';

/** What is put before a server. */
export interface Wrapping {
  /** Such as `npx -y breakerbox@1.2.3 mcp`. */
  readonly launcher: readonly string[];
  /** Options of the relay. */
  readonly options: readonly string[];
}

/** The environment variables that hold headers begin with it. */
const VARIABLE = 'BREAKERBOX_HEADER_';

/** The literal of a value, as the file has it. */
export const rawOf = (
  source: string,
  { offset, length }: { readonly offset: number; readonly length: number },
): string => source.slice(offset, offset + length);

/** White space from the start of the line to `offset`, with the line break; undefined if something else is there. */
const lineStartBefore = (source: string, offset: number): string | undefined => {
  const indent = indentBefore(source, offset);
  const start = offset - (indent?.length ?? 0);
  if (indent === undefined || start === 0) return undefined; // The first line has no break before it.
  return source.slice(source.startsWith('\r\n', start - 2) ? start - 2 : start - 1, offset);
};

/** White space from the start of the line to `offset`; undefined if something else is there. */
export const indentBefore = (source: string, offset: number): string | undefined => {
  let start = offset;
  while (source[start - 1] === ' ' || source[start - 1] === '\t') start -= 1;
  return start === 0 || source[start - 1] === '\n' || source[start - 1] === '\r'
    ? source.slice(start, offset)
    : undefined;
};

/** The text after a member's value that adds a member with an array of strings, on a line of its own if the member has one. */
const argsMember = (source: string, beside: Property, literals: readonly string[]): string =>
  `,${lineStartBefore(source, beside.key.offset) ?? ' '}"args": [${literals.join(', ')}]`;

const literalsOf = (words: readonly string[]): readonly string[] => words.map((word) => JSON.stringify(word));

/** The changes that put the relay before a server's command. The literals of the server's own words stay as they are. */
export const wrapStdio = (
  source: string,
  { command, args }: StdioServer,
  { launcher, options }: Wrapping,
): readonly Edit[] => {
  const [program = '', ...words] = launcher;
  const added = [...literalsOf([...words, ...options, '--']), rawOf(source, command.value)];
  const replaced = { ...placeOf(command), content: JSON.stringify(program) };
  if (args === undefined) return [replaced, insertAfter(command, argsMember(source, command, added))];
  const [first] = args.value.children ?? [];
  if (first === undefined) {
    const end = args.value.offset + args.value.length - 1;
    return [replaced, { offset: end, length: 0, content: added.join(', ') }];
  }
  const gap = `,${lineStartBefore(source, first.offset) ?? ' '}`;
  return [replaced, { offset: first.offset, length: 0, content: added.map((literal) => `${literal}${gap}`).join('') }];
};

/**
 * The changes that put the relay before a server with an address. Headers move into the environment, because other programs of the
 * machine can read command lines.
 */
export const wrapHttp = (
  source: string,
  { url, type, headers }: HttpServer,
  { launcher, options }: Wrapping,
): readonly Edit[] => {
  const [program = '', ...words] = launcher;
  const members = propertiesOf(headers?.value) ?? [];
  const variables = variablesFor(members.map(({ key }) => key.value));
  const flags = members.flatMap(({ key }, index) => ['--header-env', `${key.value}=${variables[index]}`]);
  const added = [...literalsOf([...words, ...options, ...flags, '--']), rawOf(source, url.value)];
  return [
    { offset: url.key.offset, length: url.key.length, content: '"command"' },
    { ...placeOf(url), content: JSON.stringify(program) },
    insertAfter(url, argsMember(source, url, added)),
    ...(type ? [{ ...placeOf(type), content: '"stdio"' }] : []),
    ...(headers ? [{ offset: headers.key.offset, length: headers.key.length, content: '"env"' }] : []),
    ...members.map(({ key: { offset, length } }, index) => ({ offset, length, content: `"${variables[index]}"` })),
  ];
};

/** The changes that give an entry which starts the relay another launcher, or other options. */
export const rewrap = (
  source: string,
  { command, args, relay }: RelayedServer,
  { launcher, options }: Wrapping,
): readonly Edit[] => {
  const [program = '', ...words] = launcher;
  const made = [...words, ...options, '--'];
  const elements = args.value.children ?? [];
  const old = elements.slice(0, elements.length - relay.target.length);
  const most = Math.min(old.length, made.length);
  let first = 0;
  while (first < most && old[first]?.value === made[first]) first += 1;
  let tail = 0;
  while (tail < most - first && old.at(-1 - tail)?.value === made.at(-1 - tail)) tail += 1;
  const replaced = command.value.value === program ? [] : [{ ...placeOf(command), content: JSON.stringify(program) }];
  const gone = old.slice(first, old.length - tail);
  const following = elements[old.length - tail]; // At least the server's own command follows.
  const [start = following, end = start] = [gone[0], gone.at(-1)];
  if (!start || !end || !following) return replaced;
  const gap = `,${lineStartBefore(source, start.offset) ?? ' '}`;
  const literals = literalsOf(made.slice(first, made.length - tail));
  const isReplaced = gone.length > 0 && literals.length > 0;
  const until = isReplaced ? end.offset + end.length : following.offset;
  const content = isReplaced ? literals.join(gap) : literals.map((literal) => `${literal}${gap}`).join('');
  return [...replaced, { offset: start.offset, length: until - start.offset, content }];
};

/** One variable for each header, also where names differ in their signs only. */
const variablesFor = (headers: readonly string[]): readonly string[] => {
  const given: string[] = [];
  for (const header of headers) {
    const name = `${VARIABLE}${header.toUpperCase().replaceAll(/[^A-Z\d]/g, '_')}`;
    let variable = name;
    for (let count = 2; given.includes(variable); count += 1) variable = `${name}_${count}`;
    given.push(variable);
  }
  return given;
};

const placeOf = ({ value: { offset, length } }: Property) => ({ offset, length });

const insertAfter = ({ value }: Property, content: string): Edit => ({
  offset: value.offset + value.length,
  length: 0,
  content,
});
