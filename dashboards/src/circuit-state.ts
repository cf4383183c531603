import type { ReportedState } from '@breakerbox/core';
import { ATTR, type GroupKey, JOB, label, MANUAL_STATES, METRIC, MODEL_NAMES, OPEN_STATES } from './names.ts';
import { CALM, COLOUR } from './palette.ts';
import { highest, series, sumBy } from './promql.ts';
import { either, recorded } from './recorded.ts';
import type { StateName } from './state-timeline.ts';

/** The labels of an agent. As in the alerts, agents of one name in different jobs are different agents. */
export const AGENT = [JOB, ATTR.agent] as const;
/** The labels of a circuit. A tool of an agent has one circuit per session, or one for all. */
export const AGENT_TOOL = [...AGENT, ATTR.tool] as const;

/** The values of {@link worstState}, with text and colour. A higher value is worse. */
export const CIRCUIT_STATES: readonly StateName[] = [
  { value: 0, text: 'closed', colour: COLOUR.green },
  { value: 1, text: 'by hand', colour: COLOUR.purple },
  { value: 2, text: 'half-open', colour: COLOUR.sky },
  { value: 3, text: 'open', colour: COLOUR.orange },
  { value: 5, text: 'open, others half-open', colour: COLOUR.yellow },
];

/** The same for tables: closed is expected and has no colour, so that the other states stand out. */
export const CIRCUIT_STATES_IN_TABLE: readonly StateName[] = CIRCUIT_STATES.map((state) =>
  state.value === 0 ? { ...state, colour: CALM } : state,
);

const WORST = sumBy(AGENT_TOOL, recorded('worstState'));
const CIRCUITS = sumBy(AGENT_TOOL, recorded('circuits'));

type Circuits = (states: readonly ReportedState[]) => string;
const ofTools: Circuits = (states) => series(METRIC.circuits, { [ATTR.state]: states });
/** Without the dashboard's tools, which are no models. */
const ofModels: Circuits = (states) =>
  series({ ...METRIC.circuits, per: 'agent' }, { [ATTR.state]: states }, '', [`${label(ATTR.tool)}=~"${MODEL_NAMES}"`]);

/** With a label of its own, so that `or` keeps it beside another series of the same tool, and a sum adds both. Short queries read nothing twice. */
const apart = (expr: string): string => `label_replace(${expr}, "at", "2", "", "")`;

const worstOfSeries = (by: readonly GroupKey[], circuits = ofTools): string => {
  // Dropping zeros before the sum makes this several times faster in a fleet of 500 agents.
  const anyIn = (states: readonly ReportedState[]): string => `${sumBy(by, `${circuits(states)} > 0`)} ^ 0`;
  // With both, their sum.
  const notClosed = sumBy(by, `3 * ${anyIn(OPEN_STATES)} or ${apart(`2 * ${anyIn(['half_open'])}`)}`);
  return `${notClosed} or ${anyIn(MANUAL_STATES)} or ${sumBy(by, circuits(['closed']))} * 0`;
};

/**
 * The worst state among the circuits of each group, as a value of {@link CIRCUIT_STATES}. By hand: no circuit is open, and one is
 * switched off or only observes.
 */
export const worstState = (by: readonly GroupKey[] = AGENT_TOOL): string => {
  if (by !== AGENT_TOOL) return worstOfSeries(by);
  return either('byAgent', `${WORST} or ${CIRCUITS} * 0`, worstOfSeries(by));
};

/** {@link worstState} of models and of their providers. */
export const worstOfModels = (): string => worstOfSeries(AGENT_TOOL, ofModels);

/** When each tool of an agent last opened, as a Unix time. */
const OPENED = `max by (${AGENT_TOOL.map(label).join(', ')}) (${series(METRIC.openedTime)})`;

/** Since when each tool that is unavailable is so, as a Unix time. */
const SINCE = `min by (${AGENT_TOOL.map(label).join(', ')}) (${series(METRIC.unavailableTime)} > 0)`;
/** The same across restarts of processes. */
const SINCE_RECORDED = `min by (${AGENT_TOOL.map(label).join(', ')}) (${recorded('unavailableSince')})`;

const rankOf = (state: string, time: string): string => sumBy(AGENT_TOOL, `1e10 * ${state} or ${apart(time)}`);
const rankOfRecorded = (): string =>
  `${rankOf(WORST, `${SINCE_RECORDED} or ${SINCE} or ${OPENED}`)} or ${CIRCUITS} * 0`;
const rankOfSeries = (): string => rankOf(`(${worstOfSeries(AGENT_TOOL)})`, `${SINCE} or ${OPENED}`);

/**
 * Ranks tools of agents: those that are not closed now, the worst and of those the newest first, then those that opened last, then the others. Evaluated at one
 * time, which costs little also in a large fleet.
 */
export const worstRank = (): string => either('byAgent', rankOfRecorded(), rankOfSeries());

/** With the same result at each step of a graph. */
const atTheEnd = (expr: string): string => expr.replaceAll('}', '} @ end()');

/** {@link worstState} over time, of the `limit` tools of agents that rank highest at the end. */
export const worstOverTime = (limit: number): string => {
  const members = `topk(${limit}, ${atTheEnd(rankOfRecorded())})`;
  return either(
    'byAgent',
    stateOf(members),
    highest(worstOfSeries(AGENT_TOOL), limit, AGENT_TOOL, atTheEnd(rankOfSeries())),
  );
};

/** More than any state. */
const MEMBER = 10;
/** The recorded state of these tools at each step. It has no value while a circuit is closed. Other tools have no 10 in their sum. */
const stateOf = (members: string): string =>
  `(${sumBy(AGENT_TOOL, `${members} * 0 + ${MEMBER} or ${apart(WORST)}`)} >= ${MEMBER}) - ${MEMBER}`;

/** {@link worstState} over time, of these tools of agents, which must be the same at each step. */
export const worstOf = (members: string): string => either('byAgent', stateOf(members), worstOfSeries(AGENT_TOOL));
