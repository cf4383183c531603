import type { ClassifyContext } from '@breakerbox/core';
import { isObject, read, readKeys, readText, TEXT_LIMIT } from '@breakerbox/core/internal';
import { kindOf, spaced, type ToolKind } from './kind.ts';
import { isOutageWord } from './words.ts';

/** Context of a call, beside its error or result. */
export interface ReadContext extends ClassifyContext {
  /** The name of the tool. */
  readonly tool?: string;
  /** What kind of tool it is; `false`: none of them. Default: by its name and its input. */
  readonly kind?: ToolKind | false | undefined;
  /** The arguments of the call. */
  readonly input?: unknown;
}

/** The strings in the arguments of a call: 3 levels deep, at most 32 keys of each object and 32 strings. */
export const stringsIn = (input: unknown, depth = 3): readonly string[] => {
  if (typeof input === 'string') return input.length > 2 && input.length < TEXT_LIMIT ? [input] : [];
  if (typeof input === 'number') return [String(input)].filter((digits) => digits.length > 3);
  if (!isObject(input) || depth === 0) return [];
  const strings: string[] = [];
  for (const key of readKeys(input).slice(0, 32)) strings.push(...stringsIn(read(input, key), depth - 1));
  return strings.slice(0, 32);
};

/** The URL that a call chose, or the host as a URL; undefined if its input names none. */
export const targetIn = (input: unknown): URL | undefined => {
  for (const text of stringsIn(input))
    if (/^(?:https?|wss?):\/\//i.test(text) && URL.canParse(text)) return new URL(text);
  for (const key of HOSTS) {
    const host = readText(input, key, 254) ?? '';
    if (HOST.test(host) && URL.canParse(`tcp://${host}`)) return new URL(`tcp://${host}`);
  }
  return undefined;
};
const HOSTS = ['host', 'hostname', 'domain', 'server', 'ip'] as const;
const HOST = /^(?:[\w-]+\.)+[a-z\d-]{1,63}(?::\d{1,5})?$|^localhost(?::\d{1,5})?$/i;

/** Keys of a check whose question is whether a host can be reached. Other tools have further keys. */
const CHECKED =
  /^(?:host|hostname|domain|ip|address|target|ports?|count|timeout(?:_?ms)?|protocol|record_?type|type)$/i;
const HOST_KEY = /^(?:host|hostname|domain|ip|address)$/i;
const CHECKS =
  /\b(?:ping|dns|nslookup|dig|whois|trace ?route|reachab\w+|uptime|health ?check|(?:check|scan|test|probe|open) (?:\w+ )?ports?|ports? (?:check|scan)\w*|(?:check|test|probe|monitor|is) (?:the )?(?:hosts?|urls?|sites?|websites?|domains?|links?|connect\w+|endpoints?|ssl|certificates?|up|online)|resolve (?:host|domain|name)\w*)\b/;

/** Tools that return content of a file or a table, which may be an error message. */
const READS = /^(?:\w+_)?(?:path|file|file_?name|file_?path|query|sql)$|^(?:file|source|full)Path$/i;
const READ_BY_NAME = /\b(?:errors?|exceptions?|logs?|read|cat|grep|tail)\b/;

/** URLs that a fetch tool or a browser can open. Any tool may have a URL of a database, but no tool fetches `file:`. */
const SCHEME = /^([a-z][a-z\d+.-]{1,15}):(?=\/\/|\w)/i;
const isUnserved = (values: readonly string[], opens: boolean): boolean =>
  values.some((value) => {
    const scheme = SCHEME.exec(value)?.[1]?.toLowerCase();
    const asUrl = scheme !== undefined && !/\s/.test(value) && !/^(?:https?|wss?)$/.test(scheme);
    return asUrl && (scheme === 'file' || (opens && value.startsWith(`${scheme}://`)));
  });

/** Arguments that hold a program. `code` and `source` may also be an order's code and a town. */
const PROGRAMS: readonly (readonly [string, RegExp])[] = [
  ...['command', 'cmd', 'script'].map((key) => [key, /\S\s+\S/] as const),
  ...['code', 'source'].map((key) => [key, /\n|[\w\])]\(|[=;{}]/] as const),
];
const INTERPRETER =
  /^(?:\S*\/)?(?:python[\d.]*|node|deno|bun|ruby|perl|php|bash|sh|zsh|pwsh|npm|npx|pytest|make|ls|env)$/;
const hasProgram = (input: unknown): boolean =>
  PROGRAMS.some(([key, pattern]) => {
    const value = read(input, key);
    const text = Array.isArray(value) ? value.slice(0, 16).join(' ') : value;
    return typeof text === 'string' && (pattern.test(text.trim()) || INTERPRETER.test(text.trim()));
  });

/** Words of the arguments by which a text speaks about them: of 4 characters or more, not of an outage, and not the tool's name. */
const literalsOf = (values: readonly string[], tool: string): readonly string[] => {
  const named = new Set(tool.toLowerCase().split(/[^a-z\d]+/));
  const words = values.flatMap((value) => {
    const parts = value.length < 100 ? value.split(/[\s,;]+/) : [];
    const special =
      parts.length > 6 ? [] : parts.filter((part) => /[A-Z\d@/_-]/.test(part.slice(1)) || /^[A-Z]/.test(part));
    return [value, ...special];
  });
  return [...new Set(words)].filter((word) => {
    const lower = word.toLowerCase();
    return word.length > 3 && word.length < 256 && !named.has(lower) && !isOutageWord(lower);
  });
};

/** Whether a text says what the tool does, as in 'Error searching libraries' of `search_libraries`: then the tool speaks, not its content. */
export const isOfTool = (text: string, { name }: Call): boolean => {
  const stems = name.split(' ').map((word) => word.replace(/(?:ies|es|s|e|y)$/, ''));
  const lower = text.toLowerCase();
  return stems.length > 1 && stems.every((stem) => stem.length > 2 && lower.includes(stem));
};

/** What the classifier knows about a call. */
export interface Call {
  readonly context: ReadContext | undefined;
  readonly kind: ToolKind | undefined;
  /** The strings in its arguments, and the parts of its URL, which an error may quote. */
  readonly quoted: readonly string[];
  readonly literals: readonly string[];
  readonly target: URL | undefined;
  /** Its URL cannot be fetched: that is the fault of the argument. */
  readonly isUnserved: boolean;
  /** Whether a host can be reached is the question. */
  readonly asksForHost: boolean;
  /** Its result is the content of a file or a table. */
  readonly reads: boolean;
  /** The tool's name in words. */
  readonly name: string;
}

export const callOf = (context: ReadContext | undefined): Call => {
  const tool = readText(context, 'tool', 200) ?? '';
  const input = read(context, 'input');
  const given = read(context, 'kind') as ToolKind | false | undefined;
  const kind = given === false ? undefined : (given ?? kindOf(tool) ?? (hasProgram(input) ? 'runner' : undefined));
  const values = stringsIn(input);
  const target = targetIn(input);
  const keys = typeof input === 'object' && input !== null ? readKeys(input) : [];
  const name = spaced(tool);
  return {
    context,
    kind,
    quoted: target ? [...values, target.pathname, target.pathname.slice(1)] : values,
    literals: literalsOf(values, name),
    target,
    isUnserved: isUnserved(values, kind === 'fetch' || kind === 'browser'),
    asksForHost:
      CHECKS.test(name) ||
      (keys.length > 1 && keys.some((key) => HOST_KEY.test(key)) && keys.every((key) => CHECKED.test(key))),
    name,
    reads: READ_BY_NAME.test(name) || keys.some((key) => READS.test(key)),
  };
};
