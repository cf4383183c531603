import { randomFrom, seedOf, shuffled } from '../src/defaults/random.ts';
import { type Habit, USUAL_HABIT } from './agent/habits.ts';
import { type Meter, meteredTurns, newMeter, type TakeTurn } from './agent/meter.ts';
import { scriptedAgent } from './agent/script.ts';
import { Store } from './airline/database.ts';
import { hasSucceeded, type Tasks } from './airline/task.ts';
import type { Loop } from './frameworks/loop.ts';
import type { Guarding, Protection } from './protections/protection.ts';
import { type CallLog, callTool, type World } from './world/client.ts';
import { type Fault, isOutage, PROVIDER, toolsDown } from './world/faults.ts';
import type { ToolServer } from './world/server.ts';
import { type SimulatedTime, simulatedTime } from './world/time.ts';

/** Tasks of one run: an agent that serves one customer after the other, each in a conversation of its own. */
export const TASKS = 12;
/** How long a person takes to let a paused run go on. */
const PERSON_MS = 600_000;
/** After so many pauses in one task, the person takes over, and the task counts as failed. */
const MOST_PAUSES = 3;

/** Until the next customer comes, after a conversation that ended because no model answered. */
const NEXT_CUSTOMER_MS = 30_000;

/** What a run brought, for one process. */
export interface Figures extends Omit<Meter, 'tokensIn' | 'tokensOut'> {
  tasks: number;
  succeeded: number;
  calls: number;
  deadCalls: number;
  tokens: number;
  dollars: number;
  seconds: number;
  secondsAfterFailure: number;
  pauses: number;
  /** Pauses while fewer than two tools were down. */
  falsePauses: number;
  /** Seconds from the end of an outage to the next answer of its tool, and how often that was seen. */
  recoverySeconds: number;
  recoveries: number;
}

/** List prices of a model of the middle class, in dollars for a million tokens. The page links them. */
export const PRICES = { input: 3, output: 15 };

export interface Setting {
  readonly loop: Loop;
  readonly protection: Protection;
  readonly fault: Fault;
  readonly tasks: Tasks;
  readonly server: ToolServer;
  readonly habit?: Habit;
  readonly number: number;
}

/** Plays one run. Its tasks, faults and mistakes depend on its number alone, so all protections meet the same. */
export const playRun = async (setting: Setting): Promise<Figures> => {
  const { protection, number } = setting;
  const time = simulatedTime(randomFrom(seedOf('chance', number)));
  try {
    const run = protection.begin();
    const processes = protection.processes ?? 1;
    const all = Array.from({ length: processes }, (_, process) => processOf(setting, time, process));
    await time.play(async () => {
      await Promise.all(
        all.map(({ world, work }, process) => work(() => run.guard(process, (...call) => callTool(world, ...call)))),
      );
      await run.end();
    });
    return meanOf(all.map(({ figures }) => figures()));
  } finally {
    time.end();
  }
};

const processOf = (
  { loop, fault, tasks, server, habit = USUAL_HABIT, number }: Setting,
  time: SimulatedTime,
  process: number,
) => {
  const seed = `run-${number}-${process}`;
  const log: CallLog = { calls: 0, deadCalls: 0, firstFailureMs: undefined, answeredMs: [] };
  const world: World = { time, url: server.url, fault, seed, log, task: 0, attempts: new Map() };
  const meter = newMeter();
  const chosen = shuffled(randomFrom(seedOf(seed, 0)), tasks.tasks).slice(0, TASKS);
  let [succeeded, pauses, falsePauses, endMs] = [0, 0, 0, 0];

  const work = async (guard: () => Guarding): Promise<void> => {
    for (const [index, task] of chosen.entries()) {
      const store = new Store(tasks.database);
      server.use(seed, store);
      world.task = index;
      world.attempts = new Map();
      const agent = scriptedAgent(task, habit, seed);
      const guarding = guard();
      const metered = meteredTurns(agent, world, meter, habit.turnMs);
      const { ask } = guarding;
      const takeTurn: TakeTurn = ask
        ? (...given) => ask((provider) => metered(given[0], given[1], given[2], provider))
        : metered;
      await loop(task.request, takeTurn, guarding).catch(async (error: unknown) => {
        if (fault.id !== PROVIDER) throw error;
        await time.sleep(NEXT_CUSTOMER_MS);
      });
      for (let paused = 0; agent.isStopped() && paused < MOST_PAUSES; paused += 1) {
        pauses += 1;
        if (toolsDown(fault, time.now()) < 2) falsePauses += 1;
        await time.sleep(PERSON_MS);
        guarding.session?.confirmRecovered();
        guarding.session?.resume();
        await loop(task.request, takeTurn, guarding);
      }
      guarding.end?.();
      if (hasSucceeded(tasks.database, task, store, agent.said)) succeeded += 1;
    }
    endMs = time.now();
  };

  const figures = (): Figures => {
    const { tokensIn, tokensOut, ...rest } = meter;
    const recoveries = recoveriesOf(fault, log.answeredMs, endMs);
    return {
      ...rest,
      ...{ tasks: chosen.length, succeeded, pauses, falsePauses, calls: log.calls, deadCalls: log.deadCalls },
      tokens: tokensIn + tokensOut,
      dollars: (tokensIn * PRICES.input + tokensOut * PRICES.output) / 1e6,
      seconds: endMs / 1_000,
      secondsAfterFailure: log.firstFailureMs === undefined ? 0 : (endMs - log.firstFailureMs) / 1_000,
      recoveries: recoveries.length,
      recoverySeconds: recoveries.reduce((sum, ms) => sum + ms / 1_000, 0),
    };
  };
  return { world, work, figures };
};

/** Milliseconds from each end of the outage to the next answer of one of its tools. An end without one is left out. */
const recoveriesOf = (fault: Fault, answeredMs: readonly number[], endMs: number): readonly number[] => {
  const [tool] = fault.outage?.tools ?? [];
  if (tool === undefined) return [];
  const STEP_MS = 1_000;
  const ends: number[] = [];
  for (let ms = STEP_MS; ms < endMs; ms += STEP_MS)
    if (isOutage(fault, tool, ms - STEP_MS) && !isOutage(fault, tool, ms)) ends.push(ms);
  return ends.flatMap((end, index) => {
    const next = answeredMs.find((ms) => ms >= end && ms < (ends[index + 1] ?? Number.POSITIVE_INFINITY));
    return next === undefined ? [] : [next - end];
  });
};

const meanOf = (all: readonly Figures[]): Figures => {
  const [first] = all;
  if (first === undefined) throw new Error('A run has at least one process.');
  const keys = Object.keys(first) as (keyof Figures)[];
  const mean = keys.map((key) => [key, all.reduce((sum, one) => sum + one[key], 0) / all.length] as const);
  return Object.fromEntries(mean) as unknown as Figures;
};
