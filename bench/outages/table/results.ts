import type { Figures } from '../play.ts';
import type { Cell } from './cells.ts';
import { MEASURES, type MeasureKey } from './measures.ts';
import type { PlayedCell } from './run-cells.ts';
import { difference, type Estimate, estimate, ratios } from './statistics.ts';

type Losses = Readonly<Partial<Record<MeasureKey, Estimate & { readonly than: string }>>>;

/** What a cell came to, each with its interval. */
export interface CellResult extends Cell, Readonly<Record<Exclude<MeasureKey, 'recoverySeconds'>, Estimate>> {
  /** Undefined if no run noticed a recovery. */
  readonly recoverySeconds?: Estimate;
  /** Success against no protection, run by run. */
  readonly gain?: Estimate;
  /** Of Breakerbox: how much worse it is than the best other protection, run by run; only where it is worse by more than the interval. */
  readonly worse?: Losses;
}

export const RESULTS_FILE = new URL('../results.json', import.meta.url);
/** Of a reduced run on tau²-bench's own tasks. */
export const PUBLISHED_FILE = new URL('../results-tau2.json', import.meta.url);

export interface OutageResults {
  readonly date: string;
  readonly seconds: number;
  readonly cores: number;
  readonly cells: readonly CellResult[];
}

const column = ({ figures }: PlayedCell, key: keyof Figures): readonly number[] => figures.map((one) => one[key]);

/** One value for each run. Undefined if there is nothing to measure. */
const valuesOf = (cell: PlayedCell, key: MeasureKey): readonly number[] | undefined => {
  if (key === 'success') return cell.figures.map(({ succeeded, tasks }) => succeeded / tasks);
  if (key === 'recoverySeconds') return ratios(column(cell, key), column(cell, 'recoveries'));
  return column(cell, key);
};

/** Sums of the same numbers in another order differ by less. */
const ROUNDING = 1e-9;

const isOurs = ({ protection }: Cell): boolean => protection.startsWith('breakerbox');

const worseOf = (cell: PlayedCell, others: readonly PlayedCell[]): Losses =>
  Object.fromEntries(
    MEASURES.flatMap(({ key, moreIsBetter }) => {
      const sign = moreIsBetter ? -1 : 1;
      const ours = valuesOf(cell, key);
      const [best] = others
        .flatMap((other) => ({ than: other.protection, values: valuesOf(other, key) ?? [] }))
        .filter(({ values }) => values.length > 0)
        .sort((one, other) => sign * (estimate(one.values).mean - estimate(other.values).mean));
      if (ours === undefined || best === undefined) return [];
      const { mean, half } = difference(ours, best.values);
      return sign * mean > half + ROUNDING ? [[key, { mean: sign * mean, half, than: best.than }]] : [];
    }),
  );

const besides = (cell: PlayedCell, all: readonly PlayedCell[]): Pick<CellResult, 'gain' | 'worse'> => {
  const same = all.filter((one) => (['framework', 'fault', 'habit'] as const).every((key) => one[key] === cell[key]));
  const [ours, none] = [cell, same.find(({ protection }) => protection === 'none')].map(
    (one) => one && valuesOf(one, 'success'),
  );
  return {
    ...(ours && none && { gain: difference(ours, none) }),
    ...(isOurs(cell) && {
      worse: worseOf(
        cell,
        same.filter((one) => !isOurs(one)),
      ),
    }),
  };
};

export const resultsOf = (played: readonly PlayedCell[]): readonly CellResult[] =>
  played.map((cell) => {
    const { figures: _, ...rest } = cell;
    const estimates = MEASURES.flatMap(({ key }) => {
      const values = valuesOf(cell, key);
      return values ? [[key, estimate(values)] as const] : [];
    });
    return { ...rest, ...Object.fromEntries(estimates), ...besides(cell, played) } as CellResult;
  });

export const cellOf = (results: readonly CellResult[], wanted: Partial<Cell>): CellResult => {
  const given = { framework: 'ai-sdk', habit: 'usual', ...wanted };
  const keys = ['framework', 'protection', 'fault', 'habit'] as const;
  const found = results.find((cell) => keys.every((key) => given[key] === undefined || cell[key] === given[key]));
  if (found === undefined)
    throw new Error(`The results have no cell ${JSON.stringify(wanted)}. Run: npm run bench -- outages`);
  return found;
};
