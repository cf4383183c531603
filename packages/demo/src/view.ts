import { type CircuitView, GROUP_PREFIX } from '@breakerbox/core';
import type { SessionReport } from '@breakerbox/core/report';
import { tableLines, wrap } from '../../cli/src/plain-table.ts';
import type { AlertRow } from './alert-watch.ts';
import type { AgentStatus, DemoStatus } from './demo-status.ts';
import { clockTime, shortSeconds } from './duration.ts';
import { entryLine, type Tone } from './journal.ts';
import { clip, type Paint, type Style } from './paint.ts';
import { describeLabels } from './summary.ts';
import { reportText } from './wording.ts';

/** The parts that fit on the terminal. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** From this height on, the view has headings, blank lines, and tools that are only called as alternatives. */
const ROOMY_ROWS = 32;
/** From this width on, the table of tools says where rejected calls go. */
const ROOMY_COLUMNS = 100;
/** On a small terminal: how many alerts are listed, and the least number of events. */
const FEW_ALERTS = 2;
const LEAST_EVENTS = 3;
/** The least number of events beside a full report. */
const FEW_EVENTS = 8;

/** The whole view, as at most `rows` lines of at most `columns` columns. */
export const renderView = (status: DemoStatus, { columns, rows }: Size, paint: Paint): readonly string[] => {
  const roomy = rows >= ROOMY_ROWS;
  const gap = roomy ? [''] : [];
  const top = [
    ...header(status, roomy, paint),
    ...gap,
    ...toolTable(status.agents, { roomy, wide: columns >= ROOMY_COLUMNS }, paint),
    ...gap,
    ...agentLines(status.agents, paint),
    ...gap,
  ];
  const reports = reportLines(status.agents, { roomy, columns, rows: rows - top.length }, paint);
  const above = [...top, ...reports, alertSummary(status, paint)];
  const left = rows - above.length;
  const alerts = status.alerts
    .slice(0, Math.max(0, roomy ? left - LEAST_EVENTS : Math.min(FEW_ALERTS, left - LEAST_EVENTS)))
    .map((row) => alertLine(row, paint));
  const heading = [...gap, ...(roomy ? [paint('bold', 'events')] : [])];
  const room = left - alerts.length - heading.length;
  // A report that is shown above needs no line here.
  const shown = new Set(status.agents.map(({ report }) => report));
  const listed = status.entries.filter(({ report }) => report === undefined || !shown.has(report));
  const events = room > 0 ? listed.slice(-room).map((entry) => eventLine(entry, paint)) : [];
  return [...above, ...alerts, ...heading, ...events].slice(0, rows).map((line) => clip(line, columns));
};

const header = ({ elapsedMs, forMs, round, places }: DemoStatus, roomy: boolean, paint: Paint): readonly string[] => [
  `${paint('bold', 'Breakerbox demo')}  ${clockTime(elapsedMs)}${forMs === undefined ? '' : ` of ${clockTime(forMs)}`}` +
    `  ${paint('dim', `round ${round} of the script, ctrl-c stops it`)}`,
  `metrics       ${paint('cyan', places.metrics)}`,
  `prometheus    ${paint('cyan', places.prometheus)}`,
  `alertmanager  ${paint('cyan', places.alertmanager)}`,
  `console       ${paint('cyan', places.console)}`,
  ...(roomy ? [`dashboards    ${paint('dim', 'dashboards/generated/; with Grafana: docker compose up --build')}`] : []),
];

const toolTable = (
  agents: readonly AgentStatus[],
  { roomy, wide }: { readonly roomy: boolean; readonly wide: boolean },
  paint: Paint,
): readonly string[] => {
  const head = ['agent', 'tool', 'state', 'next probe', 'trouble', ...(wide ? ['fallback'] : [])];
  const rows = agents.flatMap((agent) =>
    agent.tools
      .filter(({ isAlternative }) => roomy || !isAlternative)
      .map(({ name, circuit, instead }) => [
        agent.name,
        name,
        stateCell(circuit, paint),
        probeCell(agent, circuit),
        troubleCell(circuit),
        ...(wide ? [instead] : []),
      ]),
  );
  return tableLines([head.map((text) => paint('dim', text)), ...rows]);
};

/**
 * The reports of paused sessions: in full if there is room, else the cause and what to do about it. On a small terminal only the
 * cause.
 */
const reportLines = (
  agents: readonly AgentStatus[],
  { roomy, columns, rows }: Size & { readonly roomy: boolean },
  paint: Paint,
): readonly string[] => {
  const reports = agents.flatMap(({ report }) => report ?? []);
  const keyLines = ({ agent, headline }: SessionReport): readonly string[] =>
    wrap(headline, columns, `${agent}: `, '  ').map((line) => paint('red', line));
  if (!roomy) return reports.flatMap(keyLines);
  const full = reports.flatMap((report) => [...fullReport(report, paint), '']);
  if (full.length <= rows - FEW_EVENTS) return full;
  return reports.flatMap((report) => [
    ...keyLines(report),
    ...report.next.flatMap((text, index) => wrap(text, columns, `  ${index + 1}. `, '     ')),
    '',
  ]);
};

const fullReport = (report: SessionReport, paint: Paint): readonly string[] => reportText(report, paint).split('\n');

const STATE_STYLES: Readonly<Record<string, Style>> = { closed: 'green', open: 'red' };

/** `group open`: the circuit of the tool's group rejects its calls. */
const stateCell = (circuit: CircuitView | undefined, paint: Paint): string => {
  if (circuit === undefined) return paint('dim', 'unused');
  const { tool, state } = circuit;
  return paint(STATE_STYLES[state] ?? 'yellow', tool.startsWith(GROUP_PREFIX) ? `group ${state}` : state);
};

/** Why the circuit is open and for how long, or the failures of a closed circuit. */
const troubleCell = (circuit: CircuitView | undefined): string => {
  if (circuit === undefined) return '';
  // A circuit that is controlled by hand has no outage of its own.
  const { category, failures } = circuit;
  if (category === undefined) return failures === 0 ? '' : `${failures} ${failures === 1 ? 'failure' : 'failures'}`;
  return `${category}, ${shortSeconds(circuit.openForMs ?? 0)}`;
};

const probeCell = ({ session }: AgentStatus, circuit: CircuitView | undefined): string => {
  if (circuit?.state === 'half_open') return 'under way';
  if (circuit?.nextProbe === undefined) return '';
  if (session?.state !== 'active') return 'when resumed';
  const { steps, ms, notBeforeMs } = circuit.nextProbe;
  const byTime = Math.max(ms ?? 0, notBeforeMs);
  if (steps !== undefined && steps > 0) return `in ${steps} ${steps === 1 ? 'step' : 'steps'}`;
  return byTime > 0 ? `in ${shortSeconds(byTime)}` : 'at the next call';
};

const SESSION_STYLES: Readonly<Record<NonNullable<AgentStatus['session']>['state'], Style>> = {
  active: 'green',
  paused_budget: 'red',
  paused_systemic: 'red',
  paused_limit: 'red',
};

const agentLines = (agents: readonly AgentStatus[], paint: Paint): readonly string[] =>
  tableLines([
    ['agent', 'session', 'budget', 'call', 'probe', 'skip', 'pause', 'defer'].map((text) => paint('dim', text)),
    ...agents.map(({ name, session, decisions, deferrals }) => [
      name,
      session === undefined ? paint('dim', 'between') : paint(SESSION_STYLES[session.state], session.state),
      session === undefined ? '' : budgetBar(session.budget, paint),
      ...[decisions.call, decisions.probe, decisions.skip, decisions.pause, deferrals].map(String),
    ]),
  ]);

/**
 * `###?. 3 left`: `#` is a failure that is left, `.` one that is charged, and `?` one that may turn out to be part of a systemic
 * event (S3). The rule `window` counts it already, the rule `strict` does not.
 */
const budgetBar = (
  { rule, limit, remaining, provisional }: NonNullable<AgentStatus['session']>['budget'],
  paint: Paint,
): string => {
  const isCounted = rule === 'window';
  const waiting = Math.min(provisional, isCounted ? Math.max(0, limit - remaining) : remaining);
  const left = isCounted ? remaining : remaining - waiting;
  const bar = '#'.repeat(left) + '?'.repeat(waiting) + '.'.repeat(Math.max(0, limit - left - waiting));
  const style = remaining === 0 ? 'red' : remaining === 1 ? 'yellow' : 'green';
  return `${paint(style, bar)} ${remaining} left`;
};

const alertSummary = ({ alerts, deliveries }: DemoStatus, paint: Paint): string => {
  const count = (state: AlertRow['state']): number => alerts.filter((row) => row.state === state).length;
  return (
    `${paint('bold', 'alerts')}  ${count('pending')} pending, ${count('firing')} firing, ${count('inhibited')} inhibited; ` +
    `${deliveries} notifications delivered so far`
  );
};

const ALERT_STYLES: Readonly<Record<AlertRow['state'], Style>> = { pending: 'yellow', firing: 'red', inhibited: 'dim' };

const alertLine = ({ labels, state, delivered }: AlertRow, paint: Paint): string =>
  `  ${paint(ALERT_STYLES[state], state.padEnd(9))}  ${describeLabels(labels)}${delivered ? '  delivered' : ''}`;

const TONE_STYLES: Readonly<Partial<Record<Tone, Style>>> = { bad: 'red', warn: 'yellow', good: 'green' };

const eventLine = (entry: DemoStatus['entries'][number], paint: Paint): string => {
  const style = TONE_STYLES[entry.tone];
  return style === undefined ? entryLine(entry) : paint(style, entryLine(entry));
};
