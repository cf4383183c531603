import { SDK_TITLES } from './cases.ts';
import { exact, figure } from './figures.ts';
import { type CaseResult, isClose, type Results, type Verdict } from './results.ts';
import { caseCells } from './tables.ts';

/** Columns, of which the first is aligned left and the rest right. */
export const table = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const aligned = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(aligned).join('  ').trimEnd()).join('\n');
};

const caseTable = (result: CaseResult): string => {
  const { head, rows, notes } = caseCells(result, (name) => name);
  const title = `${result.title}: ${SDK_TITLES[result.sdk]}`;
  return [table([[title, ...head], ...rows]), ...notes.map((note) => `  ${note}`)].join('\n');
};

const floorText = ({ floor }: Verdict): string =>
  floor === undefined
    ? ''
    : `${figure(floor.median)} (${floor.parts.map(({ title, median }) => `${title} ${figure(median)}`).join(' + ')}), ${figure(floor.above)} above it`;

/** Whether a target is met, in up to three words. */
const metText = (one: Verdict): string => {
  if (one.met === undefined) return 'not judged';
  return `${one.met ? 'met' : 'MISSED'}${isClose(one) ? ' narrowly' : ''}`;
};

const MET_WIDTH = 'MISSED narrowly  '.length;

const targetTable = (targets: readonly Verdict[]): string =>
  targets
    .map((one) => {
      const floor = floorText(one);
      const first = `${metText(one).padEnd(MET_WIDTH)}${exact(one.measured)} of ${exact(one.limit)}  ${one.says}`;
      return floor === '' ? first : `${first}\n${' '.repeat(MET_WIDTH)}floor ${floor}`;
    })
    .join('\n');

/** All findings, for a terminal. */
export const report = ({ cases, targets, machine, date, tookSeconds, pace }: Results): string =>
  [
    ...cases.map(caseTable),
    ...(pace === 'quick' ? ['A quick run judges no target: its numbers have little value.'] : []),
    targetTable(targets),
    `${date}, ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${Object.entries(machine.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}; load ${machine.load.before} before, ${machine.load.after} after; ${pace} run of ${tookSeconds} s`,
  ].join('\n\n');
