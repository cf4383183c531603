import { BUDGETS } from './budgets.ts';
import type { DefaultsResults, RowResult } from './play.ts';
import { type Cell, pausedShare } from './simulate.ts';

const NONE = '–';

/** A share in per cent: one digit below 1 % and above 99 %, else none. 0 % means exactly none, and 100 % exactly all. */
export const percent = (share: number): string => {
  const value = share * 100;
  if (value > 0 && value < 0.1) return '< 0.1 %';
  if (value > 99 && value < 100) return `${Math.min(99.9, Number(value.toFixed(1)))} %`;
  return `${Number(value.toFixed(value < 1 ? 1 : 0))} %`;
};

const each = (value: number): string => value.toFixed(1);

/** The share of the runs that pause, and how many of them because of a correlated failure. */
const pausedText = (cell: Cell): string => {
  const all = percent(pausedShare(cell));
  if (cell.pausedBySystemic === 0) return all;
  return cell.pausedByBudget === 0 ? `${all} (all S)` : `${all} (${percent(cell.pausedBySystemic)} S)`;
};

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const shown = (rows: readonly RowResult[]): readonly RowResult[] => rows.filter(({ hidden }) => !hidden);

const pausedTable = (rows: readonly RowResult[]): readonly string[] => [
  line(['share of the runs that pause', ...BUDGETS.map(({ title }) => title)]),
  line(['---', ...BUDGETS.map(() => '--:')]),
  ...shown(rows).map(({ title, cells }) => line([title, ...BUDGETS.map(({ id }) => pausedText(cells[id]))])),
];

const lostText = ({ healthyLost }: Cell): string => (healthyLost === undefined ? NONE : percent(healthyLost));

const pauseStepText = ({ pausedInMedian, pausedInLast }: Cell): string =>
  pausedInMedian === undefined ? NONE : `${pausedInMedian} (${pausedInLast})`;

const costTable = (rows: readonly RowResult[]): readonly string[] => [
  line([
    'with the default budget',
    'failed calls in a run (most)',
    'calls of unavailable tools',
    'working calls lost',
    'paused in step (last)',
  ]),
  line(['---', '--:', '--:', '--:', '--:']),
  ...shown(rows).map(({ title, cells: { default: cell } }) =>
    line([
      title,
      `${each(cell.failedCalls)} (${cell.mostFailedCalls})`,
      each(cell.unavailableCalls),
      lostText(cell),
      pauseStepText(cell),
    ]),
  ),
];

const falseEventText = ({ falseEvents }: DefaultsResults): string => {
  const { runs, sessions, healthyWanted, healthyLost, longestSeconds, mostProbes } = falseEvents;
  const calls = healthyWanted.toLocaleString('en');
  return `In scope \`process\`, a false event (three of five tools open alike by chance and work again, ${sessions} sessions, ${runs} times) costs the other
two tools ${healthyLost.toLocaleString('en')} of ${calls} calls. It ends by itself after ${longestSeconds ?? NONE} s at most, with ${mostProbes === 1 ? 'one probe' : `${mostProbes} probes`}.`;
};

/** The text between the markers of docs/concepts.md, in Markdown. */
export const defaultsText = (results: DefaultsResults): string =>
  [
    ...pausedTable(results.rows),
    '',
    ...costTable(results.rows),
    '',
    `${results.runs.toLocaleString('en')} simulated runs for each number. *S*: paused by a correlated (systemic) failure, the rest by the budget. *Working calls lost* is the
share of the calls that the agent wanted, that would have succeeded, and that it did not make. [\`bench/src/defaults\`](../bench/src/defaults/scenarios.ts) has the
scenarios, [\`bench/defaults.json\`](../bench/defaults.json) every number, and \`npm run bench -- defaults\` plays it again.`,
    '',
    falseEventText(results),
  ].join('\n');

/** The same for a terminal, with every budget. */
export const defaultsReport = ({ rows, falseEvents, runs }: DefaultsResults): string => {
  const width = Math.max(...rows.map(({ id }) => id.length));
  const cellLine = (id: string, title: string, cell: Cell): string =>
    [
      id.padEnd(width),
      title.replaceAll('`', '').padEnd(11),
      `paused ${percent(pausedShare(cell)).padStart(7)} (budget ${percent(cell.pausedByBudget)}, systemic ${percent(cell.pausedBySystemic)})`.padEnd(
        54,
      ),
      `failed ${each(cell.failedCalls).padStart(4)} (${cell.mostFailedCalls})`,
      `unavailable ${each(cell.unavailableCalls).padStart(4)}`,
      `lost ${lostText(cell).padStart(5)}`,
      `step ${pauseStepText(cell)}`,
      `by step 6 ${percent(cell.pausedByStep6)}, 8 ${percent(cell.pausedByStep8)}`,
    ].join('  ');
  return [
    ...rows.flatMap(({ id, cells }) => BUDGETS.map((column) => cellLine(id, column.title, cells[column.id]))),
    '',
    `false event in scope process: ${JSON.stringify(falseEvents)}`,
    `${runs} runs for each line`,
  ].join('\n');
};
