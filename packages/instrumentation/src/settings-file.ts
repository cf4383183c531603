import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BreakerboxConfigError, BreakerboxUsageError, type ConfigIssue } from '@breakerbox/core';
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { MOST_BYTES, tooDeep } from './settings-limits.ts';

/** Most aliases in a file. A small file whose aliases refer to aliases can expand to gigabytes; real files have few. */
const MOST_ALIASES = 100;

/** Where a text is from, for errors. */
export interface Source {
  /** Such as `capability file`. */
  readonly what: string;
  /** The path of the file, as it was given. */
  readonly name: string;
}

/** The error with everything that is wrong with a file. */
export const fileError = (
  { what, name }: Source,
  issues: readonly ConfigIssue[],
  cause?: unknown,
): BreakerboxConfigError => {
  const error = new BreakerboxConfigError(issues, `${what} '${name}'`);
  if (cause !== undefined) error.cause = cause;
  return error;
};

/** @throws BreakerboxConfigError if there is an issue */
export const throwIfAny = (issues: readonly ConfigIssue[], source: Source): void => {
  if (issues.length > 0) throw fileError(source, issues);
};

/** The path of a file that a caller gave. `call` is the public function, and `like` an example. */
export const pathOf = (path: unknown, call: string, like: string): string => {
  if (typeof path === 'string' && path !== '') return path;
  if (path instanceof URL && path.protocol === 'file:') return fileURLToPath(path);
  const given = path instanceof URL ? `a ${path.protocol} URL` : path === '' ? 'an empty string' : `${typeof path}`;
  throw new BreakerboxUsageError(
    `${call} takes the path of a file, but got ${given}. Give a path such as '${like}', or a file: URL.`,
  );
};

/** The extensions of files that are read. */
const KNOWN: readonly string[] = ['.yaml', '.yml', '.json'];

/** Whether a file is JSON, by its extension. @throws BreakerboxConfigError if it is neither JSON nor YAML */
export const isJson = (source: Source): boolean => {
  const extension = extname(source.name).toLowerCase();
  if (KNOWN.includes(extension)) return extension === '.json';
  const given = extension === '' ? 'has no extension' : `ends in ${extension}`;
  const message = `${given}, but the extension decides how the file is read. Rename the file to end in one of ${KNOWN.join(', ')}.`;
  throw fileError(source, [{ path: 'file', message }]);
};

/** The error of a file that cannot be read. */
export const unreadable = (source: Source, error: NodeJS.ErrnoException): BreakerboxConfigError =>
  fileError(source, [{ path: 'file', message: whyUnreadable(error) }], error);

const whyUnreadable = ({ code = 'unknown' }: NodeJS.ErrnoException): string => {
  if (code === 'ENOENT') {
    return `doesn't exist (ENOENT). Correct the path. A relative path starts at the working directory of the process.`;
  }
  if (code === 'EISDIR') return `is a folder (EISDIR). Give the path of the file in it.`;
  return `can't be read (${code}). Look at the permissions of the file and of the folders above it.`;
};

/** The text in the bytes of a file. */
export const textIn = (bytes: Uint8Array, source: Source): string => {
  throwIfTooLong(bytes.length, source);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const message = `is not UTF-8 text, so names in it would be garbled. Save it as UTF-8.`;
    throw fileError(source, [{ path: 'file', message }], error);
  }
};

/** @throws BreakerboxConfigError if a file is larger than {@link MOST_BYTES} */
export const throwIfTooLong = (length: number, source: Source): void => {
  if (length <= MOST_BYTES) return;
  const message = `has more than 128 KB, which is too large for a ${source.what.replace(/ file$/, '')}. Give a smaller file.`;
  throw fileError(source, [{ path: 'file', message }]);
};

/** @throws BreakerboxConfigError if lists and objects nest too deep for a parser */
const throwIfTooDeep = (text: string, source: Source): void => {
  const issue = tooDeep(text);
  throwIfAny(issue === undefined ? [] : [issue], source);
};

/** A parsed text, and what is wrong with it. */
export interface Parsed {
  readonly document: Document.Parsed;
  /** Where a part of the document is, such as `line 3`. `path` is the path of an issue. */
  lineOf(path: string): string | undefined;
  readonly issues: readonly (ConfigIssue & { readonly code: YAMLError['code'] })[];
}

/** Parses YAML. JSON is a part of it, and this finds duplicate keys, which JSON.parse does not. */
export const parsed = (text: string, source: Source): Parsed => {
  throwIfTooDeep(text, source);
  const lineCounter = new LineCounter();
  try {
    // `error`, so that the parser prints no warnings to the process. Its own search for duplicate keys compares each key with all others.
    const options = { lineCounter, prettyErrors: false, logLevel: 'error', uniqueKeys: false } as const;
    const document = parseDocument(text, options);
    const found = [...document.errors, ...document.warnings, ...lostAliases(document), ...duplicates(document)];
    const faults = found.toSorted((one, other) => one.pos[0] - other.pos[0]);
    const issues = faults.map(({ pos: [start], code, message }) => {
      const { line, col } = lineCounter.linePos(start);
      return { path: `line ${line}, column ${col}`, message: sentence(code, message), code };
    });
    return { document, lineOf: (path) => lineOf(document, lineCounter, path), issues };
  } catch (error) {
    const message = `can't be parsed (${error instanceof Error ? error.message : error}). Correct the text.`;
    throw fileError(source, [{ path: 'file', message }], error);
  }
};

type Fault = Pick<YAMLError, 'pos' | 'code' | 'message'>;

const duplicates = (document: Document.Parsed): readonly Fault[] => {
  const found: Fault[] = [];
  visit(document, {
    Map: (_, { items }) => {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const start = key.range?.[0] ?? 0;
        if (keys.has(key.value)) found.push({ pos: [start, start], code: 'DUPLICATE_KEY', message: '' });
        keys.add(key.value);
      }
    },
  });
  return found;
};

/** Aliases without a complete anchor before them. The parser finds them late, and gives no position. */
const lostAliases = (document: Document.Parsed): readonly Fault[] => {
  const lost: Fault[] = [];
  const anchored = new Map<string, number>();
  visit(document, (_, node) => {
    if (isAlias(node)) {
      const start = node.range?.[0] ?? 0;
      // If the alias is part of the anchored value, the anchor's own end is behind the alias.
      if ((anchored.get(node.source) ?? Number.POSITIVE_INFINITY) <= start) return;
      const message = `*${node.source} has no complete anchor before it`;
      lost.push({ pos: [start, start], code: 'BAD_ALIAS', message });
    } else if (isNode(node) && 'anchor' in node && typeof node.anchor === 'string') {
      anchored.set(node.anchor, node.range?.[1] ?? 0);
    }
  });
  return lost;
};

const sentence = (code: YAMLError['code'], message: string): string => {
  if (code === 'DUPLICATE_KEY') return `is a duplicate key: only one of the two would be used. Remove one.`;
  if (code === 'MULTIPLE_DOCS') return `begins a second document, which is not read. Put all tools into one document.`;
  const why = message.replace(/\s+/g, ' ').replace(/[.:]$/, '');
  return `is not valid YAML: ${why}. Correct the text.`;
};

/** The values of a document, with its aliases in place. */
export const expanded = (document: Document.Parsed, source: Source): unknown => {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    const why = error instanceof Error ? error.message : `${error}`;
    const message = `has aliases that can't be expanded (${why}). Write out the values in place of the aliases.`;
    throw fileError(source, [{ path: 'file', message }], error);
  }
};

/**
 * The line of a setting. Names of tools may contain dots and brackets, so each step takes the longest key that the path begins with. A
 * part that the document does not have (it is missing, or its name was shortened) has the line of what should contain it.
 */
const lineOf = (document: Document.Parsed, lineCounter: LineCounter, path: string): string | undefined => {
  let start: number | undefined;
  let node: unknown = document.contents;
  let rest = path;
  for (;;) {
    const value: unknown = isAlias(node) ? node.resolve(document) : node;
    const step = isMap(value) ? keyIn(value.items, rest) : isSeq(value) ? itemIn(value.items, rest) : undefined;
    if (step === undefined) break;
    ({ node, rest } = step);
    start = step.start ?? start;
  }
  return start === undefined ? undefined : `line ${lineCounter.linePos(start).line}`;
};

/** The issue with its line in front of its path, if the document has that path. */
export const placed = ({ path, message }: ConfigIssue, lineOf: Parsed['lineOf']): ConfigIssue => {
  const line = lineOf(path);
  return { path: line === undefined ? path : `${line}, ${path}`, message: /(?:^|\.)<<$/.test(path) ? MERGE : message };
};

const MERGE =
  'is a merge key, which YAML 1.2 does not have, so it is not read. Put the shared settings into defaults, or write them out.';

interface Step {
  readonly node: unknown;
  readonly rest: string;
  readonly start: number | undefined;
}

const keyIn = (
  items: readonly { readonly key: unknown; readonly value: unknown }[],
  path: string,
): Step | undefined => {
  let found: Step | undefined;
  let longest = -1;
  for (const { key, value } of items) {
    if (!isScalar(key)) continue;
    const name = `${key.value}`;
    for (const written of [name, `.${name}`, `['${name}']`]) {
      if (written === '' || written.length <= longest || !path.startsWith(written)) continue; // An empty key leads nowhere.
      const rest = path.slice(written.length);
      if (rest !== '' && !/^[.[]/.test(rest)) continue;
      longest = written.length;
      found = { node: value, rest, start: key.range?.[0] };
    }
  }
  return found;
};

const itemIn = (items: readonly unknown[], path: string): Step | undefined => {
  const [written, index = ''] = /^\[(\d+)\]/.exec(path) ?? [];
  const node = items[Number(index)];
  if (written === undefined || node === undefined) return undefined;
  return { node, rest: path.slice(written.length), start: isNode(node) ? node.range?.[0] : undefined };
};
