import type { Trip } from '../circuit/trips/counts.ts';
import { formatDuration } from '../format.ts';
import { marked, type Section, within } from './layout.ts';
import { isOut } from './next.ts';
import type { SessionReport } from './report.ts';
import { type Column, type Sheet, type Tone, table } from './table.ts';
import type { ProbeReport, ToolReport } from './tools.ts';
import { counted, figure, lasted, listed, named, shown } from './words.ts';

/** The health of tools in text. */

/** A count in a table, where 0 goes without saying. */
export const count = (times: number): string => (times === 0 ? '' : figure(times));

/** A tool's name; folded where it is long. */
export const NAME = { head: 'tool', cell: ({ tool }: { readonly tool: string }) => shown(tool), least: 10 };

const STATE: Column<ToolReport> = {
  head: 'state',
  cell: ({ state }) => state ?? 'no circuit',
  tone: (tool) => toneOf(tool),
};

const FAILED: Column<ToolReport> = { head: 'failed', cell: ({ calls }) => count(calls.failed), align: 'right' };

const HELD_UP: Column<ToolReport> = {
  head: 'held up',
  cell: ({ heldUp }) => count(heldUp.skipped + heldUp.paused),
  align: 'right',
};

const NEXT_PROBE: Column<ToolReport> = {
  head: 'next probe',
  cell: ({ nextProbe }) => (nextProbe === null ? '' : probeText(nextProbe)),
  least: 10,
};

const OUT_COLUMNS: readonly Column<ToolReport>[] = [
  NAME,
  STATE,
  { head: 'cause', cell: (tool) => causeOf(tool), least: 7 },
  { head: 'for', cell: ({ openForMs }) => (openForMs === null ? '' : lasted(openForMs)), align: 'right' },
  NEXT_PROBE,
  FAILED,
  HELD_UP,
];

const OTHER_COLUMNS: readonly Column<ToolReport>[] = [
  NAME,
  STATE,
  { head: 'ok', cell: ({ calls }) => count(calls.succeeded), align: 'right' },
  FAILED,
  { head: 'in a row', cell: ({ failuresInRow }) => count(failuresInRow), align: 'right' },
  HELD_UP,
];

const toneOf = (tool: ToolReport): Tone | undefined => {
  if (tool.state === 'half_open') return 'warn';
  if (isOut(tool)) return 'bad';
  return tool.state === 'closed' ? 'good' : undefined;
};

/** Failures in a row go without saying. */
const TRIP: Readonly<Record<Trip, string>> = {
  consecutive: '',
  failure_rate: 'failure rate',
  slow_call_rate: 'slow calls',
  wasted_tokens: 'wasted tokens',
  probe: 'probe failed',
};

const causeOf = ({ category, trip }: ToolReport): string =>
  [category ?? '', trip === null ? '' : TRIP[trip]].filter((one) => one !== '').join(', ');

/** `due`, `40 s`, `2 steps/60 s`, `2 steps, 40 s least`. */
const probeText = ({ steps, ms, notBeforeMs }: ProbeReport): string => {
  const held = notBeforeMs > 0 ? formatDuration(notBeforeMs) : '';
  if (steps === 0 || ms === 0) return held || 'due';
  if (ms !== null && notBeforeMs >= ms) return held; // Both are over by then, and not before.
  const waits = [steps === null ? '' : counted(steps, 'step'), ms === null ? '' : formatDuration(ms)];
  const due = waits.filter((one) => one !== '').join('/');
  return held === '' ? due : `${due}, ${held} least`;
};

const OUT_FIRST: readonly (string | null)[] = ['open', 'forced_open', 'half_open'];

/** The tools whose calls are held up: since when, why, and until when. A session that is paused probes nothing (S2, B1). */
export const outSection = ({ state, tools }: SessionReport, sheet: Sheet): Section => {
  const rows = tools.filter(isOut).toSorted((a, b) => OUT_FIRST.indexOf(a.state) - OUT_FIRST.indexOf(b.state));
  const columns = state === 'active' ? OUT_COLUMNS : OUT_COLUMNS.filter((column) => column !== NEXT_PROBE);
  return { title: 'Tools that are out', lines: table(columns, rows, within(sheet)) };
};

/** The health of all other tools, those that have failed first. */
export const toolSection = ({ tools }: SessionReport, sheet: Sheet): Section => {
  const failed = ({ calls }: ToolReport) => Number(calls.failed > 0);
  const rows = tools.filter((tool) => !isOut(tool)).toSorted((a, b) => failed(b) - failed(a));
  const title = rows.length === tools.length ? 'Tools' : 'Other tools';
  return { title, lines: table(OTHER_COLUMNS, rows, within(sheet)) };
};

/** What few tools have, and no column is worth. */
export const remarkSection = ({ tools }: SessionReport, sheet: Sheet): Section => {
  const remark = (text: string, of: (tool: ToolReport) => number) => {
    const some = tools.filter((tool) => of(tool) > 0).map((tool) => `${named(tool.tool)} ${figure(of(tool))}`);
    return some.length === 0 ? [] : [{ mark: '-', text: `${text}: ${listed(some, Number.POSITIVE_INFINITY)}.` }];
  };
  return {
    title: 'Remarks',
    lines: marked(within(sheet), [
      ...remark('Ignored results, which say nothing of health', ({ calls }) => calls.ignored),
      ...remark('Tokens wasted on failed calls', ({ tokensWasted }) => tokensWasted),
      ...remark('Only observed; would have been held up', ({ wouldHaveBeenHeldUp }) => wouldHaveBeenHeldUp),
    ]),
  };
};
