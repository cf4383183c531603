import type { ErrorCategory } from '@breakerbox/core';
import { type SimulatedClock, simulatedClock } from '../defaults/agent.ts';
import { type Random, randomFrom, seedOf } from '../defaults/random.ts';
import type { Habit } from './habits.ts';
import { type Outage, RUN_MS, type Story } from './outages.ts';
import type { Advice, Protection, ProtectionKind } from './protections.ts';

/** The tools that each task needs, in this order. */
const PARTS = ['search', 'fetch', 'crm', 'write'] as const;
const TASKS = 25;
export const ALTERNATIVES: Readonly<Record<string, string>> = { search: 'news' };

/** One turn of the model: its time, and its tokens. */
const TURN_MS = 6000;
const TURN_TOKENS = 2000;
const CALL_MS = 300;
/** A person looks at a paused run after this time, and lets it go on. */
const PERSON_MS = 10 * 60_000;

/** What one run cost, and what it did. Sums of runs have the same fields. */
export interface Cost {
  runs: number;
  tasks: number;
  completed: number;
  /** Calls of tools that were down. */
  deadCalls: number;
  /** Tokens of turns in which a call failed or was rejected. */
  wastedTokens: number;
  /** Rejected calls that would have succeeded. */
  falseRejections: number;
  pauses: number;
  /** Runs whose first outage ended while they ran, and seconds from its end to the first call that succeeded. */
  recoveries: number;
  recoverySeconds: number;
  minutes: number;
}

export const noCost = (): Cost => ({
  ...{ runs: 0, tasks: 0, completed: 0, deadCalls: 0, wastedTokens: 0 },
  ...{ falseRejections: 0, pauses: 0, recoveries: 0, recoverySeconds: 0, minutes: 0 },
});

interface Actor {
  readonly story: Story;
  readonly habit: Habit;
  readonly random: Random;
  readonly clock: SimulatedClock;
  readonly protection: Protection;
  readonly cost: Cost;
  recoveredMs: number | undefined;
}

/** Plays one run. The same story, habit and number give the same draws for every protection. */
export const playRun = (story: Story, habit: Habit, kind: ProtectionKind, number: number): Cost => {
  const clock = simulatedClock();
  const cost: Cost = { ...noCost(), runs: 1, tasks: TASKS };
  const protection = kind.protect(clock, { alternatives: ALTERNATIVES, dependencies: story.dependencies ?? {} });
  const random = randomFrom(seedOf(`${story.draws ?? story.id}/${habit.id}`, number));
  const actor: Actor = { story, habit, random, clock, protection, cost, recoveredMs: undefined };
  for (let task = 0; task < TASKS && clock.now() < RUN_MS; task += 1) {
    if (PARTS.every((tool) => doPart(actor, tool))) cost.completed += 1;
  }
  protection.end();
  cost.minutes = clock.now() / 60_000;
  const [first] = story.outages;
  if (first && actor.recoveredMs !== undefined) {
    cost.recoveries = 1;
    cost.recoverySeconds = (actor.recoveredMs - first.toMs) / 1000;
  }
  return cost;
};

/** The sum of several runs of one story, habit and protection. */
export const playRuns = (story: Story, habit: Habit, kind: ProtectionKind, runs: number): Cost => {
  const sum = noCost();
  for (let number = 0; number < runs; number += 1) {
    const cost = playRun(story, habit, kind, number);
    for (const key of Object.keys(sum) as (keyof Cost)[]) sum[key] += cost[key];
  }
  return sum;
};

/** One part of a task: the tool, its tries, and an alternative. */
const doPart = (actor: Actor, tool: string): boolean => {
  const { habit } = actor;
  for (let attempt = 1; attempt <= habit.tries && actor.clock.now() < RUN_MS; attempt += 1) {
    const ended = call(actor, tool);
    if (ended === 'done') return true;
    // The advice names the alternative, and every habit reads it, after a rejection or an error (R5).
    if (typeof ended === 'object') return ended.alternative !== undefined && call(actor, ended.alternative) === 'done';
  }
  const known = habit.usesAlternative ? ALTERNATIVES[tool] : undefined;
  return known !== undefined && call(actor, known) === 'done';
};

type Ended = 'done' | 'failed' | Advice;

/** One call, and the turn of the model in which it was made. */
const call = (actor: Actor, tool: string): Ended => {
  const { protection, clock, cost } = actor;
  clock.pass(TURN_MS);
  const answer = protection.ask(tool);
  if (!answer.go && answer.advice?.stops) {
    awaitPerson(actor);
    return clock.now() < RUN_MS ? call(actor, tool) : 'failed';
  }
  const { failure, outage } = fateOf(actor, tool);
  if (!answer.go) {
    if (failure === undefined) cost.falseRejections += 1;
    cost.wastedTokens += TURN_TOKENS;
    protection.step();
    return answer.advice ?? 'failed';
  }
  clock.pass(outage?.failsAfterMs ?? CALL_MS);
  if (outage) cost.deadCalls += 1;
  const advice = answer.settle(failure);
  protection.step();
  if (failure === undefined) {
    noteRecovery(actor, tool);
    return 'done';
  }
  cost.wastedTokens += TURN_TOKENS;
  if (!advice?.stops) return advice ?? 'failed';
  awaitPerson(actor);
  return 'failed';
};

/** The run is paused. It goes on where it stopped: with the next try, if the agent has one left. */
const awaitPerson = ({ cost, clock, protection }: Actor): void => {
  cost.pauses += 1;
  clock.pass(PERSON_MS);
  protection.resume();
};

/** How a call would end now. Always two draws, so that runs with other protections stay alike. */
const fateOf = (
  { story, random, clock }: Actor,
  tool: string,
): { readonly failure: ErrorCategory | undefined; readonly outage: Outage | undefined } => {
  const [chance, mistake] = [random(), random()];
  const now = clock.now();
  const outage = story.outages.find(({ tools, fromMs, toMs }) => tools.includes(tool) && now >= fromMs && now < toMs);
  if (outage) return { failure: outage.category, outage };
  if (mistake < story.mistakes) return { failure: 'invalid_input', outage };
  return { failure: chance < story.chance ? 'server' : undefined, outage };
};

const noteRecovery = (actor: Actor, tool: string): void => {
  const [first] = actor.story.outages;
  if (!first?.tools.includes(tool) || actor.clock.now() < first.toMs) return;
  actor.recoveredMs ??= actor.clock.now();
};
