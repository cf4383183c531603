import { AGENT_TOOL, CIRCUIT_STATES, AGENT as JOB_AGENT, worstOverTime } from '../../circuit-state.ts';
import { dashboardLinks, fromSeries, seriesTracesLink, tracesLink, UID } from '../../links.ts';
import { ATTR, label, legend, METRIC } from '../../names.ts';
import { COLOUR, STATE_COLOURS } from '../../palette.ts';
import { bars, coloured, type Row, sized, stacked } from '../../panels.ts';
import { gained, highest, type Matchers, overall, series, sumBy } from '../../promql.ts';
import { either, recorded } from '../../recorded.ts';
import { transitions } from '../../recorded-forms.ts';
import { stateTimeline } from '../../state-timeline.ts';
import { orZero, orZeroNamed } from '../../zeros.ts';
import { SPANS } from '../spans.ts';

const { circuits } = METRIC;
const AGENT = [ATTR.agent] as const;
const LINES = 10;
const BANDS = 10;
const OPENED = { [ATTR.stateTo]: ['open'] } satisfies Matchers;

const states = () =>
  stateTimeline(
    {
      title: 'State over time',
      description: `The worst state among the circuits of each agent: the ${BANDS} agents whose circuits are not closed now or opened last. If all agents are affected at once, the tool is down. If one is, check its credentials, network and arguments. A band of group:NAME is the circuit of a group. While it is open, calls of all of its tools are skipped, although their own circuits are closed. An opening between two scrapes is not shown here. The openings below include it.`,
      ...sized(24, 8, 'none'),
    },
    {
      expr: worstOverTime(BANDS),
      legend: legend(ATTR.agent, ATTR.tool),
    },
    CIRCUIT_STATES,
  )
    .links(
      dashboardLinks([
        tracesLink('Traces of failed calls', SPANS.failed),
        tracesLink('Traces of probes', SPANS.probe),
        tracesLink('Traces of skips and pauses', SPANS.notRun),
      ]),
    )
    .dataLinks(
      dashboardLinks([
        fromSeries(UID.toolDetail, 'This agent alone', ...AGENT_TOOL),
        fromSeries(UID.failureBudget, 'Failure budget of the agent', ...JOB_AGENT),
        seriesTracesLink('Traces of failed calls of this agent', [ATTR.agent, ATTR.tool], SPANS.failed),
      ]),
    );

const openings = () =>
  bars(
    {
      title: 'Openings by agent',
      description: `From the counter, so openings between two scrapes are included. A failed probe opens a circuit again. Each opening is drawn for one rate interval; the ${LINES} agents with the most openings.`,
      ...sized(12, 8, 'none'),
    },
    {
      expr: orZeroNamed(
        highest(
          `${transitions(AGENT, '$__rate_interval', OPENED)} > 0`,
          LINES,
          AGENT,
          either(
            'byAgent',
            sumBy(AGENT, `sum_over_time(${recorded('transitions', OPENED)}[$__range] @ end())`),
            sumBy(AGENT, overall(METRIC.transitions, OPENED)),
          ),
        ),
        ATTR.agent,
        'none',
      ),
      legend: legend(ATTR.agent),
    },
  ).dataLinks(
    dashboardLinks([
      fromSeries(UID.toolDetail, 'This agent alone', ATTR.agent),
      seriesTracesLink('Traces of failed calls of this agent', [ATTR.agent], SPANS.failed),
    ]),
  );

/** Both states in one label, because a legend cannot hide the part that the line `none` does not have. */
const fromTo = (expr: string): string => {
  const [from, to] = [label(ATTR.stateFrom), label(ATTR.stateTo)];
  return `label_join(${expr}, "${from}", " → ", "${from}", "${to}")`;
};

const changes = () =>
  coloured(
    bars(
      {
        title: 'Transitions',
        description:
          'Changes of state, from → to. A normal outage is closed → open → half_open → closed. Many half_open → open are failed probes. Other changes are made by hand. Each change is drawn for one rate interval.',
        ...sized(12, 8, 'none'),
      },
      {
        expr: orZeroNamed(
          fromTo(`${transitions([ATTR.stateFrom, ATTR.stateTo], '$__rate_interval')} > 0`),
          ATTR.stateFrom,
          'none',
        ),
        legend: legend(ATTR.stateFrom),
      },
    ),
    {
      'closed → open': COLOUR.orange,
      'open → half_open': COLOUR.sky,
      'half_open → open': COLOUR.yellow,
      'half_open → closed': COLOUR.green,
    },
  );

const PROBED = { [ATTR.decision]: ['probe'] } satisfies Matchers;
const PROBING = { [ATTR.stateFrom]: ['open'], [ATTR.stateTo]: ['half_open'] } satisfies Matchers;

/** Recorded decisions are those of 5 minutes, so recorded transitions are too. */
const changed = (which: Matchers): readonly [ofRecorded: string, ofSeries: string] => [
  sumBy([], `sum_over_time(${recorded('transitions', which)}[5m])`),
  sumBy([], gained(METRIC.transitions, '$__rate_interval', which)),
];

const ended = (to: 'open' | 'closed'): string =>
  orZero(either('byAgent', ...changed({ [ATTR.stateFrom]: ['half_open'], [ATTR.stateTo]: [to] })));

/** The decision to probe belongs to a tool. For a group alone, the changes to half-open count its probes. */
const sent = (): string => {
  const [ofRecorded, ofSeries] = changed(PROBING);
  return orZero(
    either(
      'byAgent',
      `${sumBy([], `round(${recorded('decisions5m', PROBED)})`)} or ${ofRecorded}`,
      `${sumBy([], gained(METRIC.decisions, '$__rate_interval', PROBED))} or ${ofSeries}`,
    ),
  );
};

const counts = () =>
  coloured(
    stacked(
      {
        title: 'Circuits by state',
        description:
          'The number of circuits in each state, one for each live session (or one for all sessions of a process). A group has its own in addition to those of its tools. If a few of many are open, the cause is in those sessions. If all are, it is the tool.',
        ...sized(12, 8, 'none'),
      },
      {
        expr: either('byTool', sumBy([ATTR.state], recorded('circuitsOfTool')), sumBy([ATTR.state], series(circuits))),
        legend: legend(ATTR.state),
      },
    ),
    STATE_COLOURS,
  );

const CLOSED = 'succeeded: closed';
const REOPENED = 'failed: open again';
const SENT = 'probes sent';

const probes = () =>
  coloured(
    bars(
      {
        title: 'Probes and how they ended',
        description:
          'Probes: calls that test whether the tool works again (line), and their results (bars): half_open → closed, or half_open → open. If more are sent than end, a circuit needs several, or a probe was cancelled or its outcome ignored. A call of one of its tools probes a group. Each probe is drawn for one rate interval; with All instances and the recording rules, for 5 minutes.',
        ...sized(12, 8, 'none'),
      },
      { expr: ended('closed'), legend: CLOSED },
      { expr: ended('open'), legend: REOPENED },
      { expr: sent(), legend: SENT },
    ),
    { [CLOSED]: COLOUR.green, [REOPENED]: COLOUR.orange, [SENT]: COLOUR.sky },
  )
    .overrideByName(SENT, [
      { id: 'custom.drawStyle', value: 'line' },
      { id: 'custom.fillOpacity', value: 0 },
      { id: 'custom.lineWidth', value: 2 },
      { id: 'custom.stacking', value: { mode: 'none', group: 'A' } },
    ])
    .links(dashboardLinks([tracesLink('Traces of probes', SPANS.probe)]));

/** The changes of the circuits, and how they recovered. */
export const circuitsRow = (): Row => ({
  title: 'Circuits',
  panels: [states(), counts(), openings(), changes(), probes()],
});
