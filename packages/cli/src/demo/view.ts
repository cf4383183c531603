import type { CircuitView } from '@breakerbox/core';
import Table from 'cli-table3';
import type { AlertRow } from './alert-watch.ts';
import type { AgentBoard, Board } from './board.ts';
import { clockTime, shortSeconds } from './duration.ts';
import { entryLine, type Tone } from './journal.ts';
import { clip, type Paint, type Style } from './paint.ts';
import { describeLabels } from './summary.ts';

/** What fits on the terminal. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** From so many rows on, there are headings and blank lines. */
const ROOMY_ROWS = 32;
/** Alerts that are listed one by one on a small terminal, and the events that are left room for. */
const FEW_ALERTS = 2;
const LEAST_EVENTS = 3;

/** The whole view, as at most `rows` lines of at most `columns` columns. */
export const renderView = (board: Board, { columns, rows }: Size, paint: Paint): readonly string[] => {
  const roomy = rows >= ROOMY_ROWS;
  const gap = roomy ? [''] : [];
  const top = [
    ...header(board, paint),
    ...gap,
    ...toolTable(board.agents, paint),
    ...gap,
    ...agentLines(board.agents, paint),
    ...gap,
    alertSummary(board, paint),
  ];
  const left = rows - top.length;
  const alerts = board.alerts
    .slice(0, roomy ? Math.max(0, left - LEAST_EVENTS) : FEW_ALERTS)
    .map((row) => alertLine(row, paint));
  const heading = [...gap, ...(roomy ? [paint('bold', 'events')] : [])];
  const room = left - alerts.length - heading.length;
  const events = room > 0 ? board.entries.slice(-room).map((entry) => eventLine(entry, paint)) : [];
  return [...top, ...alerts, ...heading, ...events].slice(0, rows).map((line) => clip(line, columns));
};

const header = ({ elapsedMs, forMs, round, places }: Board, paint: Paint): readonly string[] => [
  `${paint('bold', 'Breakerbox demo')}  ${clockTime(elapsedMs)}${forMs === undefined ? '' : ` of ${clockTime(forMs)}`}` +
    `  ${paint('dim', `round ${round} of the script; ctrl-c stops`)}`,
  `metrics       ${paint('cyan', places.metrics)}`,
  `prometheus    ${paint('cyan', places.prometheus)}`,
  `alertmanager  ${paint('cyan', places.alertmanager)}`,
  `dashboards    ${paint('dim', 'dashboards/generated/; with Grafana: docker compose up --build')}`,
];

/** The one character of a cell's edge that is drawn. */
const BARE = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
};

const table = (rows: readonly (readonly string[])[]): readonly string[] => {
  const made = new Table({ chars: BARE, style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 } });
  made.push(...rows.map((row) => [...row]));
  return made
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
};

const toolTable = (agents: readonly AgentBoard[], paint: Paint): readonly string[] =>
  table([
    ['agent', 'tool', 'state', 'failures', 'next probe'].map((text) => paint('dim', text)),
    ...agents.flatMap((agent) =>
      agent.tools.map(({ name, circuit }) => [
        agent.name,
        name,
        stateCell(circuit, paint),
        failureCell(circuit),
        probeCell(agent, circuit),
      ]),
    ),
  ]);

const STATE_STYLES: Readonly<Record<string, Style>> = { closed: 'green', open: 'red' };

const stateCell = (circuit: CircuitView | undefined, paint: Paint): string =>
  circuit === undefined ? paint('dim', 'unused') : paint(STATE_STYLES[circuit.state] ?? 'yellow', circuit.state);

const failureCell = (circuit: CircuitView | undefined): string => {
  if (circuit === undefined) return '';
  // A circuit under control by hand has no outage of its own.
  if (circuit.category === undefined) return circuit.failures === 0 ? '' : `${circuit.failures} in a row`;
  return `${circuit.category}, ${shortSeconds(circuit.openForMs ?? 0)}`;
};

const probeCell = ({ session }: AgentBoard, circuit: CircuitView | undefined): string => {
  if (circuit?.state === 'half_open') return 'under way';
  if (circuit?.nextProbe === undefined) return '';
  if (session?.state !== 'active') return 'when resumed';
  const { steps, ms, notBeforeMs } = circuit.nextProbe;
  const byTime = Math.max(ms ?? 0, notBeforeMs);
  if (steps !== undefined && steps > 0) return `in ${steps} steps`;
  return byTime > 0 ? `in ${shortSeconds(byTime)}` : 'at the next call';
};

const SESSION_STYLES: Readonly<Record<NonNullable<AgentBoard['session']>['state'], Style>> = {
  active: 'green',
  paused_budget: 'red',
  paused_systemic: 'red',
};

const agentLines = (agents: readonly AgentBoard[], paint: Paint): readonly string[] =>
  table([
    ['agent', 'session', 'budget', 'call', 'probe', 'skip', 'pause'].map((text) => paint('dim', text)),
    ...agents.map(({ name, session, decisions }) => [
      name,
      session === undefined ? paint('dim', 'between') : paint(SESSION_STYLES[session.state], session.state),
      session === undefined ? '' : budgetBar(session.budget, paint),
      ...[decisions.call, decisions.probe, decisions.skip, decisions.pause].map(String),
    ]),
  ]);

/** `####. 4 left`. Failures that may turn out to be one systemic event are told apart. */
const budgetBar = (
  { limit, remaining, provisional }: NonNullable<AgentBoard['session']>['budget'],
  paint: Paint,
): string => {
  const bar = '#'.repeat(remaining) + '.'.repeat(Math.max(0, limit - remaining));
  const style = remaining === 0 ? 'red' : remaining === 1 ? 'yellow' : 'green';
  return `${paint(style, bar)} ${remaining} left${provisional > 0 ? `, ${provisional} pending` : ''}`;
};

const alertSummary = ({ alerts, deliveries }: Board, paint: Paint): string => {
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

const eventLine = (entry: Board['entries'][number], paint: Paint): string => {
  const style = TONE_STYLES[entry.tone];
  return style === undefined ? entryLine(entry) : paint(style, entryLine(entry));
};
