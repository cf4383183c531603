import {
  ATTR,
  type Availability,
  type Decision,
  type Degradation,
  type ErrorCategory,
  type FreshnessKind,
  GROUP_PREFIX,
  METRIC,
  type MetricDefinition,
  MODEL_PREFIX,
  type Outcome,
  type Reason,
  type ReportedState,
  type Route,
  type ScopePlan,
  type SessionState,
} from '@breakerbox/core';

/** The names of the telemetry contract. The dashboards use no others. */
export { ATTR, METRIC, type MetricDefinition };

export type AttributeKey = (typeof ATTR)[keyof typeof ATTR];

/** Prometheus' own label for the program that runs an agent. Agents in two jobs may have the same name. */
export const JOB = 'job';

/** Prometheus' own label for one process of a job. */
export const INSTANCE = 'instance';

/** The attributes that series are grouped by. */
export type GroupKey = AttributeKey | typeof JOB | typeof INSTANCE;

/**
 * The Prometheus label of an attribute.
 * @example label(ATTR.tool) // 'gen_ai_tool_name'
 */
export const label = (attribute: GroupKey): string => attribute.replaceAll('.', '_');

/**
 * A legend that shows the value of an attribute.
 * @example legend(ATTR.tool) // '{{gen_ai_tool_name}}'
 */
export const legend = (...attributes: readonly GroupKey[]): string =>
  attributes.map((attribute) => `{{${label(attribute)}}}`).join(' · ');

/** The possible results for a planned task. */
export type Disposition = Exclude<keyof ScopePlan, 'decision'>;

/** The attributes with a fixed set of values, and the values that core can emit. Only systemic events have `_MIXED`. */
export interface AttributeValues {
  readonly [ATTR.decision]: Decision;
  readonly [ATTR.reason]: Reason;
  readonly [ATTR.outcome]: Outcome;
  readonly [ATTR.state]: ReportedState;
  readonly [ATTR.stateFrom]: ReportedState;
  readonly [ATTR.stateTo]: ReportedState;
  readonly [ATTR.sessionState]: SessionState;
  readonly [ATTR.errorType]: ErrorCategory | '_MIXED';
  readonly [ATTR.route]: Route['kind'];
  readonly [ATTR.degradation]: Degradation;
  readonly [ATTR.disposition]: Disposition;
  readonly [ATTR.freshnessLabel]: FreshnessKind;
  readonly [ATTR.availability]: Availability;
  /** Empty: the series has no such label. */
  readonly [ATTR.blames]: '' | 'key';
  readonly [ATTR.position]: 'primary' | 'fallback';
  readonly [ATTR.limitLevel]: 'advised' | 'reached' | 'observed';
}

/** Models, and the groups of their providers, whose circuits have names of tools (L7). */
export const MODEL_NAMES = `(${GROUP_PREFIX})?${MODEL_PREFIX}.+`;

/** The states that reject calls. */
export const OPEN_STATES: readonly ReportedState[] = ['open', 'forced_open'];

/** The states in which all calls run. */
export const MANUAL_STATES: readonly ReportedState[] = ['disabled', 'observe_only'];
