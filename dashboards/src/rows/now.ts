import type { SessionState } from '@breakerbox/core';
import { ATTR, METRIC, OPEN_STATES } from '../names.ts';
import { COLOUR } from '../palette.ts';
import { type Row, stat, thresholds } from '../panels.ts';
import { circuitsIn, gained, orZero, series, sumBy } from '../promql.ts';
import { budgetSpent } from './budget.ts';

const face = { unit: 'none', height: 4 } as const;
const needsAction = thresholds([1, COLOUR.vermilion]);

const sessionsIn = (state: SessionState): string =>
  orZero(sumBy([], series(METRIC.sessions, { [ATTR.sessionState]: [state] })));

/** What an operator sees at a glance: no colour means that nobody needs to do anything. */
export const nowRow = (): Row => ({
  title: 'Now',
  panels: [
    stat(
      {
        ...face,
        width: 3,
        title: 'Agents reporting',
        description:
          'Agents whose telemetry Prometheus has at this moment. Fewer than you run: look at their scrapes first.',
      },
      `count(${sumBy([ATTR.agent], series(METRIC.sessions))})`,
      thresholds(),
    ),
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
    ),
    stat(
      {
        ...face,
        width: 3,
        title: 'Half-open circuits',
        description: 'Circuits that are trying the tool again with a probe, and skip all other calls meanwhile.',
      },
      circuitsIn([], ['half_open']),
      thresholds([1, COLOUR.sky]),
    ),
    stat(
      {
        ...face,
        width: 4,
        title: 'Paused on budget',
        description: 'Sessions that have used up their failure budget and call no tool. They wait for resume().',
      },
      sessionsIn('paused_budget'),
      needsAction,
    ),
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
    ),
    stat(
      {
        ...face,
        width: 3,
        title: 'Systemic events',
        description: 'Failures of several tools that were recognised as one event, in the time range shown.',
      },
      orZero(sumBy([], gained(METRIC.systemicEvents, '$__range'))),
      thresholds([1, COLOUR.orange]),
    ).decimals(0),
    stat(
      {
        ...face,
        width: 4,
        unit: 'percentunit',
        title: 'Failure budget left',
        description:
          'Of the failures that sessions were granted in the time range shown, the share that is not used. 0 % means that sessions pause as fast as they are granted more.',
      },
      `1 - clamp_max((${budgetSpent([], '$__range')}), 1)`,
      // Less is worse: the colour has to be on the lowest step.
      thresholds([0, COLOUR.vermilion], [0.1, COLOUR.orange], [0.25, 'transparent']),
    ).decimals(0),
  ],
});
