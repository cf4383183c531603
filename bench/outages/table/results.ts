import type { Figures } from '../play.ts';
import type { Cell } from './cells.ts';
import type { PlayedCell } from './run-cells.ts';
import { difference, type Estimate, estimate, ratioEstimate } from './statistics.ts';

/** What a cell came to, each with its interval. */
export interface CellResult extends Cell {
  readonly success: Estimate;
  readonly deadCalls: Estimate;
  readonly wastedTokens: Estimate;
  readonly tokensAfterFailure: Estimate;
  readonly secondsAfterFailure: Estimate;
  readonly goodRejected: Estimate;
  readonly pauses: Estimate;
  readonly dollars: Estimate;
  readonly recoverySeconds?: Estimate | undefined;
  /** Success against no protection, run by run. */
  readonly gain?: Estimate;
  /** Success against the best other protection that is not Breakerbox, run by run. */
  readonly lead?: Estimate;
}

export const RESULTS_FILE = new URL('../results.json', import.meta.url);

export interface OutageResults {
  readonly date: string;
  readonly minutes: number;
  readonly cells: readonly CellResult[];
}

const column = ({ figures }: PlayedCell, key: keyof Figures): readonly number[] => figures.map((one) => one[key]);
const successOf = ({ figures }: PlayedCell): readonly number[] =>
  figures.map(({ succeeded, tasks }) => succeeded / tasks);
const isOurs = ({ protection }: Cell): boolean => protection.startsWith('breakerbox');

const besides = (cell: PlayedCell, all: readonly PlayedCell[]): Pick<CellResult, 'gain' | 'lead'> => {
  const same = all.filter((one) => (['framework', 'fault', 'habit'] as const).every((key) => one[key] === cell[key]));
  const none = same.find(({ protection }) => protection === 'none');
  const mean = (one: PlayedCell) => estimate(successOf(one)).mean;
  const best = same.filter((one) => !isOurs(one)).sort((one, other) => mean(other) - mean(one))[0];
  return {
    ...(none && { gain: difference(successOf(cell), successOf(none)) }),
    ...(best && isOurs(cell) && { lead: difference(successOf(cell), successOf(best)) }),
  };
};

export const resultsOf = (played: readonly PlayedCell[]): readonly CellResult[] =>
  played.map((cell) => {
    const { figures: _, ...rest } = cell;
    const of = (key: keyof Figures) => estimate(column(cell, key));
    const recoverySeconds = ratioEstimate(column(cell, 'recoverySeconds'), column(cell, 'recoveries'));
    return {
      ...rest,
      success: estimate(successOf(cell)),
      ...{ deadCalls: of('deadCalls'), wastedTokens: of('wastedTokens'), tokensAfterFailure: of('tokensAfterFailure') },
      ...{ secondsAfterFailure: of('secondsAfterFailure'), goodRejected: of('goodRejected'), pauses: of('pauses') },
      dollars: of('dollars'),
      ...(recoverySeconds && { recoverySeconds }),
      ...besides(cell, played),
    };
  });

/** Breakerbox completes fewer tasks than the best other protection, by more than the interval. */
export const isWorse = ({ lead }: CellResult): boolean => lead !== undefined && lead.mean + lead.half < 0;

export const cellOf = (results: readonly CellResult[], wanted: Partial<Cell>): CellResult => {
  const given = { framework: 'ai-sdk', habit: 'usual', ...wanted };
  const keys = ['framework', 'protection', 'fault', 'habit'] as const;
  const found = results.find((cell) => keys.every((key) => given[key] === undefined || cell[key] === given[key]));
  if (found === undefined)
    throw new Error(`The results have no cell ${JSON.stringify(wanted)}. Run: npm run bench -- outages`);
  return found;
};
