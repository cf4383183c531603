import { groupNameOf } from '../circuit/groups.ts';
import { CIRCUIT_MODES } from '../circuit/mode.ts';
import { type CircuitConfig, PROFILES, resolvePolicy } from '../circuit/policy.ts';
import { TRIP_CHECKS } from '../circuit/trip-policies/trip-policies.ts';
import { ERROR_CATEGORIES } from '../classify/taxonomy.ts';
import { capabilityChecks } from '../routing/capability.ts';
import { GROUP_PREFIX } from '../telemetry/semconv.ts';
import {
  type Check,
  gather,
  isRecord,
  name,
  number,
  object,
  oneOf,
  orLeaveOut,
  shortName,
  show,
  toolName,
} from './checks.ts';
import { type GroupConfig, mergeTool, type ToolConfig } from './config.ts';
import type { ConfigIssue } from './errors.ts';

const aFunction =
  (what: string): Check =>
  (path, value) =>
    typeof value === 'function'
      ? []
      : [{ path, message: `is ${show(value)}. Give a function ${what}, or leave it out.` }];

/** Names that begin with `group:` are reserved for groups (C13). */
export const notAGroup: Check = (path, value) =>
  groupNameOf(typeof value === 'string' ? value : undefined) === undefined ? [] : [{ path, message: reserved(value) }];

const reserved = (value: unknown): string =>
  `is ${show(value)}. Names that begin with '${GROUP_PREFIX}' are reserved for the circuits of groups. Rename the tool.`;

/** The group's name becomes a part of a longer name. */
const groupName: Check = (path, value) =>
  typeof value === 'string' && value.trim() !== '' ? shortName(path, `${GROUP_PREFIX}${value}`) : name(path, value);

const shared = {
  profile: oneOf(Object.keys(PROFILES), orLeaveOut('it names ready-made thresholds.')),
  mode: oneOf(CIRCUIT_MODES, orLeaveOut('the circuit decides.')),
};

const waits = {
  probes: number(1, orLeaveOut('with 0 an open circuit could never close.'), { whole: true }),
  probeAfterSteps: number(1, orLeaveOut('a probe in the same step would be a retry.'), { whole: true }),
  cooldownMs: number(0, orLeaveOut('a probe without a wait would be a retry.'), { above: true }),
  maxCooldownMs: number(0, orLeaveOut('it is the longest wait between probes.'), { above: true }),
  probeLeaseMs: number(0, orLeaveOut('a probe needs time to answer.'), { above: true }),
  maxRetryAfterMs: number(0, orLeaveOut('it is the longest Retry-After that is accepted.')),
};

const toolChecks: Readonly<Record<keyof ToolConfig, Check>> = {
  ...shared,
  group: (path, value) => (value === false ? [] : groupName(path, value)),
  ...TRIP_CHECKS,
  ...capabilityChecks,
  ...waits,
  outcomes: (path, value) => {
    const judgement = oneOf(['failure', 'ignored'], orLeaveOut("the category's default applies."));
    const checks = Object.fromEntries(ERROR_CATEGORIES.map((category) => [category, judgement]));
    return object(checks, "{ tool_error: 'failure' }")(path, value);
  },
  classify: aFunction('from what the tool threw or returned to a category'),
  isFailure: aFunction('from a result to true, false or a category'),
  key: (path, value) =>
    value === false ? [] : aFunction('from the arguments to a key, such as byHost(), or false')(path, value),
  precheck: aFunction("from the tool's name to available, degraded or unavailable"),
  labelFreshness: oneOf([true, false], orLeaveOut('results are not labelled then.')),
  serveStaleMs: number(0, orLeaveOut('a skipped call never gets a last good result then.'), { above: true }),
};

/** Checks a tool alone, and then together with the defaults. */
export const checkTool =
  (defaults: ToolConfig): Check =>
  (path, value) => {
    const issues = object(toolChecks, "{ profile: 'fast' }")(path, value);
    if (issues.length > 0) return issues;
    const merged = mergeTool(defaults, value as ToolConfig);
    if (merged.failureThreshold === false && !resolvePolicy(merged).countsSuccesses) {
      const others = Object.keys(TRIP_CHECKS).filter((setting) => setting !== 'failureThreshold');
      const message =
        `is false, and nothing else opens the circuit. Set one of ${others.join(', ')}, or mode: 'disabled' for a circuit ` +
        'that never opens.';
      return [{ path: `${path}.failureThreshold`, message }];
    }
    return checkWaits(path, merged);
  };

/** The wait grows from `cooldownMs` to `maxCooldownMs`. */
const checkWaits = (
  path: string,
  { profile = 'default', cooldownMs, maxCooldownMs }: Pick<CircuitConfig, 'profile' | 'cooldownMs' | 'maxCooldownMs'>,
): readonly ConfigIssue[] => {
  const base = cooldownMs ?? PROFILES[profile].cooldownMs;
  if (maxCooldownMs === undefined || base <= maxCooldownMs) return [];
  const origin = cooldownMs === undefined ? ` by the profile '${profile}'` : '';
  const message =
    `is ${base}${origin}, more than maxCooldownMs (${maxCooldownMs}). The wait grows from the one to the other: raise ` +
    `maxCooldownMs or lower cooldownMs.`;
  return [{ path: `${path}.cooldownMs`, message }];
};

/**
 * Settings that are not allowed in `defaults`, because each belongs to one tool. From `defaults`, each tool would be its own
 * alternative.
 */
const OWN = ['provides', 'alternatives', 'dependsOn', 'group', 'key'] as const satisfies readonly (keyof ToolConfig)[];

export const checkDefaults: Check = (path, value) => {
  const own = OWN.filter((key) => (value as ToolConfig | null)?.[key] !== undefined);
  if (own.length === 0) return checkTool({})(path, value);
  return own.map((key) => ({
    path: `${path}.${key}`,
    message: 'differs from tool to tool. Set it in the tools themselves.',
  }));
};

export const checkTools =
  (defaults: ToolConfig): Check =>
  (path, value) => {
    if (!isRecord(value)) return object({}, "{ web_search: { profile: 'fast' } }")(path, value);
    return gather(Object.entries(value), ([tool, config]) => [
      ...toolName(`${path}['${tool}']`, tool),
      ...notAGroup(`${path}['${tool}']`, tool),
      ...checkTool(defaults)(`${path}.${tool}`, config),
    ]);
  };

const groupChecks = {
  ...shared,
  failureThreshold: number(1, orLeaveOut('the group opens after that many failures in a row.'), { whole: true }),
  groupThreshold: number(1, orLeaveOut('that many tools of the group must be among the failures.'), { whole: true }),
  ...waits,
} satisfies Record<keyof GroupConfig, Check>;

export const checkGroups: Check = (path, value) => {
  if (!isRecord(value)) return object({}, '{ github: { cooldownMs: 30000 } }')(path, value);
  return gather(Object.entries(value), ([group, config]) => {
    const at = `${path}.${group}`;
    const issues = [
      ...groupName(`${path}['${group}']`, group),
      ...object(groupChecks, "{ profile: 'fast' }")(at, config),
    ];
    return issues.length > 0 ? issues : checkWaits(at, config as GroupConfig);
  });
};
