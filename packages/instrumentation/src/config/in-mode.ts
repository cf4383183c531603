import type { CircuitMode } from '@breakerbox/core';
import type { FileSettings } from './load-config.ts';

/**
 * The settings with one mode for every tool, whatever they say of single tools and groups. Of groups, only `observe_only` is the mode too
 * (C13).
 *
 * @example
 * ```ts
 * const box = createBreakerbox({ agent: 'research-agent', ...inMode(loadConfig('breakerbox.yaml'), 'observe_only') });
 * ```
 */
export const inMode = (settings: FileSettings, mode: CircuitMode): FileSettings => {
  const { tools, groups, defaults } = settings;
  return {
    ...settings,
    defaults: { ...defaults, mode },
    ...(tools && { tools: withoutModes(tools) }),
    ...(groups && { groups: withoutModes(groups) }),
  };
};

const withoutModes = <Config extends { readonly mode?: CircuitMode }>(
  all: Readonly<Record<string, Config>>,
): Record<string, Omit<Config, 'mode'>> =>
  Object.fromEntries(Object.entries(all).map(([name, { mode: _, ...rest }]) => [name, rest]));
