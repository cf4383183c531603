import type { ErrorCategory, Session } from '@breakerbox/core';
import { usualCategory } from './failures.ts';
import type { Random } from './random.ts';
import { type Scenario, STEP_MS, type World } from './scenario.ts';

/**
 * The simulated agent. In each step it wants one tool and calls it, or several one after the other. If the call is skipped, it calls another tool in the same step, at
 * most twice, as a model does that reads of an alternative. A failed call ends the step: the model reads the error in its next turn.
 * `pause` ends the run. Arguments differ from call to call, so the loop guard has no effect.
 */

/** Most tools that a step calls: the wanted one and two others. */
const MOST_ASKED = 3;

/** The simulated time. It passes when the agent says so. */
export interface SimulatedClock {
  now(): number;
  unixNow(): number;
  pass(ms: number): void;
}

const BEGIN_UNIX_MS = Date.UTC(2026, 0, 1);

export const simulatedClock = (): SimulatedClock => {
  let ms = 0;
  return {
    now: () => ms,
    unixNow: () => BEGIN_UNIX_MS + ms,
    pass: (more) => {
      ms += more;
    },
  };
};

/** How a call of one attempt would end: the category of its failure, or undefined. */
interface Attempt {
  readonly tool: string;
  readonly failure: ErrorCategory | undefined;
  /** The tool itself is unavailable, and this is not a stray failure. */
  readonly isUnavailable: boolean;
}

/** The result of one run. */
export interface Run {
  readonly paused: 'budget' | 'systemic' | undefined;
  /** The step in which it paused. */
  readonly pausedIn: number | undefined;
  readonly failedCalls: number;
  /** Calls of tools while they were unavailable, probes included. */
  readonly unavailableCalls: number;
  /** Steps that wanted a call that would have succeeded, and how many of those calls were not made. */
  readonly healthyWanted: number;
  readonly healthyLost: number;
}

/** Draws which tool a step wants. */
const wantedTool = (random: Random, tools: readonly string[], { wanted = {} }: World): string => {
  let left = random();
  const listed = Object.entries(wanted);
  for (const [tool, share] of listed) {
    left -= share;
    if (left < 0) return tool;
  }
  const others = tools.filter((tool) => wanted[tool] === undefined);
  const rest = 1 - listed.reduce((sum, [, share]) => sum + share, 0);
  return others[Math.min(others.length - 1, Math.floor((left / rest) * others.length))] ?? '';
};

/** All attempts of a step are drawn at once, also those that are not needed, so each budget gets the same world. */
const attemptsOf = (random: Random, { tools, stray }: Scenario, world: World, step: number): readonly Attempt[] => {
  const names = Object.keys(tools);
  const asked: Attempt[] = [];
  while (asked.length < Math.min(MOST_ASKED, names.length)) {
    const left = names.filter((name) => !asked.some(({ tool }) => tool === name));
    const tool =
      asked.length === 0
        ? (world.wants?.(step) ?? wantedTool(random, names, world))
        : (left[Math.floor(random() * left.length)] ?? '');
    const [luck, category] = [random(), usualCategory(random)];
    const outage = world.outage(tool, step);
    asked.push({ tool, failure: outage ?? (luck < stray ? category : undefined), isUnavailable: outage !== undefined });
  }
  return asked;
};

/** The first attempt that is not skipped; `pause` if the session rejects all of them. */
const callOne = (session: Session, attempts: readonly Attempt[]): Attempt | 'pause' | undefined => {
  for (const attempt of attempts) {
    const permit = session.acquire(attempt.tool);
    if (permit.decision === 'pause') return 'pause';
    if (permit.decision === 'skip') continue;
    permit.settle(
      attempt.failure === undefined ? { outcome: 'success' } : { outcome: 'failure', category: attempt.failure },
    );
    return attempt;
  }
  return undefined;
};

const pauseOf = (session: Session): Run['paused'] => {
  const { state } = session.view();
  if (state === 'active') return undefined;
  return state === 'paused_budget' ? 'budget' : 'systemic';
};

/** One run from its first step to its last, or to its pause. */
export const runAgent = (session: Session, clock: SimulatedClock, scenario: Scenario, random: Random): Run => {
  const world = scenario.world(random);
  let paused: Run['paused'];
  let pausedIn: number | undefined;
  const count = { failedCalls: 0, unavailableCalls: 0, healthyWanted: 0, healthyLost: 0 };
  for (let step = 1; step <= scenario.steps; step += 1) {
    for (let call = 0; call < (scenario.calls ?? 1); call += 1) {
      const attempts = attemptsOf(random, scenario, world, step);
      // A paused run continues, to count the calls that it loses.
      const called = paused === undefined ? callOne(session, attempts) : undefined;
      const made = called === 'pause' ? undefined : called;
      if (made?.failure !== undefined) count.failedCalls += 1;
      if (made?.isUnavailable) count.unavailableCalls += 1;
      const [wanted] = attempts;
      if (wanted?.failure === undefined) {
        count.healthyWanted += 1;
        if (made !== wanted) count.healthyLost += 1;
      }
    }
    if (paused === undefined) {
      paused = pauseOf(session);
      if (paused !== undefined) pausedIn = step;
      if (scenario.stepless === undefined) session.step();
      clock.pass(STEP_MS);
    }
  }
  return { paused, pausedIn, ...count };
};
