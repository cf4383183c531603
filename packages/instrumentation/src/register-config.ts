import { type BreakerboxConfig, BreakerboxConfigError, CIRCUIT_MODES, type ConfigIssue } from '@breakerbox/core';
import { loadCapabilities } from './capabilities.ts';

/** The process's environment, or a test's. */
export type Environment = Readonly<Record<string, string | undefined>>;

const SCOPES = ['session', 'process', 'none'] as const;

/**
 * What `BREAKERBOX_` variables say of the box. Empty ones count as not set.
 *
 * @throws BreakerboxConfigError with all variables that can't work, or with what is wrong in the capability file.
 */
export const boxConfigOf = async (env: Environment): Promise<BreakerboxConfig> => {
  const read = (name: string): string | undefined => env[name]?.trim() || undefined;
  const issues: ConfigIssue[] = [];
  const oneOf = <Value extends string>(name: string, values: readonly Value[]): Value | undefined => {
    const given = read(name);
    const value = values.find((one) => one === given);
    if (given !== undefined && value === undefined) {
      issues.push({ path: name, message: `is '${given}'. Set one of ${values.join(', ')}, or leave it out.` });
    }
    return value;
  };
  const mode = oneOf('BREAKERBOX_MODE', CIRCUIT_MODES);
  const scope = oneOf('BREAKERBOX_SCOPE', SCOPES);
  if (issues.length > 0) throw new BreakerboxConfigError(issues, 'the environment');
  const file = read('BREAKERBOX_CAPABILITIES');
  return {
    agent: read('BREAKERBOX_AGENT') ?? read('OTEL_SERVICE_NAME') ?? 'unknown_agent',
    ...(mode && { defaults: { mode } }),
    ...(scope && { scope }),
    ...(file && { tools: (await loadCapabilities(file)).tools }),
  };
};
