import { name as checkName, reject, show } from './checks/checks.ts';
import { isBlank, reservedPrefix, shortened, visible, whyReserved } from './checks/names.ts';
import type { CircuitMode } from './circuit/circuit.ts';
import { type CircuitPolicy, resolveGroupPolicy, resolveKeyPolicy, resolvePolicy } from './circuit/policy.ts';
import { DEFAULT_JUDGEMENT, type ErrorCategory, type Judgement } from './classify/taxonomy.ts';
import { type BreakerboxConfig, mergeTool, type ToolConfig } from './config/config.ts';
import type { Capability } from './routing/capability.ts';
import { type Route, routeOf } from './routing/route.ts';
import { OTHER_TOOL } from './telemetry/semconv.ts';
import type { ToolSeries } from './telemetry/series.ts';
import { warnOnce } from './warnings/warnings.ts';

/** The settings that have no default: undefined if they are not set. */
type Optional = {
  readonly [Key in 'classify' | 'isFailure' | 'key' | 'precheck' | 'serveStaleMs']: ToolConfig[Key] | undefined;
};

/** Settings of one tool, with the defaults filled in. */
export interface ToolSettings extends Optional {
  /** The tool's own settings, without the defaults. */
  readonly own: ToolConfig;
  readonly mode: CircuitMode;
  readonly policy: CircuitPolicy;
  /** The policy of the circuits of its keys (C14). */
  readonly keyPolicy: CircuitPolicy;
  /** The categories that count against the circuit (O1). */
  readonly outcomes: Readonly<Record<ErrorCategory, Judgement>>;
  /** The tool's purpose, and what to do without it (R1). */
  readonly capability: Capability;
  /** The fallback of skipped and paused calls if no other tool is usable (R2). */
  readonly lastResort: Route;
  /** Whether results that may not be current get a label (F1). */
  readonly labelFreshness: boolean;
  /** Whether results are remembered for labels or as last good results (F2). */
  readonly keepsResults: boolean;
}

/** The owner of a circuit: a tool, or a group of tools (C13). */
export interface CircuitSpec {
  /** `group:NAME` for a group. */
  readonly name: string;
  readonly mode: CircuitMode;
  readonly policy: CircuitPolicy;
  /** The policy of the circuits of its keys (C14); undefined for a group. */
  readonly keyPolicy?: CircuitPolicy;
  readonly series: ToolSeries;
  /** C18: what a session with settings of its own began with; undefined for the settings of the box. */
  readonly beganWith?: Pick<CircuitSpec, 'mode' | 'policy'>;
}

/** A declared tool. */
export interface ToolSpec extends ToolSettings, CircuitSpec {
  readonly keyPolicy: CircuitPolicy;
  /** The group whose circuit its calls must also pass (C13). An adapter may name it after the tool was declared. */
  group: CircuitSpec | undefined;
}

/** Finds declared tools by their names. */
export interface ToolLookup {
  tool(name: string): ToolSpec | undefined;
}

/** Number of tools that may be declared by being seen: per tool with its own series, and the least. */
const SEEN_PER_SERIES = 10;
export const LEAST_SEEN = 2_000;

/**
 * Declares tools that adapters see. A server's list and a model's calls may have any number of names, and each tool costs memory.
 * Tools beyond the limit are left out, with one warning. A low `maxTools`, set to save series, does not take circuits from an
 * agent's own tools.
 */
export const boundedDeclare = (
  agent: string,
  maxTools: number,
  tools: { readonly size: number; has(name: string): boolean },
  declare: (name: string, group: string | undefined) => void,
): typeof declare => {
  const most = Math.max(LEAST_SEEN, SEEN_PER_SERIES * maxTools);
  return (name, group) => {
    const prefix = reservedPrefix(name);
    if (prefix !== undefined) {
      return warnOnce(
        'BREAKERBOX_RESERVED_NAME',
        agent,
        () =>
          `Agent '${agent}': tool ${show(name)} has no circuit, because names that begin with ${whyReserved(prefix)} Its calls pass, and are counted as '${OTHER_TOOL}'. Rename the tool.`,
      );
    }
    if (typeof name === 'string' && isBlank(name)) {
      return warnOnce(
        'BREAKERBOX_RESERVED_NAME',
        `${agent}: blank`,
        () =>
          `Agent '${agent}': a tool with the name '${shortened(visible(name), 60)}' has no circuit, because its name has no visible character. Its calls pass, and are counted as '${OTHER_TOOL}'. Give the tool a name.`,
      );
    }
    if (tools.size < most || typeof name !== 'string' || tools.has(shortened(name))) return declare(name, group);
    reject(checkName('tool', name));
    warnOnce(
      'BREAKERBOX_TOO_MANY_TOOLS',
      agent,
      () =>
        `Agent '${agent}' has ${tools.size} declared tools. Further tools get a circuit only if you declare them. Without one, their calls pass, and are counted as '${OTHER_TOOL}'. If an agent really has so many tools, declare them in createBreakerbox({ tools }) or with box.declare(), or raise maxTools (${maxTools}). Adapters declare at most ten times maxTools tools, or ${LEAST_SEEN} if that is more.`,
    );
  };
};

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
