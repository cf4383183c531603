import {
  type Breakerbox,
  type BreakerboxConfig,
  BreakerboxConfigError,
  CIRCUIT_MODES,
  type ConfigIssue,
} from '@breakerbox/core';
import type { CapabilityMap } from '@breakerbox/core/scope';
import { loadCapabilities } from './capabilities.ts';
import { inMode } from './config/in-mode.ts';
import { type FileSettings, readConfig } from './config/load-config.ts';
import { watchConfig } from './config/watch-config.ts';

/** The environment of the process, or one that a test gives. */
export type Environment = Readonly<Record<string, string | undefined>>;

const SCOPES = ['session', 'process', 'none'] as const;
/** The variables that are read here. Core reads the last one. */
const NAMES = [
  'BREAKERBOX_AGENT',
  'BREAKERBOX_CONFIG',
  'BREAKERBOX_CAPABILITIES',
  'BREAKERBOX_SCOPE',
  'BREAKERBOX_MODE',
  'BREAKERBOX_WARNINGS',
] as const;
/** Variables of `@breakerbox/control`, of the demo's start script, or of Kubernetes for a service named `breakerbox-…`. */
const isOfOthers = (name: string): boolean =>
  /^BREAKERBOX_(?:PARENT$|CONTROL(?:_|$))|_(?:SERVICE_HOST|(?:SERVICE_)?PORT(?:_\w+)?)$/.test(name);

/** What the variables say. */
export interface Registration {
  readonly config: BreakerboxConfig;
  /** Lets the box follow the configuration file, if there is one. Gives a function that ends it. */
  follow(box: Breakerbox): (() => void) | undefined;
}

/**
 * The box's configuration from the `BREAKERBOX_` variables. Empty ones count as not set. A variable wins over the configuration file.
 *
 * @throws BreakerboxConfigError listing all that can't work: variables, unknown variables, and the files.
 */
export const registrationOf = async (env: Environment): Promise<Registration> => {
  const read = (name: (typeof NAMES)[number] | 'OTEL_SERVICE_NAME'): string | undefined =>
    env[name]?.trim() || undefined;
  const issues: ConfigIssue[] = Object.keys(env)
    .filter((name) => name.startsWith('BREAKERBOX_') && !isOfOthers(name) && !NAMES.some((known) => known === name))
    .map((name) => ({
      path: name,
      message: `is not a variable that Breakerbox reads. Correct its name or unset it. The variables are ${NAMES.join(', ')}.`,
    }));
  const oneOf = <Value extends string>(name: (typeof NAMES)[number], values: readonly Value[]): Value | undefined => {
    const given = read(name);
    const value = values.find((one) => one === given);
    if (given !== undefined && value === undefined) {
      issues.push({ path: name, message: `is '${given}'. Set one of ${values.join(', ')}, or leave it out.` });
    }
    return value;
  };
  const mode = oneOf('BREAKERBOX_MODE', CIRCUIT_MODES);
  const scope = oneOf('BREAKERBOX_SCOPE', SCOPES);
  const map = await loaded('BREAKERBOX_CAPABILITIES', read, loadCapabilities, issues);
  const file = read('BREAKERBOX_CONFIG');
  const found = await loaded('BREAKERBOX_CONFIG', read, readConfig, issues);
  if (issues.length > 0) throw new BreakerboxConfigError(issues, 'environment');
  const adjust = (settings: FileSettings): FileSettings => {
    const own = { ...settings, ...(scope && { scope }), ...(map && { tools: joined(map, settings) }) };
    return mode === undefined ? own : inMode(own, mode);
  };
  return {
    config: {
      agent: read('BREAKERBOX_AGENT') ?? found?.agent ?? read('OTEL_SERVICE_NAME') ?? 'unknown_agent',
      ...adjust(found?.settings ?? {}),
    },
    follow: (box) => (file === undefined ? undefined : watchConfig(box, file, { adjust }).stop),
  };
};

/** The settings of tools in the configuration file win over the capability map. */
const joined = ({ tools }: CapabilityMap, { tools: own = {} }: FileSettings): NonNullable<FileSettings['tools']> => ({
  ...tools,
  ...Object.fromEntries(Object.entries(own).map(([name, tool]) => [name, { ...tools[name], ...tool }])),
});

type Name = (typeof NAMES)[number];

const loaded = async <Value>(
  name: Name,
  read: (name: Name) => string | undefined,
  load: (file: string) => Value | Promise<Value>,
  issues: ConfigIssue[],
): Promise<Value | undefined> => {
  const file = read(name);
  if (file === undefined) return undefined;
  try {
    return await load(file);
  } catch (error) {
    return issuesOf(name, file, issues)(error);
  }
};

const issuesOf =
  (name: Name, file: string, issues: ConfigIssue[]) =>
  (error: unknown): undefined => {
    if (!(error instanceof BreakerboxConfigError)) throw error;
    for (const { path, message } of error.issues) {
      issues.push({ path: `${name}, ${file}: ${path}`, message });
    }
  };
