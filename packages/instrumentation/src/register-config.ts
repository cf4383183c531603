import { type BreakerboxConfig, BreakerboxConfigError, CIRCUIT_MODES, type ConfigIssue } from '@breakerbox/core';
import { loadCapabilities } from './capabilities.ts';

/** The environment of the process, or one that a test gives. */
export type Environment = Readonly<Record<string, string | undefined>>;

const SCOPES = ['session', 'process', 'none'] as const;
/** The variables that are read here. Core reads the last one. */
const NAMES = [
  'BREAKERBOX_AGENT',
  'BREAKERBOX_CAPABILITIES',
  'BREAKERBOX_SCOPE',
  'BREAKERBOX_MODE',
  'BREAKERBOX_WARNINGS',
] as const;
/** Variables of `@breakerbox/control`, of the demo's start script, or of Kubernetes for a service named `breakerbox-…`. */
const isOfOthers = (name: string): boolean =>
  /^BREAKERBOX_(?:PARENT$|CONTROL(?:_|$))|_(?:SERVICE_HOST|(?:SERVICE_)?PORT(?:_\w+)?)$/.test(name);

/**
 * The box's configuration from the `BREAKERBOX_` variables. Empty ones count as not set.
 *
 * @throws BreakerboxConfigError listing all that can't work: variables, unknown variables, and the capability file.
 */
export const boxConfigOf = async (env: Environment): Promise<BreakerboxConfig> => {
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
  const file = read('BREAKERBOX_CAPABILITIES');
  const map = file === undefined ? undefined : await loadCapabilities(file).catch(issuesOf(file, issues));
  if (issues.length > 0) throw new BreakerboxConfigError(issues, 'environment');
  return {
    agent: read('BREAKERBOX_AGENT') ?? read('OTEL_SERVICE_NAME') ?? 'unknown_agent',
    ...(mode && { defaults: { mode } }),
    ...(scope && { scope }),
    ...(map && { tools: map.tools }),
  };
};

const issuesOf =
  (file: string, issues: ConfigIssue[]) =>
  (error: unknown): undefined => {
    if (!(error instanceof BreakerboxConfigError)) throw error;
    for (const { path, message } of error.issues) {
      issues.push({ path: `BREAKERBOX_CAPABILITIES, ${file}: ${path}`, message });
    }
  };
