import type { SessionState } from '@breakerbox/core';
import { budgetLeft } from '../budget.ts';
import { dashboardLinks, fromSeries, UID } from '../links.ts';
import { ATTR, type GroupKey, METRIC } from '../names.ts';
import { CALM, COLOUR } from '../palette.ts';
import { type Face, stat, thresholds } from '../panels.ts';
import { gained, orZero, series, sumBy } from '../promql.ts';

/** Numbers that more than one dashboard has. */

type Size = Pick<Face, 'width' | 'height'>;

/** For what waits for a person. */
export const needsAction = () => thresholds([1, COLOUR.vermilion]);

/** Live sessions in any of the states. */
export const sessionsIn = (by: readonly GroupKey[], ...states: readonly SessionState[]): string =>
  sumBy(by, series(METRIC.sessions, { [ATTR.sessionState]: states }));

export const pausedOnBudget = (size: Size) =>
  stat(
    {
      ...size,
      title: 'Paused on budget',
      description: 'Sessions that have used up their failure budget and call no tool. They wait for resume().',
      unit: 'none',
    },
    orZero(sessionsIn([], 'paused_budget')),
    needsAction(),
  ).dataLinks(dashboardLinks([fromSeries(UID.failureBudget, 'Failure budget')]));

export const pausedAsSystemic = (size: Size) =>
  stat(
    {
      ...size,
      title: 'Paused as systemic',
      description:
        'Sessions that stopped because several of their tools failed as one event, which is charged once. They wait for confirmRecovered(), or for what is configured instead. In scope process no session stops: calls of the affected tools are skipped.',
      unit: 'none',
    },
    orZero(sessionsIn([], 'paused_systemic')),
    needsAction(),
  ).dataLinks(
    dashboardLinks([
      fromSeries(UID.correlatedFailures, 'Correlated failures'),
      fromSeries(UID.failureBudget, 'Failure budget'),
    ]),
  );

export const systemicEvents = (size: Size) =>
  stat(
    {
      ...size,
      title: 'Systemic events',
      description:
        'Failures of several tools that a session, or in scope process its process, recognised as one event, in the time range shown.',
      unit: 'none',
    },
    orZero(sumBy([], gained(METRIC.systemicEvents, '$__range'))),
    thresholds([1, COLOUR.orange]),
  )
    .decimals(0)
    .dataLinks(dashboardLinks([fromSeries(UID.correlatedFailures, 'Correlated failures')]));

/** Orange at most: who has to act is told by what is paused. */
export const budgetLeftNow = (title: string, size: Size) =>
  stat(
    {
      ...size,
      title,
      description:
        'Of the failures that live sessions may have within their budget windows, the share that is left now. 0 % means that every session is paused. What leaves a window comes back.',
      unit: 'percentunit',
    },
    budgetLeft([]),
    // Less is worse: the colour has to be on the lowest step.
    thresholds([0, COLOUR.orange], [0.1, COLOUR.yellow], [0.25, CALM]),
  )
    .decimals(0)
    .dataLinks(dashboardLinks([fromSeries(UID.failureBudget, 'Failure budget')]));
