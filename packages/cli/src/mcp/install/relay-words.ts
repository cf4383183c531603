import { resolve } from 'node:path';
import { mcpCommand, planRelay, type RelayFlags } from '../mcp-command.ts';
import { countLauncherWords } from './launcher.ts';

/** A command line that starts the relay. */
export interface RelayedWords {
  /** What starts `breakerbox mcp`. */
  readonly launcher: readonly string[];
  /** The relay's own options, without the `--` after them. */
  readonly options: readonly string[];
  /** The server's own command and arguments; or its address alone. */
  readonly target: readonly string[];
  readonly isHttp: boolean;
  /** Header names by the environment variable that has the value, from `--header-env`. */
  readonly headers: ReadonlyMap<string, string>;
  /** Header values by name, from `--header`. */
  readonly plainHeaders: ReadonlyMap<string, string>;
}

interface Parsed {
  readonly operands: readonly string[];
  readonly unknown: readonly string[];
  readonly flags: RelayFlags;
}

/** The relay's own parser decides where its options end. */
const parse = (words: readonly string[]): Parsed | undefined => {
  const command = mcpCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  try {
    return { ...command.parseOptions([...words]), flags: command.opts<RelayFlags>() };
  } catch {
    return undefined; // An option's value is wrong.
  }
};

/** What a relay's command line says; undefined if it starts no relay, and `unreadable` if its options cannot be read. */
export const readRelay = (words: readonly string[]): RelayedWords | 'unreadable' | undefined => {
  const start = countLauncherWords(words);
  if (start === undefined) return undefined;
  const parsed = parse(words.slice(start));
  if (parsed === undefined) return 'unreadable';
  const { operands, unknown, flags } = parsed;
  const [first] = operands;
  if (first === undefined || unknown.length > 0) return 'unreadable';
  const isHttp = operands.length === 1 && /^https?:/i.test(first);
  const { header = [], headerEnv = [] } = flags;
  const headers = new Map(headerEnv.map((pair) => splitAt(pair, '=')).map(([name, variable]) => [variable, name]));
  return {
    launcher: words.slice(0, start),
    options: optionsIn(words.slice(start)).flat(),
    target: operands,
    isHttp,
    headers,
    plainHeaders: new Map(header.map((one) => splitAt(one, ':'))),
  };
};

/** The options at the start of a command line, each with its value. */
const optionsIn = (words: readonly string[]): readonly (readonly string[])[] => {
  const known = mcpCommand().options;
  const options: (readonly string[])[] = [];
  for (let at = 0; words[at] !== '--' && words[at]?.startsWith('-'); ) {
    const option = known.find(({ long }) => long === words[at]);
    const mayTake = option?.optional === true && words[at + 1]?.startsWith('-') === false;
    const count = option?.required || mayTake ? 2 : 1;
    options.push(words.slice(at, at + count));
    at += count;
  }
  return options;
};

/** The options of a person for the relay, and what goes with them. */
export interface GivenOptions {
  /** Empty if the person gives none. */
  readonly words: readonly string[];
  /** Whether the relay starts a server again that has ended. It has no effect for a server with an address. */
  readonly restarts: boolean;
}

/**
 * The options that an entry gets. An entry that has the relay keeps its own, unless the person gives others. The headers of a server with
 * an address stay, because the entry has them nowhere else.
 */
export const optionsFor = (
  { words, restarts }: GivenOptions,
  isHttp: boolean,
  old?: RelayedWords,
): readonly string[] => {
  if (words.length > 0 && isHttp)
    return [
      ...words,
      ...optionsIn(old?.options ?? [])
        .filter(isHeader)
        .flat(),
    ];
  if (words.length === 0 && old)
    return restarts || isHttp ? old.options : old.options.filter((word) => word !== RESTART);
  if (isHttp) return [];
  return restarts && !optionsIn(words).some(([name]) => name === RESTART) ? [RESTART, ...words] : words;
};

const RESTART = '--restart';

const isHeader = ([option = '']: readonly string[]): boolean => /^--header(?:-env)?(?:=|$)/.test(option);

/** The same options, with the full path of a file of settings: a client starts the relay in a folder of its own. */
export const withFullPaths = (words: readonly string[], cwd: string): readonly string[] =>
  optionsIn(words).flatMap(([option = '', ...values]) => {
    if (option === '--config') return [option, ...values.map((value) => resolve(cwd, value))];
    const [, inOne] = /^--config=(.+)$/s.exec(option) ?? [];
    return inOne === undefined ? [option, ...values] : [`--config=${resolve(cwd, inOne)}`];
  });

/** Why the relay cannot start a server with these options, in the words of the relay. Undefined if it can. */
export const faultInRelay = async (
  { options, target: [command = '', ...args] }: RelayedWords,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> => {
  try {
    const { relayBox } = await planRelay(command, args, parse([...options, '--', command, ...args])?.flags ?? {}, env);
    relayBox.session.end();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

const splitAt = (text: string, sign: string): readonly [string, string] => {
  const [name = ''] = text.split(sign, 1);
  return [name.trim(), text.slice(name.length + 1).trim()];
};

/** @throws Error if these are not options of the relay. */
export const checkRelayOptions = (words: readonly string[]): void => {
  const parsed = parse(words);
  if (parsed === undefined)
    throw new Error('An option after -- has a value that breakerbox mcp does not take. See breakerbox mcp --help.');
  if (words.some((word) => /^--listen(?:=|$)/.test(word)))
    throw new Error(
      '--listen cannot be installed, because the client starts the relay and speaks stdio to it. Remove it.',
    );
  const [wrong] = [...parsed.unknown, ...parsed.operands];
  if (wrong === undefined) return;
  throw new Error(
    `'${wrong}' is not an option of breakerbox mcp. After --, write options of the relay only. See breakerbox mcp --help.`,
  );
};
