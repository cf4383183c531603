import type { SessionState } from '@breakerbox/core';
import { budgetLeft } from '../../budget.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, METRIC, OPEN_STATES } from '../../names.ts';
import { CALM, COLOUR } from '../../palette.ts';
import { stat, thresholds } from '../../panels.ts';
import { circuitsIn, gained, orZero, series, sumBy } from '../../promql.ts';
import { JOB_AGENT, vanished } from '../../vanished.ts';

const face = { unit: 'none', height: 3 } as const;
const needsAction = thresholds([1, COLOUR.vermilion]);
const toToolDetail = dashboardLinks([fromSeries(UID.toolDetail, 'Tool detail')]);
const toBudget = dashboardLinks([fromSeries(UID.failureBudget, 'Failure budget')]);
const toCorrelated = dashboardLinks([fromSeries(UID.correlatedFailures, 'Correlated failures')]);

const sessionsIn = (state: SessionState): string =>
  orZero(sumBy([], series(METRIC.sessions, { [ATTR.sessionState]: [state] })));

const agents = (minutes: number) => [
  stat(
    {
      ...face,
      width: 3,
      title: 'Agents reporting',
      description:
        'Agents whose telemetry Prometheus has at this moment, each in each of its jobs. Fewer than you run: look at their scrapes first.',
    },
    `count(${sumBy(JOB_AGENT, series(METRIC.sessions))})`,
    thresholds(),
  ),
  stat(
    {
      ...face,
      width: 3,
      title: 'Agents vanished',
      description: `Agents that reported for at least ${minutes} minutes of the last hour, and nothing in the last five: the process, the network or the scrape is down. One that ran for less and ended is not counted. The table of agents names them.`,
    },
    orZero(`count(${vanished(JOB_AGENT, minutes)})`),
    needsAction,
  ),
];

const paused = () => [
  stat(
    {
      ...face,
      width: 4,
      title: 'Paused on budget',
      description: 'Sessions that have used up their failure budget and call no tool. They wait for resume().',
    },
    sessionsIn('paused_budget'),
    needsAction,
  ).dataLinks(toBudget),
  stat(
    {
      ...face,
      width: 4,
      title: 'Paused as systemic',
      description:
        'Sessions that stopped because several tools failed as one event. They wait for confirmRecovered(), or for what is configured instead.',
    },
    sessionsIn('paused_systemic'),
    needsAction,
  ).dataLinks(toCorrelated),
];

const troubles = () => [
  stat(
    {
      ...face,
      width: 3,
      title: 'Open circuits',
      description:
        'Circuits that reject calls now, forced ones too. They probe and close by themselves; act when one stays open.',
    },
    circuitsIn([], OPEN_STATES),
    thresholds([1, COLOUR.orange]),
  ).dataLinks(toToolDetail),
  stat(
    {
      ...face,
      width: 3,
      title: 'Systemic events',
      description: 'Failures of several tools that were recognised as one event, in the time range shown.',
    },
    orZero(sumBy([], gained(METRIC.systemicEvents, '$__range'))),
    thresholds([1, COLOUR.orange]),
  )
    .decimals(0)
    .dataLinks(toCorrelated),
  stat(
    {
      ...face,
      width: 4,
      unit: 'percentunit',
      title: 'Failure budget left',
      description:
        'Of the failures that sessions were granted in the time range shown, the share that is not used. 0 % means that sessions pause as fast as they are granted more.',
    },
    budgetLeft([], '$__range'),
    // Less is worse: the colour has to be on the lowest step.
    thresholds([0, COLOUR.vermilion], [0.1, COLOUR.orange], [0.25, CALM]),
  )
    .decimals(0)
    .dataLinks(toBudget),
];

/**
 * What one sees at a glance: no colour means that nobody needs to do anything.
 * @param minutes of the last hour in which an agent must have reported to be missed
 */
export const now = (minutes: number) => [...agents(minutes), ...paused(), ...troubles()];
