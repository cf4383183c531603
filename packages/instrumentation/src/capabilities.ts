import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  BreakerboxConfigError,
  BreakerboxUsageError,
  type CapabilityMap,
  type ConfigIssue,
  parseCapabilities,
  validateCapabilities,
} from '@breakerbox/core';
import { type Document, isAlias, isNode, LineCounter, parseDocument, visit, type YAMLError } from 'yaml';

/** A small file in which aliases stand for aliases can unfold to gigabytes; a map that people wrote has few. */
const MOST_ALIASES = 100;

/** The parser takes seconds for more of it, in which the process does nothing else. */
const MOST_BYTES = 1_000_000;

const READERS: Readonly<Record<string, (text: string, name: string) => CapabilityMap>> = {
  '.yaml': (text, name) => parseCapabilitiesYaml(text, name),
  '.yml': (text, name) => parseCapabilitiesYaml(text, name),
  '.json': (text, name) => parseJson(text, name),
};

/**
 * Reads a capability map (R1) from a file, `.yaml`, `.yml` or `.json`: for each tool what it provides, its alternatives, the
 * manual fallback, and what it depends on. The warnings name tools that have neither alternative nor fallback.
 *
 * @throws {BreakerboxConfigError} with what is wrong (the first 100 faults), and where: no such file, another extension, a text that isn't UTF-8 or
 * can't be parsed (with line and column), a key that is there twice, more than 100 aliases unfolded, more than 1 MB, and whatever
 * `validateCapabilities` of `@breakerbox/core` refuses.
 * @throws {BreakerboxUsageError} for a path that is neither a text nor a `file:` URL.
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
    throw refusal(name, [{ path: 'file', message: `${given}, and what it holds is known by that. Name it ${known}.` }]);
  }
  return read(await textOf(path, name), name);
};

/**
 * The same for a YAML text, or a JSON one. `name` says in errors where the text is from; default `capabilities.yaml`.
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
      `parseCapabilitiesYaml takes the text of a capability map, and got ${typeof text}. Give it what the file holds, or ` +
        'give the path to loadCapabilities.',
    );
  }
  refuseLong(text.length, name);
  const { document, issues } = parsed(text, name);
  if (issues.length > 0) throw refusal(name, issues);
  const value = unfolded(document, name);
  return named(name, () => validateCapabilities(value));
};

/** JSON keeps the last of two equal keys in silence; YAML, which it is a part of, finds both. */
const parseJson = (text: string, name: string): CapabilityMap => {
  const map = named(name, () => parseCapabilities(text));
  const twice = parsed(text, name).issues.filter(({ code }) => code === 'DUPLICATE_KEY');
  if (twice.length > 0) throw refusal(name, twice);
  return map;
};

const nameOf = (path: unknown): string => {
  if (typeof path === 'string' && path !== '') return path;
  if (path instanceof URL && path.protocol === 'file:') return fileURLToPath(path);
  const given = path instanceof URL ? `a ${path.protocol} URL` : path === '' ? 'an empty text' : `${typeof path}`;
  throw new BreakerboxUsageError(
    `loadCapabilities takes the path of a file, and got ${given}. Give a path such as 'capabilities.yaml', or a file: URL.`,
  );
};

const textOf = async (path: string | URL, name: string): Promise<string> => {
  const bytes = await bytesOf(path).catch((error: NodeJS.ErrnoException) => {
    throw refusal(name, [{ path: 'file', message: unreadable(error) }], error);
  });
  refuseLong(bytes.length, name);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const message = `is no text in UTF-8, so names in it would be garbled. Save it as UTF-8.`;
    throw refusal(name, [{ path: 'file', message }], error);
  }
};

/** One more than it may have, at most. */
const bytesOf = async (path: string | URL): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path, { end: MOST_BYTES })) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const refuseLong = (length: number, name: string): void => {
  if (length <= MOST_BYTES) return;
  const message =
    'has more than 1 MB, and a map that people wrote has not. Give a capability map, or one with shorter notes.';
  throw refusal(name, [{ path: 'file', message }]);
};

const unreadable = ({ code = 'unknown' }: NodeJS.ErrnoException): string => {
  if (code === 'ENOENT') {
    return `isn't there (ENOENT). Correct the path; a relative one is looked for in the folder that the process runs in.`;
  }
  if (code === 'EISDIR') return `is a folder (EISDIR). Give the path of the file in it.`;
  return `can't be read (${code}). Look at the permissions of the file and of the folders above it.`;
};

interface Parsed {
  readonly document: Document.Parsed;
  readonly issues: readonly (ConfigIssue & { readonly code: YAMLError['code'] })[];
}

const parsed = (text: string, name: string): Parsed => {
  const lineCounter = new LineCounter();
  try {
    // `error`: nothing of this goes to the process's warnings.
    const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'error' });
    const faults = [...document.errors, ...document.warnings, ...lostAliases(document)];
    const issues = faults.map(({ pos: [start], code, message }) => {
      const { line, col } = lineCounter.linePos(start);
      return { path: `line ${line}, column ${col}`, message: sentence(code, message), code };
    });
    return { document, issues };
  } catch (error) {
    // Nesting so deep that the parser runs out of stack.
    const message = `can't be parsed (${error instanceof Error ? error.message : error}). Mend the text.`;
    throw refusal(name, [{ path: 'file', message }], error);
  }
};

/** Aliases of what doesn't stand before them, or of what they stand in: the parser finds them late, and says no place. */
const lostAliases = (document: Document.Parsed): readonly Pick<YAMLError, 'pos' | 'code' | 'message'>[] => {
  const lost: Pick<YAMLError, 'pos' | 'code' | 'message'>[] = [];
  const anchored = new Map<string, number>();
  visit(document, (_, node) => {
    if (isAlias(node)) {
      const start = node.range?.[0] ?? 0;
      // An anchor's own end lies behind the alias where it is a part of what it stands for.
      if ((anchored.get(node.source) ?? Number.POSITIVE_INFINITY) <= start) return;
      const message = `*${node.source} stands for nothing that is complete before it`;
      lost.push({ pos: [start, start], code: 'BAD_ALIAS', message });
    } else if (isNode(node) && 'anchor' in node && typeof node.anchor === 'string') {
      anchored.set(node.anchor, node.range?.[1] ?? 0);
    }
  });
  return lost;
};

const sentence = (code: YAMLError['code'], message: string): string => {
  if (code === 'DUPLICATE_KEY')
    return `is a key that stands here already: one of the two would be lost. Leave one out.`;
  if (code === 'MULTIPLE_DOCS') return `begins a second document, which nobody would read. Put all tools into one.`;
  const why = message.replace(/\s+/g, ' ').replace(/[.:]$/, '');
  return `isn't YAML that can be read: ${why}. Mend the text.`;
};

const unfolded = (document: Document.Parsed, name: string): unknown => {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    const why = error instanceof Error ? error.message : `${error}`;
    const message = `has aliases that can't be unfolded (${why}). Write out what they stand for.`;
    throw refusal(name, [{ path: 'file', message }], error);
  }
};

/** What core says is wrong, with the name of the file. */
const named = (name: string, read: () => CapabilityMap): CapabilityMap => {
  try {
    return read();
  } catch (error) {
    throw error instanceof BreakerboxConfigError ? refusal(name, error.issues) : error;
  }
};

const refusal = (name: string, issues: readonly ConfigIssue[], cause?: unknown): BreakerboxConfigError => {
  const error = new BreakerboxConfigError(issues, `capability file '${name}'`);
  if (cause !== undefined) error.cause = cause;
  return error;
};
