import { createReadStream } from 'node:fs';
import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { type CapabilityMap, parseCapabilities, validateCapabilities } from '@breakerbox/core/scope';
import {
  expanded,
  fileError,
  isJson,
  type Parsed,
  parsed,
  pathOf,
  placed,
  type Source,
  textIn,
  throwIfAny,
  throwIfTooLong,
  unreadable,
} from './settings-file.ts';
import { MOST_BYTES, tooMuch } from './settings-limits.ts';

const WHAT = 'capability file';

/**
 * Reads a capability map (R1) from a `.yaml`, `.yml` or `.json` file. For each tool it says what the tool provides, its
 * alternatives, the manual fallback, and what the tool depends on. The warnings name tools with neither alternative nor fallback.
 *
 * @throws {BreakerboxConfigError} listing the first 100 faults, each with its line: a missing file, another extension, text that is not
 * UTF-8 or cannot be parsed, a duplicate key, more than 100 expanded aliases, 128 KB, 1,000 tools, 32 levels or
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
  const source = { what: WHAT, name: pathOf(path, 'loadCapabilities', 'capabilities.yaml') };
  const read = isJson(source) ? parseJson : parseYaml;
  const bytes = await bytesOf(path).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(source, error);
  });
  return read(textIn(bytes, source), source);
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
  const source = { what: WHAT, name };
  throwIfTooLong(text.length, source);
  return parseYaml(text, source);
};

const parseYaml = (text: string, source: Source): CapabilityMap => {
  const { document, lineOf, issues } = parsed(text, source);
  throwIfAny(issues, source);
  const value = expanded(document, source);
  throwIfAny(
    tooMuch(value).map((issue) => placed(issue, lineOf)),
    source,
  );
  return named(source, lineOf, () => validateCapabilities(value));
};

/** JSON parsers silently keep the last of two equal keys. YAML includes JSON, and its parser finds duplicates. */
const parseJson = (text: string, source: Source): CapabilityMap => {
  const { lineOf, issues } = parsed(text, source);
  const map = named(source, lineOf, () => parseCapabilities(text));
  throwIfAny(
    tooMuch(map).map((issue) => placed(issue, lineOf)),
    source,
  );
  throwIfAny(
    issues.filter(({ code }) => code === 'DUPLICATE_KEY'),
    source,
  );
  return map;
};

/** Reads one byte more than the limit at most. */
const bytesOf = async (path: string | URL): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path, { end: MOST_BYTES })) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/** Adds the name of the file, and the lines in it, to core's errors. */
const named = (source: Source, lineOf: Parsed['lineOf'], read: () => CapabilityMap): CapabilityMap => {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof BreakerboxConfigError)) throw error;
    throw fileError(
      source,
      error.issues.map((issue) => placed(issue, lineOf)),
    );
  }
};
