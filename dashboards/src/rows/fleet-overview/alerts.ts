import { ALERT, firingAlerts, firingFor, NO_RULES, SEVERITIES } from '../../alert-state.ts';
import { fromRow, UID } from '../../links.ts';
import { ATTR, label } from '../../names.ts';
import { table } from '../../table.ts';

/** What somebody has been told already. */
export const alerts = () =>
  table(
    {
      title: 'Firing alerts',
      description: `Breakerbox's alerts that fire now, critical ones first, and for how long the reason has been there. From the rules that this Prometheus evaluates: where it says "${NO_RULES}", load alerts/rules, or look in Grafana under Alerting if Grafana evaluates them. Agent and tool are left out where an alert is about several.`,
      unit: 'none',
      width: 9,
      height: 7,
    },
    [
      {
        label: ALERT.name,
        title: 'Alert',
        side: 'left',
        prefix: 'Breakerbox',
        width: 150,
        links: [fromRow(UID.correlatedFailures, 'Correlated failures', {})],
      },
      {
        label: label(ATTR.agent),
        title: 'Agent',
        side: 'left',
        width: 120,
        absent: '–',
        links: [fromRow(UID.failureBudget, 'Failure budget of the agent', { [ATTR.agent]: 'Agent' })],
      },
      {
        label: label(ATTR.tool),
        title: 'Tool',
        side: 'left',
        width: 120,
        absent: '–',
        // An alert about one tool of several agents has no agent: the one chosen on top stays.
        links: [fromRow(UID.toolDetail, 'Tool detail', { [ATTR.tool]: 'Tool' })],
      },
    ],
    [
      { title: 'Severity', expr: firingAlerts(), states: SEVERITIES, width: 100 },
      { title: 'For', expr: firingFor(), unit: 's', decimals: 0, zero: '–', width: 85 },
    ],
    'Severity',
  );
