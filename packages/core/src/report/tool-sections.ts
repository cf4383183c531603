import type { Trip } from '../circuit/trips/counts.ts';
import { formatDuration } from '../format.ts';
import { circuitNameOf } from '../groups.ts';
import type { GroupReport } from './groups.ts';
import { marked, type Section, within } from './layout.ts';
import { isOut, isOutByGroup, isOutState } from './next.ts';
import type { SessionReport } from './report.ts';
import { type Column, type Sheet, type Tone, table } from './table.ts';
import type { ProbeReport, ToolReport } from './tools.ts';
import { counted, figure, lasted, listed, named, shown } from './words.ts';

/** The health of tools in text. */

/** A count in a table; 0 is left empty. */
export const count = (times: number): string => (times === 0 ? '' : figure(times));

/** A tool's name; folded where it is long. */
export const NAME = { head: 'tool', cell: ({ tool }: { readonly tool: string }) => shown(tool), least: 10 };

/** An unavailable tool or group of tools. */
interface OutRow {
  readonly tool: string;
  readonly state: string;
  readonly tone: Tone;
  readonly cause: string;
  readonly openForMs: number | null;
  readonly nextProbe: ProbeReport | null;
  readonly failed: number;
  readonly rejected: number;
}

const STATE: Column<ToolReport> = {
  head: 'state',
  cell: ({ state }) => state ?? 'no circuit',
  tone: ({ state }) => (state === 'closed' ? 'good' : undefined),
};

const NEXT_PROBE: Column<OutRow> = {
  head: 'next probe',
  cell: ({ nextProbe }) => (nextProbe === null ? '' : probeText(nextProbe)),
  least: 10,
};

const OUT_COLUMNS: readonly Column<OutRow>[] = [
  NAME,
  { head: 'state', cell: ({ state }) => state, tone: ({ tone }) => tone },
  { head: 'cause', cell: ({ cause }) => cause, least: 7 },
  { head: 'for', cell: ({ openForMs }) => (openForMs === null ? '' : lasted(openForMs)), align: 'right' },
  NEXT_PROBE,
  { head: 'failed', cell: ({ failed }) => count(failed), align: 'right' },
  { head: 'rejected', cell: ({ rejected }) => count(rejected), align: 'right' },
];

const OTHER_COLUMNS: readonly Column<ToolReport>[] = [
  NAME,
  STATE,
  { head: 'ok', cell: ({ calls }) => count(calls.succeeded), align: 'right' },
  { head: 'failed', cell: ({ calls }) => count(calls.failed), align: 'right' },
  { head: 'in a row', cell: ({ failuresInRow }) => count(failuresInRow), align: 'right' },
  { head: 'rejected', cell: ({ heldUp }) => count(heldUp.skipped + heldUp.paused), align: 'right' },
];

/** Failures in a row are the usual case and not shown. */
const TRIP: Readonly<Record<Trip, string>> = {
  consecutive: '',
  failure_rate: 'failure rate',
  slow_call_rate: 'slow calls',
  wasted_tokens: 'wasted tokens',
  probe: 'probe failed',
  transport: 'connection ended',
  keys: 'several targets',
};

const causeOf = ({ category, trip }: Pick<ToolReport, 'category' | 'trip'>): string =>
  [category ?? '', trip === null ? '' : TRIP[trip]].filter((one) => one !== '').join(', ');

/** `due`, `40 s`, `2 steps/60 s`, `2 steps, 40 s least`. */
const probeText = ({ steps, ms, notBeforeMs }: ProbeReport): string => {
  const held = notBeforeMs > 0 ? formatDuration(notBeforeMs) : '';
  if (steps === 0 || ms === 0) return held || 'due';
  if (ms !== null && notBeforeMs >= ms) return held; // Both end then, and not before.
  const waits = [steps === null ? '' : counted(steps, 'step'), ms === null ? '' : formatDuration(ms)];
  const due = waits.filter((one) => one !== '').join('/');
  return held === '' ? due : `${due}, ${held} least`;
};

const OUT_FIRST: readonly (string | null)[] = ['open', 'forced_open', 'half_open'];

const worstFirst = (a: { readonly state: string | null }, b: { readonly state: string | null }): number =>
  OUT_FIRST.indexOf(a.state) - OUT_FIRST.indexOf(b.state);

const toneOf = (state: string | null): Tone => (state === 'half_open' ? 'warn' : 'bad');

/** The circuits that reject calls: groups with their tools beneath them, then tools that are unavailable by themselves. */
const outRows = ({ tools, groups, systemic }: SessionReport): readonly OutRow[] => {
  const rows = [
    ...groups
      .filter(({ state }) => isOutState(state))
      .toSorted(worstFirst)
      .flatMap((group) => [groupRow(group), ...membersOf(group, tools)]),
    ...tools
      .filter(({ state }) => isOutState(state))
      .toSorted(worstFirst)
      .map(toolRow),
  ];
  // S5: while an event lasts, its circuits are not probed one by one.
  const ofEvent = new Set(systemic?.tools.map(({ tool }) => tool));
  return rows.map((row) => (ofEvent.has(row.tool) ? { ...row, nextProbe: null } : row));
};

const groupRow = (group: GroupReport): OutRow => ({
  tool: circuitNameOf(group.group),
  state: group.state,
  tone: toneOf(group.state),
  cause: causeOf(group),
  openForMs: group.openForMs,
  nextProbe: group.nextProbe,
  failed: 0, // Counted with its tools.
  rejected: group.skipped,
});

const membersOf = ({ group, state }: GroupReport, tools: readonly ToolReport[]): readonly OutRow[] =>
  tools
    .filter((tool) => tool.group === group && isOutByGroup(tool))
    .map((tool) => ({ ...toolRow(tool), state: 'by its group', tone: toneOf(state), cause: circuitNameOf(group) }));

const toolRow = (tool: ToolReport): OutRow => ({
  tool: tool.tool,
  state: tool.state ?? 'no circuit',
  tone: toneOf(tool.state),
  cause: causeOf(tool),
  openForMs: tool.openForMs,
  nextProbe: tool.nextProbe,
  failed: tool.calls.failed,
  rejected: tool.heldUp.skipped + tool.heldUp.paused,
});

/** What rejects calls: since when, why, and until when. A paused session does not probe (S2, B1). */
export const outSection = (report: SessionReport, sheet: Sheet): Section => {
  const columns = report.state === 'active' ? OUT_COLUMNS : OUT_COLUMNS.filter((column) => column !== NEXT_PROBE);
  return { title: 'Tools that are out', lines: table(columns, outRows(report), within(sheet)) };
};

/** The health of all other tools, those that have failed first. */
export const toolSection = ({ tools }: SessionReport, sheet: Sheet): Section => {
  const failed = ({ calls }: ToolReport) => Number(calls.failed > 0);
  const rows = tools.filter((tool) => !isOut(tool)).toSorted((a, b) => failed(b) - failed(a));
  const title = rows.length === tools.length ? 'Tools' : 'Other tools';
  return { title, lines: table(OTHER_COLUMNS, rows, within(sheet)) };
};

/** Facts that few tools have, so they get no column. */
export const remarkSection = ({ tools }: SessionReport, sheet: Sheet): Section => {
  const remark = (text: string, of: (tool: ToolReport) => number) => {
    const some = tools.filter((tool) => of(tool) > 0).map((tool) => `${named(tool.tool)} ${figure(of(tool))}`);
    return some.length === 0 ? [] : [{ mark: '-', text: `${text}: ${listed(some, Number.POSITIVE_INFINITY)}.` }];
  };
  return {
    title: 'Remarks',
    lines: marked(within(sheet), [
      ...remark('Calls skipped for one target, while others go on', ({ heldUp }) => heldUp.reasons.key_open ?? 0),
      ...remark('Ignored results, which say nothing of health', ({ calls }) => calls.ignored),
      ...remark('Tokens wasted on failed calls', ({ tokensWasted }) => tokensWasted),
      ...remark('Only observed; would have been skipped or paused', ({ wouldHaveBeenHeldUp }) => wouldHaveBeenHeldUp),
    ]),
  };
};
