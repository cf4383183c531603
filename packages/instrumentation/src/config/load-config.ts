import { closeSync, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { resolve } from 'node:path';
import { type BreakerboxConfig, BreakerboxConfigError, type ConfigIssue } from '@breakerbox/core';
import { readJson, validateConfig } from '@breakerbox/core/internal';
import {
  expanded,
  isJson,
  parsed,
  pathOf,
  placed,
  type Source,
  textIn,
  throwIfAny,
  unreadable,
} from '../settings-file.ts';
import { MOST_BYTES, tooMuch } from '../settings-limits.ts';
import { functionIssues, isRecord, withoutFunctions } from './functions-in-file.ts';
import { healthCheckIssues, withHealthCheck } from './health-check.ts';

/** The settings of a box that a file can have: everything but the agent's name, the clock and the fleet. A health check is a function here. */
export type FileSettings = Omit<BreakerboxConfig, 'agent' | 'clock' | 'fleet'>;

/** What a configuration file says. */
export interface ConfigFile {
  /** The agent's name, for programs without code of their own. Undefined if the file does not name it. */
  readonly agent: string | undefined;
  readonly settings: FileSettings;
}

/**
 * Reads the settings of a box from a `.yaml`, `.yml` or `.json` file: everything that `createBreakerbox` takes, except functions. The
 * health check of `systemic.recovery` is an address there. Reads
 * synchronously, so call it once at the start. The agent's name in the file is left out, because your code names its agent: see
 * {@link readConfig}.
 *
 * @throws {BreakerboxConfigError} listing the first 100 faults, each with the line, the path of the setting, and how to fix it: a file
 * that cannot be read, text that cannot be parsed, and everything that `createBreakerbox` rejects. The limits are those of
 * `loadCapabilities`.
 * @throws {BreakerboxUsageError} if the path is neither a string nor a `file:` URL.
 *
 * @example
 * ```ts
 * const box = createBreakerbox({ agent: 'research-agent', ...loadConfig('breakerbox.yaml') });
 * ```
 */
export const loadConfig = (path: string | URL): FileSettings => readConfig(path).settings;

/**
 * The same, with the agent's name. For programs that are not written for one agent, such as `breakerbox mcp`.
 *
 * @throws {BreakerboxConfigError} as {@link loadConfig} does.
 */
export const readConfig = (path: string | URL): ConfigFile => {
  const source = { what: 'configuration file', name: pathOf(path, 'loadConfig', 'breakerbox.yaml') };
  const { bytes, state } = contentOf(path, source);
  const { agent, ...settings } = valueIn(source, bytes);
  latest.set(resolve(source.name), { settings, state });
  return { agent, settings };
};

/** What the program has read of a file. */
interface Latest {
  readonly settings: FileSettings;
  /** The state in which the file was, as {@link stateOf} says it. */
  readonly state: string;
}

/** What this process has read last, by the path of the file. */
const latest = new Map<string, Latest>();

/** What the program has read of a file. The program's settings are compared with it, to tell which ones are its own. */
export const latestOf = (path: string | URL): Latest => {
  const name = resolve(pathOf(path, 'watchConfig', 'breakerbox.yaml'));
  if (!latest.has(name)) loadConfig(path);
  return latest.get(name) as Latest;
};

/** Differs if the file has changed. */
export const stateOf = ({ mtimeMs, size, ino }: Stats): string => `${mtimeMs} ${size} ${ino}`;

type Value = FileSettings & { readonly agent?: string };

const valueIn = (source: Source, bytes: Uint8Array): Value => {
  const isOfJson = isJson(source);
  const text = textIn(bytes, source);
  const { document, lineOf, issues } = parsed(text, source);
  throwIfAny(isOfJson ? issues.filter(({ code }) => code === 'DUPLICATE_KEY') : issues, source);
  const value = isOfJson ? jsonOf(text, source) : expanded(document, source);
  const faults = [...tooMuch(value), ...faultsOf(value)];
  throwIfAny(
    faults.map((issue) => placed(issue, lineOf)),
    source,
  );
  return withHealthCheck(value) as Value;
};

const jsonOf = (text: string, source: Source): unknown => {
  const { value, issue } = readJson(text, '{}');
  throwIfAny(issue === undefined ? [] : [issue], source);
  return value;
};

/** Reads one byte more than the limit at most. */
const contentOf = (path: string | URL, source: Source): { readonly bytes: Uint8Array; readonly state: string } => {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const state = stateOf(fstatSync(file)); // Before the bytes: a change in between is found later.
    const bytes = Buffer.alloc(MOST_BYTES + 1);
    let length = 0;
    for (let more = 1; more > 0 && length < bytes.length; length += more)
      more = readSync(file, bytes, length, bytes.length - length, null);
    return { bytes: bytes.subarray(0, length), state };
  } catch (error) {
    throw unreadable(source, error as NodeJS.ErrnoException);
  } finally {
    if (file !== undefined) closeSync(file);
  }
};

const WRITE = 'Write settings such as { defaults: { failureThreshold: 5 } }';

/** The same checks as those of `createBreakerbox`. */
const faultsOf = (value: unknown): readonly ConfigIssue[] => {
  if (value === null || value === undefined)
    return [{ path: 'file', message: `is empty. ${WRITE}, or leave the file out.` }];
  if (!isRecord(value)) return [{ path: 'file', message: `is not an object. ${WRITE}.` }];
  const ofFiles = [...functionIssues(value), ...healthCheckIssues(value)];
  const known = new Set(ofFiles.map(({ path }) => path));
  return [...ofFiles, ...boxIssues(withHealthCheck(value)).filter(({ path }) => !known.has(path))];
};

/**
 * The agent and the fleet are named in code, and so may be the scope. `process` with a fleet allows all settings; whether they fit the
 * scope in code is for `createBreakerbox` to say.
 */
const boxIssues = (value: unknown): readonly ConfigIssue[] => {
  try {
    validateConfig((isRecord(value) ? { ...IN_CODE, ...value, ...fleetIn(value) } : value) as BreakerboxConfig);
    return [];
  } catch (error) {
    if (error instanceof BreakerboxConfigError) return error.issues.map(withoutFunctions);
    throw error;
  }
};

const IN_CODE: Partial<BreakerboxConfig> = { agent: 'agent', scope: 'process' };

const fleetIn = ({ scope }: Readonly<Record<string, unknown>>): Partial<BreakerboxConfig> =>
  scope === undefined || scope === 'process' ? { fleet: { join: () => {} } } : {};
