import { ATTR, type CircuitState, METRIC, type MetricDefinition } from '@breakerbox/core';

/** The dashboards know no other names than these: the telemetry contract's. */
export { ATTR, METRIC, type MetricDefinition };

export type AttributeKey = (typeof ATTR)[keyof typeof ATTR];

/**
 * The Prometheus label of an attribute.
 * @example label(ATTR.tool) // 'gen_ai_tool_name'
 */
export const label = (attribute: AttributeKey): string => attribute.replaceAll('.', '_');

/**
 * A legend that shows the value of an attribute.
 * @example legend(ATTR.tool) // '{{gen_ai_tool_name}}'
 */
export const legend = (...attributes: readonly AttributeKey[]): string =>
  attributes.map((attribute) => `{{${label(attribute)}}}`).join(' · ');

/** Values of {@link ATTR.state}: those that the engine gives, and those that a person or the configuration does. */
export type StateValue = CircuitState | 'forced_open' | 'disabled' | 'observe_only';

/** The states in which calls are rejected. */
export const OPEN_STATES: readonly StateValue[] = ['open', 'forced_open'];

/** The states in which calls pass whatever happens. */
export const MANUAL_STATES: readonly StateValue[] = ['disabled', 'observe_only'];
