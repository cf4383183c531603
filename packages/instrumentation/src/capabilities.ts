import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BreakerboxConfigError, BreakerboxUsageError, type ConfigIssue } from '@breakerbox/core';
import { type CapabilityMap, parseCapabilities, validateCapabilities } from '@breakerbox/core/scope';
import { type Document, isAlias, isNode, isScalar, LineCounter, parseDocument, visit, type YAMLError } from 'yaml';
import { MOST_BYTES, tooDeep, tooMuch } from './capability-limits.ts';

/** Most aliases in a file. A small file whose aliases refer to aliases can expand to gigabytes; real files have few. */
const MOST_ALIASES = 100;

const READERS: Readonly<Record<string, (text: string, name: string) => CapabilityMap>> = {
  '.yaml': (text, name) => parseCapabilitiesYaml(text, name),
  '.yml': (text, name) => parseCapabilitiesYaml(text, name),
  '.json': (text, name) => parseJson(text, name),
};

/**
 * Reads a capability map (R1) from a `.yaml`, `.yml` or `.json` file. For each tool it says what the tool provides, its
 * alternatives, the manual fallback, and what the tool depends on. The warnings name tools with neither alternative nor fallback.
 *
 * @throws {BreakerboxConfigError} listing the first 100 faults and where they are: a missing file, another extension, text that is not
 * UTF-8 or cannot be parsed (with line and column), a duplicate key, more than 100 expanded aliases, 128 KB, 1,000 tools, 32 levels or
 * 1,000 characters in a text, and all that `validateCapabilities` of `@breakerbox/core` rejects.
 * @throws {BreakerboxUsageError} if the path is neither a string nor a `file:` URL.
 *
 * @example
 * ```ts
 * const { tools, warnings } = await loadCapabilities('capabilities.yaml');
 * for (const { path, message } of warnings) report(`${path} ${message}`);
 * const box = createBreakerbox({ agent: 'research-agent', tools });
 * ```
 */
export const loadCapabilities = async (path: string | URL): Promise<CapabilityMap> => {
  const name = nameOf(path);
  const extension = extname(name).toLowerCase();
  const read = Object.hasOwn(READERS, extension) ? READERS[extension] : undefined;
  if (read === undefined) {
    const known = Object.keys(READERS).join(', ');
    const given = extension === '' ? 'has no extension' : `ends in ${extension}`;
    throw capabilityError(name, [
      {
        path: 'file',
        message: `${given}, but the extension decides how the file is read. Rename the file to end in one of ${known}.`,
      },
    ]);
  }
  return read(await textOf(path, name), name);
};

/**
 * A capability map from YAML or JSON text, read as {@link loadCapabilities} reads a file. `name` says in errors where the text is
 * from; default `capabilities.yaml`.
 *
 * @throws {BreakerboxConfigError} as {@link loadCapabilities} does.
 *
 * @example
 * ```ts
 * const { tools } = parseCapabilitiesYaml('tools: { web_search: { fallback: ask the user for a link } }');
 * ```
 */
export const parseCapabilitiesYaml = (text: string, name = 'capabilities.yaml'): CapabilityMap => {
  if (typeof text !== 'string') {
    throw new BreakerboxUsageError(
      `parseCapabilitiesYaml takes the text of a capability map, but got ${typeof text}. Give the content of the file, or ` +
        'give the path to loadCapabilities.',
    );
  }
  throwIfTooLong(text.length, name);
  const { document, issues } = parsed(text, name);
  throwIfAny(issues, name);
  const value = expanded(document, name);
  throwIfAny(tooMuch(value), name);
  return named(name, () => validateCapabilities(value));
};

/** JSON parsers silently keep the last of two equal keys. YAML includes JSON, and its parser finds duplicates. */
const parseJson = (text: string, name: string): CapabilityMap => {
  throwIfTooDeep(text, name);
  const map = named(name, () => parseCapabilities(text));
  throwIfAny(tooMuch(map), name);
  const twice = parsed(text, name).issues.filter(({ code }) => code === 'DUPLICATE_KEY');
  throwIfAny(twice, name);
  return map;
};

const nameOf = (path: unknown): string => {
  if (typeof path === 'string' && path !== '') return path;
  if (path instanceof URL && path.protocol === 'file:') return fileURLToPath(path);
  const given = path instanceof URL ? `a ${path.protocol} URL` : path === '' ? 'an empty string' : `${typeof path}`;
  throw new BreakerboxUsageError(
    `loadCapabilities takes the path of a file, but got ${given}. Give a path such as 'capabilities.yaml', or a file: URL.`,
  );
};

const textOf = async (path: string | URL, name: string): Promise<string> => {
  const bytes = await bytesOf(path).catch((error: NodeJS.ErrnoException) => {
    throw capabilityError(name, [{ path: 'file', message: unreadable(error) }], error);
  });
  throwIfTooLong(bytes.length, name);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const message = `is not UTF-8 text, so names in it would be garbled. Save it as UTF-8.`;
    throw capabilityError(name, [{ path: 'file', message }], error);
  }
};

/** Reads one byte more than the limit at most. */
const bytesOf = async (path: string | URL): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path, { end: MOST_BYTES })) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const throwIfTooLong = (length: number, name: string): void => {
  if (length <= MOST_BYTES) return;
  const message = 'has more than 128 KB, which is too large for a capability map. Give a smaller file.';
  throw capabilityError(name, [{ path: 'file', message }]);
};

const throwIfTooDeep = (text: string, name: string): void => {
  const issue = tooDeep(text);
  throwIfAny(issue === undefined ? [] : [issue], name);
};

const throwIfAny = (issues: readonly ConfigIssue[], name: string): void => {
  if (issues.length > 0) throw capabilityError(name, issues);
};

const unreadable = ({ code = 'unknown' }: NodeJS.ErrnoException): string => {
  if (code === 'ENOENT') {
    return `doesn't exist (ENOENT). Correct the path. A relative path starts at the working directory of the process.`;
  }
  if (code === 'EISDIR') return `is a folder (EISDIR). Give the path of the file in it.`;
  return `can't be read (${code}). Look at the permissions of the file and of the folders above it.`;
};

interface Parsed {
  readonly document: Document.Parsed;
  readonly issues: readonly (ConfigIssue & { readonly code: YAMLError['code'] })[];
}

const parsed = (text: string, name: string): Parsed => {
  throwIfTooDeep(text, name);
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
    return { document, issues };
  } catch (error) {
    const message = `can't be parsed (${error instanceof Error ? error.message : error}). Correct the text.`;
    throw capabilityError(name, [{ path: 'file', message }], error);
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

const expanded = (document: Document.Parsed, name: string): unknown => {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    const why = error instanceof Error ? error.message : `${error}`;
    const message = `has aliases that can't be expanded (${why}). Write out the values in place of the aliases.`;
    throw capabilityError(name, [{ path: 'file', message }], error);
  }
};

/** Adds the name of the file to core's errors. */
const named = (name: string, read: () => CapabilityMap): CapabilityMap => {
  try {
    return read();
  } catch (error) {
    throw error instanceof BreakerboxConfigError ? capabilityError(name, error.issues) : error;
  }
};

const capabilityError = (name: string, issues: readonly ConfigIssue[], cause?: unknown): BreakerboxConfigError => {
  const error = new BreakerboxConfigError(issues, `capability file '${name}'`);
  if (cause !== undefined) error.cause = cause;
  return error;
};
