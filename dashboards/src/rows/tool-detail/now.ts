import type { ReportedState } from '@breakerbox/core';
import { BigValueTextMode } from '@grafana/grafana-foundation-sdk/common';
import { MappingType, type ValueMap } from '@grafana/grafana-foundation-sdk/dashboard';
import { AGENT, AGENT_TOOL, CIRCUIT_STATES, worstState } from '../../circuit-state.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, type GroupKey, label, legend, METRIC } from '../../names.ts';
import { CALM, COLOUR } from '../../palette.ts';
import { instantNamed, type Row, stat, thresholds } from '../../panels.ts';
import {
  agentsOfGroups,
  failedShare,
  notRunShare,
  orGroup,
  orZero,
  orZeroNamed,
  quantile,
  rate,
  series,
  sumBy,
} from '../../promql.ts';
import { timeToRecovery } from '../../recovery.ts';
import { stateMapping } from '../../state-timeline.ts';

const { decisions, duration, openedTime } = METRIC;
const size = { width: 3, height: 4 } as const;

/** What to say instead of 0, 1, and so on. */
const instead = (...texts: readonly string[]): ValueMap => ({
  type: MappingType.ValueToText,
  options: Object.fromEntries(texts.map((text, index) => [String(index), { text, index }])),
});

/** What to say of -1: of circuits of groups alone. */
const OF_GROUP: ValueMap = { type: MappingType.ValueToText, options: { '-1': { text: 'see its tools', index: 9 } } };
const GROUPS = 'A group has no calls of its own: choose its tools.';

const NOW_STATES = CIRCUIT_STATES.map((state) => ({
  ...state,
  // Open ones heal by themselves; they are marked, and nothing else is.
  colour: state.text.startsWith('open') ? COLOUR.orange : CALM,
}));

const state = () =>
  stat(
    {
      ...size,
      title: 'State',
      unit: 'none',
      description:
        'The worst state among the circuits of what is chosen. An open circuit probes the tool and closes by itself; act when it stays open. A tool whose name begins with group: is the circuit of a group of tools, such as those of one MCP server: while it is open, calls of all of them are skipped, though their own circuits are closed.',
    },
    worstState([]),
    thresholds(),
  ).mappings([stateMapping(NOW_STATES)]);

const TOOL_OF_AGENT = AGENT_TOOL.map(label).join(', ');
const inState = (by: readonly GroupKey[], ...states: readonly ReportedState[]): string =>
  `${sumBy(by, series(METRIC.circuits, { [ATTR.state]: states }))} > 0`;
/** Only tools of agents whose circuits are out by themselves. */
const ofWhatIsOut = (expr: string): string =>
  `${expr} and on (${TOOL_OF_AGENT}) ${inState(AGENT_TOOL, 'open', 'half_open')}`;

/**
 * When each tool of an agent left the state closed last, and of those that are out the earliest; in ms, as Grafana's dates
 * are. Nothing says since when somebody holds a circuit open.
 */
const outSince = (): string =>
  [
    `min(${ofWhatIsOut(`max by (${TOOL_OF_AGENT}) (${series(openedTime)} > 0)`)}) * 1000`,
    `2 * (${inState([], 'open', 'half_open')}) ^ 0`,
    `(${inState([], 'forced_open')}) ^ 0`,
    `${sumBy([], series(METRIC.circuits))} * 0`,
  ].join(' or ');

const since = () =>
  stat(
    {
      ...size,
      title: 'Out since',
      unit: 'dateTimeFromNow',
      description:
        'When a tool of what is chosen went from closed to open, of those that are out now; the earliest one if several are. Failed probes do not make it later; of one tool in several sessions it is the latest opening. Held by hand: somebody keeps a circuit open, and none is out by itself.',
    },
    outSince(),
    thresholds(),
  ).mappings([instead('not out', 'held by hand', 'not known')]);

const lastOpened = (): string => `max by (${TOOL_OF_AGENT}, ${label(ATTR.errorType)}) (${series(openedTime)} > 0)`;
const latestError = (opened: string): string => `topk(1, max by (${label(ATTR.errorType)}) (${opened}))`;

const lastError = () =>
  stat(
    {
      ...size,
      title: 'Last error',
      unit: 'none',
      description:
        'The error category with which a circuit opened last: of what is out now, and where nothing is, of all that is chosen and of all time, not of the time range shown.',
    },
    '',
    thresholds(),
  )
    .textMode(BigValueTextMode.Name)
    .targets([
      instantNamed('A', {
        expr: orZeroNamed(
          `${latestError(ofWhatIsOut(lastOpened()))} or on () ${latestError(lastOpened())}`,
          ATTR.errorType,
          'none yet',
        ),
        legend: legend(ATTR.errorType),
      }),
    ]);

const failed = () =>
  stat(
    {
      ...size,
      title: 'Failed',
      unit: 'percentunit',
      description: `Failures over calls that succeeded or failed, in the time range shown. Ignored outcomes, such as bad arguments, say nothing of the tool. ${GROUPS}`,
    },
    orGroup(failedShare([], '$__range')),
    thresholds(),
  )
    .decimals(1)
    .mappings([OF_GROUP]);

const p95 = () =>
  stat(
    {
      ...size,
      title: 'p95',
      unit: 's',
      description: `One executed call in twenty took longer, in the time range shown. Estimated from the buckets of the histogram, the last of which ends at 81.92 s. ${GROUPS}`,
    },
    orGroup(quantile(0.95, duration, [], '$__range')),
    thresholds(),
  ).mappings([instead('no calls'), OF_GROUP]);

const skipped = () =>
  stat(
    {
      ...size,
      title: 'Not run',
      unit: 'percentunit',
      description: `Share of the decisions that were skip or pause, in the time range shown: calls that were not tried in vain. ${GROUPS}`,
    },
    orGroup(notRunShare([], '$__range')),
    thresholds(),
  )
    .decimals(1)
    .mappings([OF_GROUP]);

const agents = () =>
  stat(
    {
      ...size,
      title: 'Agents using it',
      unit: 'none',
      description:
        'Agents that asked for what is chosen, in the time range shown: those that an outage of it concerns. Of a group, those that have it now. The table below has their names.',
    },
    orZero(`count(${sumBy(AGENT, rate(decisions, '$__range'))} > 0) or ${agentsOfGroups(AGENT)}`),
    thresholds(),
  ).dataLinks(dashboardLinks([fromSeries(UID.fleetOverview, 'Fleet overview')]));

const recovery = () =>
  stat(
    {
      ...size,
      title: 'Time to recovery',
      unit: 's',
      description:
        'Mean time for which a circuit stayed out: Σ (mean number of circuits open or half-open × time for which they were reported) ÷ (circuits that went from closed to open in the time range shown + those out when it began). An outage that begins or ends outside the range counts with what lies inside; a session that ends takes its circuits along.',
    },
    timeToRecovery([]),
    thresholds(),
  )
    // So that `$__interval`, by which it is measured how long an agent reported, is short.
    .maxDataPoints(1000)
    .mappings([instead('no outage')]);

/** One glance: is it out, since when, with what error, and how much does it matter. */
export const nowRow = (): Row => ({
  // A row can't ask whether one tool is chosen; it can say what is.
  title: 'Now · $tool (one tool is meant to be chosen on top)',
  panels: [state(), since(), lastError(), failed(), skipped(), p95(), recovery(), agents()],
});
