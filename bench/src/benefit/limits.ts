import { HABITS } from './habits.ts';
import { STORIES } from './outages.ts';
import { PROTECTIONS } from './protections.ts';
import { type Cost, playRuns } from './run.ts';

/** What Breakerbox keeps in the rows of a story. Absent habits: those of all agents. */
interface Limit {
  readonly story: string;
  readonly habits?: readonly string[];
  readonly says: string;
  readonly holds: (cost: Cost) => boolean;
}

const PATIENT = ['thrice', 'stubborn'];
const DEAD_TOOL = ['refused', 'hangs'];

const tasks = (share: number): Pick<Limit, 'says' | 'holds'> => ({
  says: `at least ${share * 100} % of the tasks are completed`,
  holds: (cost) => cost.completed >= share * cost.tasks,
});

/** The limit of a mean of one run. */
const atMost = (most: number, of: keyof Cost, what: string): Pick<Limit, 'says' | 'holds'> => ({
  says: `at most ${most.toLocaleString('en')} ${what}`,
  holds: (cost) => cost[of] <= most * cost.runs,
});

const recovery = (seconds: number): Pick<Limit, 'says' | 'holds'> => ({
  says: `the recovery is noticed within ${seconds} s`,
  holds: ({ recoveries, recoverySeconds }) => recoveries > 0 && recoverySeconds <= seconds * recoveries,
});

/** The limits that Breakerbox keeps. Impatient agents owe their tasks to the advice after a failure (R5). */
export const LIMITS: readonly Limit[] = [
  ...DEAD_TOOL.flatMap((story): readonly Limit[] => [
    { story, habits: ['once'], ...tasks(0.75) },
    { story, habits: PATIENT, ...tasks(0.94) },
    { story, ...atMost(13, 'deadCalls', 'calls into the dead tool') },
    { story, ...atMost(65_000, 'wastedTokens', 'tokens are wasted') },
  ]),
  { story: 'recovers', habits: ['once'], ...tasks(0.75) },
  { story: 'recovers', habits: PATIENT, ...tasks(0.97) },
  { story: 'recovers', ...recovery(50) },
  { story: 'recovers', ...atMost(1, 'falseRejections', 'good calls are rejected') },
  ...['shared', 'declared'].flatMap((story): readonly Limit[] => [
    { story, habits: PATIENT, ...tasks(0.9) },
    { story, habits: PATIENT, ...recovery(441) },
    { story, says: 'at least 95 % of the runs pause', holds: ({ pauses, runs }) => pauses >= 0.95 * runs },
  ]),
];

type Played = (story: string, habit: string) => Cost;

/** Every limit that Breakerbox exceeds, in words. */
export const broken = (runs: number, played: Played = playedBy(runs)): readonly string[] =>
  LIMITS.flatMap(({ story, habits = HABITS.map(({ id }) => id), says, holds }) =>
    habits.filter((habit) => !holds(played(story, habit))).map((habit) => `${story}, ${habit}: ${says}`),
  );

/** Plays each row once. */
const playedBy = (runs: number): Played => {
  const known = new Map<string, Cost>();
  return (story, habit) => {
    const row = `${story}/${habit}`;
    const cost =
      known.get(row) ?? playRuns(named(STORIES, story), named(HABITS, habit), named(PROTECTIONS, 'breakerbox'), runs);
    known.set(row, cost);
    return cost;
  };
};

/** The story, habit or protection of that id. */
export const named = <T extends { readonly id: string }>(all: readonly T[], id: string): T => {
  const found = all.find((one) => one.id === id);
  if (!found) throw new Error(`there is no ${id}`);
  return found;
};
