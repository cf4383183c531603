import { GROUP_PREFIX } from '@breakerbox/core';
import { ATTR, type AttributeKey, type GroupKey, label, METRIC } from './names.ts';
import { series, sumBy } from './promql.ts';
import { either, recorded } from './recorded.ts';

/* What panels draw where there is nothing to draw: zeros while agents report, and notes. */

/** Zero while agents report. */
const silence = (): string => {
  const ofAgents = either('byAgent', `sum(${recorded('sessions')})`, `sum(${series(METRIC.sessions)})`);
  return `${either('byTool', `sum(${recorded('sessionsByState')})`, ofAgents)} * 0`;
};

/** One total; 0 if the series do not exist while agents report. */
export const orZero = (expr: string): string => `${expr} or ${silence()}`;

/** Zero while agents report, with a label for its name. */
export const zeroNamed = (attribute: string, text: string): string =>
  `label_replace(${silence()}, "${attribute}", "${text}", "", "")`;

/**
 * Several series. If they do not exist while agents report, one zero with this `attribute`.
 * @param text shown in the legend, such as `none`
 */
export const orZeroNamed = (expr: string, attribute: AttributeKey, text: string): string =>
  `(${expr}) or on () ${zeroNamed(label(attribute), text)}`;

const GROUPS = `${label(ATTR.tool)}=~"${GROUP_PREFIX}.+"`;
const NO_GROUPS = `${label(ATTR.tool)}!~"${GROUP_PREFIX}.+"`;

/** The name of the zero that is drawn if only circuits of groups are selected and a panel queries calls. */
export const GROUP_NOTE = 'a group has no calls of its own';

/** Circuits of groups, if nothing else is selected. */
const groupsAlone = (): string => {
  const alone = (circuits: (which: string) => string): string =>
    `${sumBy([], circuits(GROUPS))} unless on () ${sumBy([], circuits(NO_GROUPS))}`;
  return either(
    'byTool',
    alone((which) => recorded('circuitsOfTool', {}, [which])),
    alone((which) => series(METRIC.circuits, {}, '', [which])),
  );
};

/** Agents whose circuits of groups are selected. */
export const agentsOfGroups = (by: readonly GroupKey[]): string =>
  `count(${sumBy(by, series(METRIC.circuits, {}, '', [GROUPS]))})`;

/** One total of calls; -1 if only groups are selected, because groups have no calls. */
export const orGroup = (expr: string): string => `(${expr}) or (${groupsAlone()} * 0 - 1) or ${silence()}`;

/** Several series of calls. If only groups are selected, one zero that says so; otherwise like {@link orZeroNamed}. */
export const orGroupNamed = (expr: string, attribute: AttributeKey, text: string): string =>
  `(${expr}) or on () label_replace(${groupsAlone()} * 0, "${label(attribute)}", "${GROUP_NOTE}", "", "") or on () ${zeroNamed(label(attribute), text)}`;
