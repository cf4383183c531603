import type { BudgetColumn } from './budgets.ts';
import type { DefaultsResults } from './play.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Cell, pausedShare } from './simulate.ts';

/** A limit that the defaults keep in one row. */
interface Limit {
  readonly row: string;
  /** The column. The default budget, unless it is named. */
  readonly budget?: BudgetColumn['id'];
  readonly says: string;
  readonly holds: (cell: Cell) => boolean;
}

const atMost = (row: string, share: number): Limit => ({
  row,
  says: `at most ${share * 100} % of the runs pause`,
  holds: (cell) => pausedShare(cell) <= share,
});

const systemic = (row: string, share: number): Limit => ({
  row,
  says: `at least ${share * 100} % of the runs pause because of a correlated failure`,
  holds: ({ pausedBySystemic }) => pausedBySystemic >= share,
});

/** Of a run in which no other call fails. */
const calls = (row: string, most: number): Limit => ({
  row,
  says: `at most ${most} calls of the dead tool`,
  holds: ({ mostFailedCalls }) => mostFailedCalls <= most,
});

const EARLY_SHARE = 0.98;
const MOST_FAILED = 8;
const PAUSED_SHARE = 0.9;

/** The limits that the defaults keep. */
export const LIMITS: readonly Limit[] = [
  atMost('dead-20', 0.02),
  atMost('dead-50', 0.02),
  calls('every-1-60', 12),
  calls('every-1-300', 25),
  calls('every-5-60', 9),
  calls('one-tool', 12),
  atMost('two-dead', 0.02),
  atMost('stray-200', 0.02),
  atMost('stray-500', 0.02),
  atMost('half-server', 0.05),
  ...SCENARIOS.filter(({ stepless }) => stepless).map(({ id }) => atMost(id, 0.02)),
  ...SCENARIOS.filter(({ id }) => id.startsWith('two-alike')).map(({ id }) => atMost(id, 0.05)),
  {
    row: 'three-of-server',
    says: 'at least 90 % of the runs pause, for any reason',
    holds: (cell) => pausedShare(cell) >= PAUSED_SHARE,
  },
  // The default budget ends every tenth of these runs before the last of three circuits has opened. A budget of 8 ends none.
  systemic('three-of-server', 0.8),
  { ...systemic('three-of-server', 0.9), budget: 'eight' },
  systemic('three-declared', 0.85),
  { ...systemic('three-declared', 0.98), budget: 'eight' },
  atMost('three-of-group', 0.02),
  atMost('three-alike', 0.6),
  {
    row: 'stray-20',
    says: 'at most 2 % of the runs pause because of a correlated failure',
    holds: ({ pausedBySystemic }) => pausedBySystemic <= 0.02,
  },
  {
    row: 'all-mixed',
    says: 'at least 95 % of the runs have paused by step 8',
    holds: ({ pausedByStep8 }) => pausedByStep8 >= 0.95,
  },
  {
    row: 'all-dead',
    says: `at least ${EARLY_SHARE * 100} % of the runs have paused by step 6, and every run after at most ${MOST_FAILED} failed calls`,
    holds: ({ pausedByStep6, mostFailedCalls, ...cell }) =>
      pausedByStep6 >= EARLY_SHARE && mostFailedCalls <= MOST_FAILED && pausedShare(cell as Cell) === 1,
  },
  {
    row: 'all-25',
    says: `at least ${PAUSED_SHARE * 100} % of the runs pause`,
    holds: (cell) => pausedShare(cell) >= PAUSED_SHARE,
  },
];

/** Five minutes, and one step until the next call of an unavailable tool. */
const LONGEST_SECONDS = 305;

/** Every limit that these results exceed, in words. */
export const broken = ({ rows, falseEvents }: Pick<DefaultsResults, 'rows' | 'falseEvents'>): readonly string[] => {
  const { runs, healthyLost, longestSeconds = Number.POSITIVE_INFINITY, mostProbes, asPromised } = falseEvents;
  const ofRows = LIMITS.flatMap(({ row, budget = 'default', says, holds }) => {
    const cell = rows.find(({ id }) => id === row)?.cells[budget];
    return cell !== undefined && holds(cell) ? [] : [`${row}: ${says}`];
  });
  return [
    ...ofRows,
    ...(healthyLost === 0 ? [] : ['false event: the other tools lose no call']),
    ...(longestSeconds <= LONGEST_SECONDS ? [] : ['false event: it ends after five minutes']),
    ...(mostProbes === 1 ? [] : ['false event: one probe ends it']),
    ...(asPromised === runs ? [] : ['false event: a probe ends it, all sessions stay active, and all tools are back']),
  ];
};
