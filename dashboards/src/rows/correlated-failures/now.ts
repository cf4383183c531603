import { sharedCauseCount } from '../../alert-state.ts';
import { openedIn, type Shared, togetherBy } from '../../correlation.ts';
import type { Together } from '../../limits.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, METRIC } from '../../names.ts';
import { COLOUR } from '../../palette.ts';
import { stat, thresholds } from '../../panels.ts';
import { gained, orZero, series, sumBy } from '../../promql.ts';

const face = { unit: 'none', width: 4, height: 4 } as const;
const needsAction = thresholds([1, COLOUR.vermilion]);

const largest = (shared: Shared, seconds: number): string => orZero(`max(${togetherBy(shared, seconds)})`);

/** Whether there is, or was, a failure of several at once. */
export const now = ({ seconds, tools, agents }: Together) => [
  stat(
    {
      ...face,
      title: 'Alerts of a shared cause',
      description:
        'Alerts on systemic failures and correlated openings that fire now. From the rules that this Prometheus evaluates; if Grafana evaluates them, look there under Alerting.',
    },
    sharedCauseCount(),
    needsAction,
  ),
  stat(
    {
      ...face,
      title: 'Paused as systemic',
      description:
        'Sessions that stopped because several of their tools failed as one event. They wait for confirmRecovered(), or for what is configured instead.',
    },
    orZero(sumBy([], series(METRIC.sessions, { [ATTR.sessionState]: ['paused_systemic'] }))),
    needsAction,
  ).dataLinks(dashboardLinks([fromSeries(UID.failureBudget, 'Failure budget')])),
  stat(
    {
      ...face,
      title: 'Systemic events',
      description: 'Failures of several tools that a session recognised as one event, in the time range shown.',
    },
    orZero(sumBy([], gained(METRIC.systemicEvents, '$__range'))),
    thresholds([1, COLOUR.orange]),
  ).decimals(0),
  stat(
    {
      ...face,
      title: 'Tools that opened',
      description:
        'Tools whose circuit opened in the time range shown, by agent and error; each once, however often and in how many sessions it opened.',
    },
    orZero(`count(${openedIn('$__range')})`),
    thresholds(),
  ).dataLinks(dashboardLinks([fromSeries(UID.toolDetail, 'Tool detail')])),
  stat(
    {
      ...face,
      title: 'Most tools of one agent',
      description: `The most tools of one agent that opened within ${seconds} s and with one error, in the time range shown. From ${tools} on it is taken for one cause.`,
    },
    largest(ATTR.agent, seconds),
    thresholds([tools, COLOUR.orange]),
  ),
  stat(
    {
      ...face,
      title: 'Most agents with one tool',
      description: `The most agents on which one tool opened within ${seconds} s and with one error, in the time range shown. From ${agents} on it is taken for one cause; of a large fleet the alert asks for a share, too.`,
    },
    largest(ATTR.tool, seconds),
    thresholds([agents, COLOUR.orange]),
  ),
];
