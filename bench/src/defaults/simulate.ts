import { createBreakerbox } from '@breakerbox/core';
import { type Run, runAgent, simulatedClock } from './agent.ts';
import type { BudgetColumn } from './budgets.ts';
import { randomFrom, seedOf } from './random.ts';
import type { Scenario } from './scenario.ts';

/** The results of the runs of one scenario under one budget. Shares are from 0 to 1. */
export interface Cell {
  readonly pausedByBudget: number;
  readonly pausedBySystemic: number;
  readonly failedCalls: number;
  readonly mostFailedCalls: number;
  readonly unavailableCalls: number;
  /** Share of the wanted healthy calls that were not made; undefined if none was wanted. */
  readonly healthyLost: number | undefined;
  /** Of the runs that paused; undefined if none did. */
  readonly pausedInMedian: number | undefined;
  readonly pausedInLast: number | undefined;
  /** Share of the runs that had paused by the end of step 6. */
  readonly pausedByStep6: number;
  /** The same for step 8. */
  readonly pausedByStep8: number;
}

/** Plays that many runs of a scenario. Each run is reproducible, and the first runs do not depend on the number of runs. */
export const simulate = (scenario: Scenario, { budget }: BudgetColumn, runs: number): readonly Run[] => {
  const clock = simulatedClock();
  const box = createBreakerbox({ agent: 'simulation', tools: scenario.tools, clock, ...(budget && { budget }) });
  return Array.from({ length: runs }, (_, index) => {
    const session = box.session({ id: `run-${index}` });
    const run = runAgent(session, clock, scenario, randomFrom(seedOf(scenario.id, index)));
    session.end();
    return run;
  });
};

const sum = (runs: readonly Run[], of: (run: Run) => number): number => runs.reduce((all, run) => all + of(run), 0);

/** Sums up runs. */
export const cellOf = (runs: readonly Run[]): Cell => {
  const share = (holds: (run: Run) => boolean): number => runs.filter(holds).length / runs.length;
  const steps = runs.flatMap(({ pausedIn }) => (pausedIn === undefined ? [] : [pausedIn])).sort((a, b) => a - b);
  const wanted = sum(runs, ({ healthyWanted }) => healthyWanted);
  return {
    pausedByBudget: share(({ paused }) => paused === 'budget'),
    pausedBySystemic: share(({ paused }) => paused === 'systemic'),
    failedCalls: sum(runs, ({ failedCalls }) => failedCalls) / runs.length,
    mostFailedCalls: Math.max(...runs.map(({ failedCalls }) => failedCalls)),
    unavailableCalls: sum(runs, ({ unavailableCalls }) => unavailableCalls) / runs.length,
    healthyLost: wanted === 0 ? undefined : sum(runs, ({ healthyLost }) => healthyLost) / wanted,
    pausedInMedian: steps[Math.floor((steps.length - 1) / 2)],
    pausedInLast: steps.at(-1),
    pausedByStep6: share(({ pausedIn = Number.POSITIVE_INFINITY }) => pausedIn <= 6),
    pausedByStep8: share(({ pausedIn = Number.POSITIVE_INFINITY }) => pausedIn <= 8),
  };
};

/** Share of the runs that paused, for any reason. */
export const pausedShare = ({ pausedByBudget, pausedBySystemic }: Cell): number => pausedByBudget + pausedBySystemic;
