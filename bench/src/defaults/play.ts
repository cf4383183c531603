import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BUDGETS, type BudgetColumn } from './budgets.ts';
import { type FalseEvents, falseEvents } from './false-event.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Cell, cellOf, simulate } from './simulate.ts';

/** One row: a cell for each budget. */
export interface RowResult {
  readonly id: string;
  readonly title: string;
  readonly steps: number;
  /** Only its limit matters. */
  readonly hidden?: true;
  readonly cells: Readonly<Record<BudgetColumn['id'], Cell>>;
}

/** Everything that was simulated; `bench/defaults.json` is one. */
export interface DefaultsResults {
  readonly format: 1;
  /** Runs per cell. */
  readonly runs: number;
  readonly rows: readonly RowResult[];
  readonly falseEvents: FalseEvents;
  /** The results of the first runs of each row. A test plays them again, to see whether the engine still decides so. */
  readonly first?: { readonly runs: number; readonly rows: readonly RowResult[]; readonly falseEvents: FalseEvents };
}

/** How much is simulated. */
export interface Size {
  readonly runs: number;
  /** Boxes of sessions with a false event. */
  readonly boxes: number;
}

/** The size of the table. A run takes half a minute. */
export const FULL_SIZE: Size = { runs: 2_000, boxes: 100 };
/** The size that a test plays. A run takes seconds. */
export const QUICK_SIZE: Size = { runs: 100, boxes: 5 };

export const DEFAULTS_FILE = fileURLToPath(new URL('../../defaults.json', import.meta.url));

export const readDefaults = (): DefaultsResults => JSON.parse(readFileSync(DEFAULTS_FILE, 'utf8')) as DefaultsResults;

const DIGITS = 4;
const rounded = (cell: Cell): Cell =>
  Object.fromEntries(
    Object.entries(cell).map(([key, value]) => [
      key,
      value === undefined ? undefined : Number(value.toPrecision(DIGITS)),
    ]),
  ) as unknown as Cell;

/** Plays a row under every budget. With `first`, also the results of its first runs alone. */
const playRow = (scenario: Scenario, runs: number, first: number) => {
  const { id, title, steps, hidden, share = 1 } = scenario;
  const played = BUDGETS.map((column) => ({ column, all: simulate(scenario, column, Math.ceil(runs * share)) }));
  const rowOf = (many: number): RowResult => ({
    id,
    title,
    steps,
    ...(hidden && { hidden }),
    cells: Object.fromEntries(
      played.map(({ column, all }) => [column.id, rounded(cellOf(all.slice(0, Math.ceil(many * share))))]),
    ) as RowResult['cells'],
  });
  return { row: rowOf(runs), first: rowOf(first) };
};

/** Plays everything. Calls `onRow` for each row that is done. */
export const playAll = ({ runs, boxes }: Size, onRow: (row: RowResult) => void = () => {}): DefaultsResults => {
  const quick = Math.min(runs, QUICK_SIZE.runs);
  const rows = SCENARIOS.map((scenario) => {
    const played = playRow(scenario, runs, quick);
    onRow(played.row);
    return played;
  });
  return {
    format: 1,
    runs,
    rows: rows.map(({ row }) => row),
    falseEvents: falseEvents(boxes),
    ...(runs > quick && {
      first: { runs: quick, rows: rows.map(({ first }) => first), falseEvents: falseEvents(QUICK_SIZE.boxes) },
    }),
  };
};
