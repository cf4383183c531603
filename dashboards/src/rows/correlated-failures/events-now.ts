import { sharedCauseCount } from '../../alert-state.ts';
import { LOOKS, openedIn, type Shared, shortestStep, togetherBy } from '../../correlation.ts';
import type { Together } from '../../limits.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR } from '../../names.ts';
import { COLOUR } from '../../palette.ts';
import { stat, thresholds } from '../../panels.ts';
import { orZero } from '../../zeros.ts';
import { needsAction, pausedAsSystemic, systemicEvents } from '../stats.ts';
import { WHAT_ALERTS_LEAVE_OUT } from './leave-out.ts';

const size = { width: 8, height: 3 } as const;
const face = { ...size, unit: 'none' } as const;

const largest = (shared: Shared, seconds: number): string => orZero(`max(${togetherBy(shared, seconds)})`);

/** Whether several tools or agents fail at once, or did. */
export const now = ({ seconds, tools, agents }: Together) => [
  stat(
    {
      ...face,
      title: 'Alerts of a shared cause',
      description:
        'Alerts on systemic failures and correlated openings that fire now, from the rules that this Prometheus evaluates. If Grafana evaluates them, look there under Alerting.',
    },
    sharedCauseCount(),
    needsAction(),
  ),
  pausedAsSystemic(size),
  systemicEvents(size),
  stat(
    {
      ...face,
      title: 'Tools that opened in range',
      description:
        'Tools whose circuit opened in the time range shown, by agent and error. Each counts once, even if it opened often or in many sessions.',
    },
    orZero(`count(${openedIn('$__range')})`),
  ).dataLinks(dashboardLinks([fromSeries(UID.toolDetail, 'Tool detail')])),
  stat(
    {
      ...face,
      title: 'Most tools of one agent in range',
      description: `The most tools of one agent that opened within ${seconds} s with one error, in the time range shown. ${tools} or more count as one cause. ${WHAT_ALERTS_LEAVE_OUT}`,
    },
    largest(ATTR.agent, seconds),
    thresholds([tools, COLOUR.orange]),
  )
    .interval(shortestStep(seconds))
    .maxDataPoints(LOOKS),
  stat(
    {
      ...face,
      title: 'Most agents with one tool in range',
      description: `The most agents on which one tool opened within ${seconds} s with one error, in the time range shown. ${agents} or more count as one cause. ${WHAT_ALERTS_LEAVE_OUT}`,
    },
    largest(ATTR.tool, seconds),
    thresholds([agents, COLOUR.orange]),
  )
    .interval(shortestStep(seconds))
    .maxDataPoints(LOOKS),
];
