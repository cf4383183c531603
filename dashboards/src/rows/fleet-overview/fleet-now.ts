import { AGENT } from '../../circuit-state.ts';
import type { Absent } from '../../limits.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, METRIC, OPEN_STATES } from '../../names.ts';
import { COLOUR } from '../../palette.ts';
import { stat, thresholds } from '../../panels.ts';
import { circuitsIn, series, sumBy } from '../../promql.ts';
import { either, recorded } from '../../recorded.ts';
import { vanished } from '../../vanished.ts';
import { orZero } from '../../zeros.ts';
import { needsAction, pausedAsSystemic, pausedOnBudget } from '../stats.ts';
import { alertCount } from './alerts.ts';

const size = { width: 4, height: 3 } as const;
const face = { ...size, unit: 'none' } as const;

const reporting = () =>
  stat(
    {
      ...face,
      width: 3,
      title: 'Agents',
      description:
        'Agents whose telemetry Prometheus has now, counted once per job. If there are fewer than you run, check their scrapes first.',
    },
    `count(${sumBy(AGENT, series(METRIC.sessions))})`,
  );

const gone = (absent: Absent) =>
  stat(
    {
      ...face,
      title: 'Vanished',
      description: `Agents that reported for at least ${absent.minutes} minutes of the last hour, and nothing for ${absent.silence}: the process, the network or the scrape is down. Agents that ran for a shorter time or that come and go do not count. BreakerboxTelemetryAbsent counts in the same way. The table of agents names them.`,
    },
    orZero(`count(${vanished(absent)})`),
    needsAction(),
  );

const openCircuits = () =>
  stat(
    {
      ...face,
      width: 5,
      title: 'Open circuits',
      description:
        'Circuits that reject calls now, including forced ones. Circuits probe and close by themselves. Act if one stays open.',
    },
    either(
      'byTool',
      `sum(${recorded('circuitsOfTool', { [ATTR.state]: OPEN_STATES })}) or sum(${recorded('circuitsOfTool')}) * 0`,
      circuitsIn([], OPEN_STATES),
    ),
    thresholds([1, COLOUR.orange]),
  ).dataLinks(dashboardLinks([fromSeries(UID.toolDetail, 'Tool detail')]));

/**
 * The numbers at a glance. No colour: no action is needed.
 * @param absent when an agent counts as absent
 */
export const now = (absent: Absent) => [
  openCircuits(),
  reporting(),
  gone(absent),
  pausedOnBudget(size),
  pausedAsSystemic({ ...size, width: 5 }),
  // Above the table of alerts, of which the first screen shows only the first rows.
  alertCount(),
];
