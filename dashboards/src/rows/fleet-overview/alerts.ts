import { RUNBOOK_URL } from '@breakerbox/alerts';
import { MappingType, type ValueMap } from '@grafana/grafana-foundation-sdk/dashboard';
import { ALERT, firingAlerts, firingCount, firingFor, LINK, NO_RULES, SEVERITIES } from '../../alert-state.ts';
import { fromRow, fromRowTo, UID } from '../../links.ts';
import { ATTR, JOB, label } from '../../names.ts';
import { COLOUR } from '../../palette.ts';
import { sized, stat, thresholds } from '../../panels.ts';
import { HIDDEN_JOB, type Key, table, tight } from '../../table.ts';

/** Columns that are not drawn. */
const FOR_LINKS = {
  runbook: 'Runbook of the alert',
  dashboard: 'Dashboard of the alert',
  agent: { [JOB]: 'Job of the link', [ATTR.agent]: 'Agent of the link' },
  tool: { [ATTR.tool]: 'Tool of the link' },
} as const;
const TO_AGENT = FOR_LINKS.agent;
const TO_TOOL = { ...FOR_LINKS.agent, ...FOR_LINKS.tool } as const;

const hidden = (name: string, title: string): Key => ({ label: name, title, side: 'right', hidden: true });

const keys: readonly Key[] = [
  {
    label: ALERT.name,
    title: 'Alert: what to do',
    side: 'left',
    prefix: 'Breakerbox',
    width: 142,
    // The only link of the cell, so that one click opens it: Grafana shows a menu for several.
    links: [{ title: 'What to do: runbook', url: `${RUNBOOK_URL}/\${__data.fields["${FOR_LINKS.runbook}"]}.md` }],
  },
  {
    label: label(ATTR.agent),
    title: 'Agent',
    side: 'left',
    absent: '–',
    links: [fromRow(UID.failureBudget, 'Failure budget of the agent', TO_AGENT)],
  },
  {
    label: label(ATTR.tool),
    title: 'Tool',
    side: 'left',
    absent: '–',
    width: 90,
    links: [fromRow(UID.toolDetail, 'Tool detail', TO_TOOL)],
  },
  HIDDEN_JOB,
  hidden(LINK.runbook, FOR_LINKS.runbook),
  hidden(LINK.dashboard, FOR_LINKS.dashboard),
  hidden(LINK[JOB], TO_TOOL[JOB]),
  hidden(LINK[ATTR.agent], TO_TOOL[ATTR.agent]),
  hidden(LINK[ATTR.tool], TO_TOOL[ATTR.tool]),
];

/** The rows of the table that are seen without scrolling. */
const ROWS_SEEN = 5;

const ALL_SEEN: ValueMap = {
  type: MappingType.ValueToText,
  options: Object.fromEntries(
    Array.from({ length: ROWS_SEEN + 1 }, (_, index) => [index, { text: `${index}`, index }]),
  ),
};

/** How many alerts there are, and how many of them the table shows without scrolling: `5 of 22`. */
export const alertCount = () =>
  stat(
    {
      title: 'Alerts',
      description: `Breakerbox's alerts that fire now, without those that are over and only kept. "${ROWS_SEEN} of 22": the table below shows the worst and newest ${ROWS_SEEN}, and the others when you scroll it. 0 also if this Prometheus evaluates no rules.`,
      ...sized(3, 3, `prefix:${ROWS_SEEN} of `),
    },
    firingCount(),
    thresholds([1, COLOUR.orange]),
  ).mappings([ALL_SEEN]);

/** The alerts that fire now. */
export const alerts = () =>
  tight(
    table(
      {
        title: 'Firing alerts',
        description: `Breakerbox's alerts that fire now: critical ones first, of those the newest first, of equally new ones (within 5 minutes) the one that affects most circuits or sessions first, and last those that are over and only kept. At most 100; "Alerts" above counts all that are not over. For: how long a tool is unavailable, and for other alerts how long their condition is true (ALERTS_FOR_STATE); both longer than the alert fires. Click an alert for what to do: its runbook, with the commands. Click its severity for its dashboard. The alerts come from rules that this Prometheus evaluates. If the table says "${NO_RULES}", load alerts/rules, or look in Grafana under Alerting if Grafana evaluates them. Several: the alert is about several tools, or about one tool of several agents.`,
        ...sized(10, 7, 'none'),
      },
      keys,
      [
        {
          title: 'Severity',
          expr: firingAlerts(),
          states: SEVERITIES,
          width: 69,
          links: [fromRowTo(FOR_LINKS.dashboard, 'Dashboard of the alert', TO_TOOL)],
        },
        { title: 'For', expr: firingFor(), unit: 's', decimals: 1, zero: '–', width: 72 },
      ],
      'Severity',
    ),
  );
