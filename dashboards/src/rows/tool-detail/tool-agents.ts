import { AGENT_TOOL, CIRCUIT_STATES_IN_TABLE } from '../../circuit-state.ts';
import { fromRow, rowTracesLink, UID } from '../../links.ts';
import { ATTR, label, METRIC, OPEN_STATES } from '../../names.ts';
import { COLOUR } from '../../palette.ts';
import type { Row } from '../../panels.ts';
import { sized } from '../../panels.ts';
import { circuitsIn, rate, sumBy } from '../../promql.ts';
import { either, recorded } from '../../recorded.ts';
import { agentToolFailed, agentToolNotRun, agentToolP95 } from '../../recorded-forms.ts';
import { outages, timeToRecovery } from '../../recovery.ts';
import { AGENT_COLUMNS, AGENT_TOOL_COLUMNS, JOB_KEY, table } from '../../table.ts';
import { worstFirst } from '../../worst-first.ts';
import { SPANS } from '../spans.ts';

const { outcomes } = METRIC;
const ROWS = 100;
const NAMED = AGENT_TOOL_COLUMNS;

const { state, inTable } = worstFirst(ROWS);
const CALLED = either(
  'byAgent',
  sumBy(AGENT_TOOL, recorded('executions5m')),
  sumBy(AGENT_TOOL, rate(outcomes, '$__range')),
);
const orNothing = (expr: string): string => `${expr} or ${CALLED} * 0`;

const agents = () =>
  table(
    {
      title: 'Agents that use it, in the time range',
      description: `Each agent with the selected tools; first those that are open now, then those that opened last; at most ${ROWS}. State: the worst circuit. Open: the number of circuits that reject calls now. The other columns cover the time range shown. Failed: failures divided by calls that succeeded or failed. Not run: share of the decisions. p95: with All instances and the recording rules, the median of the values of 15 minutes each. Mean outage: the mean time to recovery. A group (group:NAME) has circuits but no calls of its own.`,
      ...sized(24, 9, 'none'),
    },
    [
      {
        label: label(ATTR.agent),
        title: NAMED[ATTR.agent],
        side: 'left',
        links: [
          fromRow(UID.toolDetail, 'This agent alone', NAMED),
          fromRow(UID.failureBudget, 'Failure budget of the agent', AGENT_COLUMNS),
          fromRow(UID.correlatedFailures, 'Correlated failures of the agent', AGENT_COLUMNS),
        ],
      },
      {
        label: label(ATTR.tool),
        title: NAMED[ATTR.tool],
        side: 'left',
        links: [
          rowTracesLink('Traces of failed calls', NAMED, SPANS.failed),
          rowTracesLink('Traces of probes', NAMED, SPANS.probe),
          rowTracesLink('Traces of skips and pauses', NAMED, SPANS.notRun),
        ],
      },
      JOB_KEY,
    ],
    [
      { title: 'State', expr: state, states: CIRCUIT_STATES_IN_TABLE, width: 165 },
      { title: 'Open', expr: inTable(circuitsIn(AGENT_TOOL, OPEN_STATES)), width: 60 },
      {
        title: 'Calls',
        expr: inTable(sumBy(AGENT_TOOL, rate(outcomes, '$__range'))),
        unit: 'ops',
        absent: '–',
        width: 110,
      },
      {
        title: 'Failed',
        expr: inTable(agentToolFailed('$__range')),
        unit: 'percentunit',
        decimals: 1,
        absent: '–',
        gauge: COLOUR.orange,
        width: 120,
      },
      {
        title: 'Not run',
        expr: inTable(agentToolNotRun('$__range')),
        unit: 'percentunit',
        decimals: 1,
        absent: '–',
        gauge: COLOUR.sky,
        width: 120,
      },
      {
        title: 'p95',
        expr: inTable(orNothing(agentToolP95('$__range'))),
        unit: 's',
        zero: 'no calls',
        absent: '–',
        width: 80,
      },
      { title: 'Outages', expr: inTable(outages(AGENT_TOOL)), decimals: 0, width: 80 },
      {
        title: 'Mean outage',
        expr: inTable(timeToRecovery(AGENT_TOOL)),
        unit: 's',
        zero: 'no outage',
        width: 110,
      },
    ],
    'State',
  ).maxDataPoints(1000);

/** The agents that an outage affects. */
export const agentsRow = (): Row => ({ title: 'Agents', panels: [agents()] });
