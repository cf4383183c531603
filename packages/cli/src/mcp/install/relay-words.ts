import type { HttpFlags } from '../http-options.ts';
import { mcpCommand } from '../mcp-command.ts';
import { countLauncherWords } from './launcher.ts';

/** A command line that starts the relay. */
export interface RelayedWords {
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
  readonly flags: HttpFlags;
}

/** The relay's own parser decides where its options end. */
const parse = (words: readonly string[]): Parsed | undefined => {
  const command = mcpCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  try {
    return { ...command.parseOptions([...words]), flags: command.opts<HttpFlags>() };
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
  const headers = new Map(
    flags.headerEnv.map((pair) => splitAt(pair, '=')).map(([name, variable]) => [variable, name]),
  );
  return { target: operands, isHttp, headers, plainHeaders: new Map(flags.header.map((one) => splitAt(one, ':'))) };
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
