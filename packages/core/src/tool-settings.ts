import { type CircuitPolicy, resolveGroupPolicy, resolveKeyPolicy, resolvePolicy } from './circuit/policy.ts';
import { DEFAULT_JUDGEMENT } from './classify/taxonomy.ts';
import { type BreakerboxConfig, mergeTool, type ToolConfig } from './config/config.ts';
import type { Capability } from './routing/capability.ts';
import { routeOf } from './routing/route.ts';
import type { CircuitSpec, ToolSettings } from './tool.ts';

type Scope = NonNullable<BreakerboxConfig['scope']>;

/** The steps of many sessions together do not measure time (C12). A schedule that the user set is kept. */
const inScope = (policy: CircuitPolicy, scope: Scope): CircuitPolicy =>
  scope === 'process' && policy.schedule === 'auto' ? { ...policy, schedule: 'time' } : policy;

/** The settings of a tool with the defaults filled in. Both must have been validated. */
export const toolSettings = (defaults: ToolConfig | undefined, own: ToolConfig, scope: Scope): ToolSettings => {
  const merged = mergeTool(defaults, own);
  const { mode = 'automatic', classify, isFailure, key, precheck, labelFreshness = false, serveStaleMs } = merged;
  const { provides, alternatives, fallback, dependsOn } = merged;
  const policy = resolvePolicy(merged);
  const keepsResults = labelFreshness || serveStaleMs !== undefined;
  const capability: Capability = {
    ...(provides !== undefined && { provides }),
    ...(alternatives !== undefined && { alternatives }),
    ...(fallback !== undefined && { fallback }),
    ...(dependsOn !== undefined && { dependsOn }),
  };
  return {
    mode,
    policy: inScope(policy, scope),
    keyPolicy: inScope(resolveKeyPolicy(merged), scope),
    outcomes: { ...DEFAULT_JUDGEMENT, ...merged.outcomes },
    classify,
    isFailure,
    key,
    capability,
    lastResort: routeOf(capability, () => false),
    precheck,
    labelFreshness,
    serveStaleMs,
    keepsResults,
    own,
  };
};

/** The settings of a group's circuit (C13), by the group's own name. */
export const groupSettings = (
  { groups, defaults }: BreakerboxConfig,
  group: string,
  scope: Scope,
): Pick<CircuitSpec, 'mode' | 'policy'> => {
  const { mode, ...own } = groups?.[group] ?? {};
  return {
    mode: mode ?? (defaults?.mode === 'observe_only' ? 'observe_only' : 'automatic'),
    policy: inScope(resolveGroupPolicy(own), scope),
  };
};
