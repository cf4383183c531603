import type { SessionState } from '@breakerbox/core';
import { budgetLeft } from '../budget.ts';
import { dashboardLinks, fromSeries, UID } from '../links.ts';
import { ATTR, type GroupKey, METRIC } from '../names.ts';
import { CALM, COLOUR } from '../palette.ts';
import { type Face, stat, thresholds } from '../panels.ts';
import { series, sumBy } from '../promql.ts';
import { grown } from '../recorded-forms.ts';
import { orZero } from '../zeros.ts';

/** Numbers that several dashboards show. */

type Size = Pick<Face, 'width' | 'height'>;

/** For states that wait for a person. */
export const needsAction = () => thresholds([1, COLOUR.vermilion]);

/** Live sessions in any of the states. */
export const sessionsIn = (by: readonly GroupKey[], ...states: readonly SessionState[]): string =>
  sumBy(by, series(METRIC.sessions, { [ATTR.sessionState]: states }));

export const pausedOnBudget = (size: Size) =>
  stat(
    {
      ...size,
      title: 'Out of budget',
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
      title: 'Paused: systemic',
      description:
        'Sessions that are paused because several of their tools failed as one event, which is charged once. They wait for confirmRecovered() or the configured recovery. In scope process no session is paused: calls of the affected tools are skipped.',
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
      title: 'Systemic events in range',
      description:
        'Failures of several tools that a session (in scope process, the process) recognised as one event, in the time range shown.',
      unit: 'none',
    },
    orZero(grown([], 'systemicEvents', '$__range')),
    thresholds([1, COLOUR.orange]),
  )
    .decimals(0)
    .dataLinks(dashboardLinks([fromSeries(UID.correlatedFailures, 'Correlated failures')]));

/** Orange at most: the paused sessions show whether a person must act. */
export const budgetLeftNow = (size: Size) =>
  stat(
    {
      ...size,
      title: 'Budget left',
      description:
        'The share that is left now of the failures that live sessions may have in their budget windows. 0 % means that every session is paused. A failure that leaves the window no longer counts.',
      unit: 'percentunit',
    },
    budgetLeft([]),
    // A lower value is worse, so the colour is on the lowest step.
    thresholds([0, COLOUR.orange], [0.1, COLOUR.yellow], [0.25, CALM]),
  )
    .decimals(0)
    .dataLinks(dashboardLinks([fromSeries(UID.failureBudget, 'Failure budget')]));
