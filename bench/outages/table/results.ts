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
  /** Of Breakerbox without an outage: the difference from no protection, run by run. */
  readonly differences?: Readonly<Partial<Record<MeasureKey, Estimate>>>;
  /** Of Breakerbox: how much worse it is than another protection, run by run, by more than the interval; the largest such difference. */
  readonly worse?: Losses;
}

export const RESULTS_FILE = new URL('../results.json', import.meta.url);
/** The headlines of the reduced run, which gives the same figures on each machine. */
export const QUICK_FILE = new URL('../results-quick.json', import.meta.url);
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
export const ROUNDING = 1e-9;

const isOurs = ({ protection }: Cell): boolean => protection.startsWith('breakerbox');

const worseOf = (cell: PlayedCell, others: readonly PlayedCell[]): Losses =>
  Object.fromEntries(
    MEASURES.flatMap(({ key, moreIsBetter }) => {
      const sign = moreIsBetter ? -1 : 1;
      const ours = valuesOf(cell, key);
      const [most] = others
        .flatMap((other) => {
          const values = valuesOf(other, key);
          if (ours === undefined || values === undefined) return [];
          const { mean, half } = difference(ours, values);
          return sign * mean > half + ROUNDING ? [{ mean: sign * mean, half, than: other.protection }] : [];
        })
        .sort((one, other) => other.mean - one.mean);
      return most ? [[key, most]] : [];
    }),
  );

const differencesOf = (cell: PlayedCell, none: PlayedCell): NonNullable<CellResult['differences']> =>
  Object.fromEntries(
    MEASURES.flatMap(({ key }) => {
      const [ours, theirs] = [valuesOf(cell, key), valuesOf(none, key)];
      return ours && theirs ? [[key, difference(ours, theirs)] as const] : [];
    }),
  );

const besides = (cell: PlayedCell, all: readonly PlayedCell[]): Pick<CellResult, 'differences' | 'worse'> => {
  const same = all.filter((one) => (['framework', 'fault', 'habit'] as const).every((key) => one[key] === cell[key]));
  if (!isOurs(cell)) return {};
  const none = same.find(({ protection }) => protection === 'none');
  const others = same.filter((one) => !isOurs(one));
  return {
    ...(cell.fault === 'none' && none && { differences: differencesOf(cell, none) }),
    worse: worseOf(cell, others),
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
