import type { ReportedState } from '@breakerbox/core';
import { BigValueTextMode } from '@grafana/grafana-foundation-sdk/common';
import { MappingType, type ValueMap } from '@grafana/grafana-foundation-sdk/dashboard';
import { AGENT, AGENT_TOOL, CIRCUIT_STATES, worstState } from '../../circuit-state.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, type GroupKey, label, legend, METRIC } from '../../names.ts';
import { CALM, COLOUR } from '../../palette.ts';
import { instantNamed, type Row, stat } from '../../panels.ts';
import { rate, series, sumBy } from '../../promql.ts';
import { either, recorded } from '../../recorded.ts';
import { durationQuantile, notRunOf, toolsFailed } from '../../recorded-forms.ts';
import { timeToRecovery } from '../../recovery.ts';
import { stateMapping } from '../../state-timeline.ts';
import { agentsOfGroups, orGroup, orZero, orZeroNamed } from '../../zeros.ts';

const { decisions, openedTime, unavailableTime } = METRIC;
const size = { width: 6, height: 3 } as const;

/** Texts for the values 0, 1, and so on. */
const instead = (...texts: readonly string[]): ValueMap => ({
  type: MappingType.ValueToText,
  options: Object.fromEntries(texts.map((text, index) => [String(index), { text, index }])),
});

/** Text for -1: only circuits of groups are selected. */
const OF_GROUP: ValueMap = { type: MappingType.ValueToText, options: { '-1': { text: 'see its tools', index: 9 } } };
const GROUPS = 'A group has no calls of its own: select its tools.';

const NOW_STATES = CIRCUIT_STATES.map((state) => ({
  ...state,
  // Open circuits recover by themselves. They have a colour, and no other state has.
  colour: state.text.startsWith('open') ? COLOUR.orange : CALM,
}));

const state = () =>
  stat(
    {
      ...size,
      title: 'State',
      unit: 'none',
      description:
        'The worst state among the selected circuits. An open circuit probes the tool and closes by itself. Act if it stays open. A tool whose name begins with group: is the circuit of a group of tools, such as those of one MCP server. While it is open, calls of all of them are skipped, although their own circuits are closed.',
    },
    worstState([]),
  ).mappings([stateMapping(NOW_STATES)]);

const TOOL_OF_AGENT = AGENT_TOOL.map(label).join(', ');
const inState = (by: readonly GroupKey[], ...states: readonly ReportedState[]): string =>
  `${sumBy(by, series(METRIC.circuits, { [ATTR.state]: states }))} > 0`;
/** Only tools of agents whose circuits are open or half-open, not forced open. */
const ofWhatIsOut = (expr: string): string =>
  `${expr} and on (${TOOL_OF_AGENT}) ${inState(AGENT_TOOL, 'open', 'half_open')}`;

/** Since when each tool of an agent is unavailable. An agent of an earlier release only says when it last opened. */
const began = (): string =>
  `(min by (${TOOL_OF_AGENT}) (${series(unavailableTime)} > 0) or max by (${TOOL_OF_AGENT}) (${series(openedTime)} > 0))`;

/** Of the tools that are open now, the earliest; in ms for Grafana's dates. */
const outSince = (): string =>
  [
    `min(${ofWhatIsOut(began())}) * 1000`,
    `2 * (${inState([], 'open', 'half_open')}) ^ 0`,
    `(${inState([], 'forced_open')}) ^ 0`,
    `${sumBy([], series(METRIC.circuits))} * 0`,
  ].join(' or ');

const since = () =>
  stat(
    {
      ...size,
      title: 'Open since',
      unit: 'dateTimeFromNow',
      description:
        'When a selected tool that is open now went from closed to open; the earliest if several are open, also in several sessions. Failed probes do not change it. Forced open: a circuit is forced open by hand, and no other is open.',
    },
    outSince(),
  ).mappings([instead('not open', 'forced open', 'not known')]);

const lastOpened = (): string => `max by (${TOOL_OF_AGENT}, ${label(ATTR.errorType)}) (${series(openedTime)} > 0)`;
const latestError = (opened: string): string => `topk(1, max by (${label(ATTR.errorType)}) (${opened}))`;

const lastError = () =>
  stat(
    {
      ...size,
      title: 'Last error',
      unit: 'none',
      description:
        'The error category of the last opening among the circuits that are open now. If none is open, of all selected circuits at any time, not only in the time range shown.',
    },
    '',
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
      title: 'Failed 5m',
      unit: 'percentunit',
      description: `Failures divided by calls that succeeded or failed, in the last 5 minutes. Ignored outcomes, such as wrong arguments, do not count. ${GROUPS}`,
    },
    orGroup(toolsFailed([], '5m')),
  )
    .decimals(1)
    .mappings([OF_GROUP]);

const p95 = () =>
  stat(
    {
      ...size,
      title: 'p95 5m',
      unit: 's',
      description: `One in twenty executed calls of the last 5 minutes took longer. Estimated from the buckets of the histogram, which ends at 81.92 s. ${GROUPS}`,
    },
    orGroup(durationQuantile(0.95, '5m')),
  ).mappings([instead('no calls'), OF_GROUP]);

const skipped = () =>
  stat(
    {
      ...size,
      title: 'Not run 5m',
      unit: 'percentunit',
      description: `Share of the decisions of the last 5 minutes that were skip or pause: calls that were not attempted. ${GROUPS}`,
    },
    orGroup(notRunOf('5m')),
  )
    .decimals(1)
    .mappings([OF_GROUP]);

const agents = () =>
  stat(
    {
      ...size,
      title: 'Agents in range',
      unit: 'none',
      description:
        'Agents that asked for the selected tools in the time range shown, so an outage affects them. For a group, the agents that have it now. The table below lists them.',
    },
    orZero(
      `${either(
        'byAgent',
        `count(${sumBy(AGENT, `max_over_time(${recorded('decisions5m')}[$__range])`)})`,
        `count(${sumBy(AGENT, rate(decisions, '$__range'))} > 0)`,
      )} or ${agentsOfGroups(AGENT)}`,
    ),
  ).dataLinks(dashboardLinks([fromSeries(UID.fleetOverview, 'Fleet overview')]));

const recovery = () =>
  stat(
    {
      ...size,
      title: 'Mean outage in range',
      unit: 's',
      description:
        'Mean time that a circuit stayed open, in the time range shown; an outage that lasts counts up to now. Σ (mean number of open or half-open circuits × time that they were reported) ÷ (circuits that went from closed to open in the time range shown + those open when it began). Only the part of an outage inside the range counts. The circuits of a session end with it.',
    },
    timeToRecovery([]),
  )
    // Keeps `$__interval` short, which measures how long an agent reported.
    .maxDataPoints(1000)
    .mappings([instead('no outage')]);

/** At a glance: is the tool open, since when, with which error, and how much does it matter? */
export const nowRow = (): Row => ({
  // A row title cannot test whether one tool is selected, but it can name the selection.
  title: 'Now · $tool (select one tool at the top)',
  panels: [state(), since(), lastError(), agents(), failed(), skipped(), p95(), recovery()],
});
