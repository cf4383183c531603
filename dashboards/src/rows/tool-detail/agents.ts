import { AGENT_TOOL } from '../../circuit-state.ts';
import { fromRow, rowTracesLink, UID } from '../../links.ts';
import { ATTR, label, METRIC, OPEN_STATES } from '../../names.ts';
import { COLOUR } from '../../palette.ts';
import type { Row } from '../../panels.ts';
import { circuitsIn, highest, type Matchers, quantile, rate, share, sumBy, trouble } from '../../promql.ts';
import { outages, timeToRecovery } from '../../recovery.ts';
import { table } from '../../table.ts';
import { SPANS } from './spans.ts';

const { decisions, duration, outcomes } = METRIC;
const ROWS = 100;
const NAMED = { [ATTR.agent]: 'Agent', [ATTR.tool]: 'Tool' } as const;
const FAILURE = { [ATTR.outcome]: ['failure'] } satisfies Matchers;
const NOT_RUN = { [ATTR.decision]: ['skip', 'pause'] } satisfies Matchers;

const inTable = (expr: string): string => highest(expr, ROWS, AGENT_TOOL, trouble(AGENT_TOOL));
const orNothing = (expr: string): string => `${expr} or ${sumBy(AGENT_TOOL, rate(outcomes, '$__range'))} * 0`;

const agents = () =>
  table(
    {
      title: 'Agents that use it',
      description: `Each agent with the tools that are chosen, those that are out first; at most ${ROWS}, whose circuits were out longest. All but the open circuits is of the time range shown; failed is a share of the calls that were run, not run a share of the decisions, and out per outage the mean time to recovery.`,
      unit: 'none',
      width: 24,
      height: 9,
    },
    [
      {
        label: label(ATTR.agent),
        title: NAMED[ATTR.agent],
        side: 'left',
        links: [
          fromRow(UID.toolDetail, 'This agent alone', NAMED),
          fromRow(UID.failureBudget, 'Failure budget of the agent', { [ATTR.agent]: 'Agent' }),
          fromRow(UID.correlatedFailures, 'Correlated failures of the agent', { [ATTR.agent]: 'Agent' }),
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
    ],
    [
      {
        title: 'Open',
        expr: inTable(circuitsIn(AGENT_TOOL, OPEN_STATES)),
        alarm: { from: 1, colour: COLOUR.orange },
        width: 80,
      },
      { title: 'Calls', expr: inTable(sumBy(AGENT_TOOL, rate(outcomes, '$__range'))), unit: 'ops' },
      {
        title: 'Failed',
        expr: inTable(
          share(sumBy(AGENT_TOOL, rate(outcomes, '$__range', FAILURE)), sumBy(AGENT_TOOL, rate(outcomes, '$__range'))),
        ),
        unit: 'percentunit',
        decimals: 1,
        gauge: COLOUR.orange,
      },
      {
        title: 'Not run',
        expr: inTable(
          share(
            sumBy(AGENT_TOOL, rate(decisions, '$__range', NOT_RUN)),
            sumBy(AGENT_TOOL, rate(decisions, '$__range')),
          ),
        ),
        unit: 'percentunit',
        decimals: 1,
        gauge: COLOUR.sky,
      },
      {
        title: 'p95',
        expr: inTable(orNothing(quantile(0.95, duration, AGENT_TOOL, '$__range'))),
        unit: 's',
        zero: 'no calls',
        width: 100,
      },
      { title: 'Outages', expr: inTable(outages(AGENT_TOOL)), decimals: 0, width: 90 },
      {
        title: 'Out per outage',
        expr: inTable(timeToRecovery(AGENT_TOOL)),
        unit: 's',
        zero: 'no outage',
        width: 140,
      },
    ],
    'Open',
  ).maxDataPoints(1000);

/** Whom it concerns. */
export const agentsRow = (): Row => ({ title: 'Agents', panels: [agents()] });
