import { ALERT, ALERT_STATES, sharedCause } from '../../alert-state.ts';
import { AGENT_TOOL, CIRCUIT_STATES } from '../../circuit-state.ts';
import { inOrderOfOpening, orNothingOpened } from '../../correlation.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, legend } from '../../names.ts';
import { sized } from '../../panels.ts';
import { BANDS, stateTimeline } from '../../state-timeline.ts';

const ALERT_BANDS = 5;

/** When alerts fired. */
export const alerts = () =>
  stateTimeline(
    {
      title: 'Alerts over time',
      description: `Alerts on systemic failures and correlated openings: pending until they have been true for long enough, then firing; the ${ALERT_BANDS} that were active longest. A band without an agent is about a tool of several agents.`,
      ...sized(24, 5, 'none'),
    },
    { expr: sharedCause(ALERT_BANDS), legend: `{{${ALERT.name}}} ${legend(ATTR.agent)} ${legend(ATTR.tool)}` },
    ALERT_STATES,
  );

/** Which circuits opened together, and in which order. */
export const circuits = () =>
  stateTimeline(
    {
      title: 'Circuits in the order of their opening',
      description: `The worst state of the ${BANDS} tools that opened last in the time range shown, the first opening at the top. Edges below one another are one event: look for what these tools share.`,
      ...sized(24, 12, 'none'),
    },
    {
      expr: orNothingOpened(inOrderOfOpening(BANDS)),
      legend: legend(ATTR.agent, ATTR.tool),
    },
    CIRCUIT_STATES,
  ).dataLinks(dashboardLinks([fromSeries(UID.toolDetail, 'Tool detail', ...AGENT_TOOL)]));
