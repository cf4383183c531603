import type { ScopePlan, Task } from '@breakerbox/core';

/** A kind of work that an agent does over and over, in batches: each batch is a task. */
export interface Duty {
  readonly name: string;
  readonly tools: readonly string[];
}

/** A tool call that a plan wants made. */
export interface PlannedCall {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
}

/**
 * What a call came to. `stood_in`: something else answered, another tool or the last good result, which is good enough for the
 * task; the tool itself still owes an answer. `held_up`: it was not made, and nothing stood in.
 */
export type Answer = 'answered' | 'failed' | 'stood_in' | 'held_up';

/** What is left of a session's work. */
export interface Plan {
  /** Whether the session may end: enough steps, and no tool owes an answer. */
  readonly done: boolean;
  /** The tasks in hand: the current batch of each duty. */
  readonly tasks: readonly Task[];
  /** Names of the tasks that are done. */
  readonly finished: readonly string[];
  /** Whether to look anew at what can be done: tools turned out to be out, or some time ago they were. */
  readonly needsScope: boolean;
  /** From now on only what is achievable is worked on; the rest waits for the next scope. */
  reduceTo(scope: ScopePlan): void;
  /** The calls of the next step: up to two, of different tools. None when the session may end, or nothing can be done now. */
  next(): readonly PlannedCall[];
  /** How a call ended. */
  settle(id: string, answer: Answer): void;
  /** The same call is to be made with another tool at the next step. */
  callInstead(id: string, tool: string): void;
}

/** What a session's work is made of. */
export interface PlanOptions {
  /** Their tools take turns in this order. */
  readonly duties: readonly Duty[];
  /** How many steps the session takes if all goes well. */
  readonly steps: number;
  /** The arguments for a tool; `n` counts its calls. */
  input(tool: string, n: number): unknown;
}

const CALLS_PER_STEP = 2;
/** Answers of each of its tools that a batch takes. */
const BATCH = 6;
/** Calls that don't reach their tool until the agent looks anew at what it can do. */
const OBSTACLES = 2;
/** Steps until it looks whether what it deferred can be done now. */
const PATIENCE_STEPS = 3;

/** A call that hasn't been settled, for a tool's turn or in place of one. */
interface Made extends PlannedCall {
  /** Whose turn it is; another than `tool` where that one stands in. */
  readonly turnOf: string;
}

/** Makes the plan of one session. An agent that waits for a tool goes on with its other duties meanwhile. */
export const createPlan = ({ duties, steps, input }: PlanOptions): Plan => {
  const tools = [...new Set(duties.flatMap((duty) => duty.tools))];
  const answers = new Map<string, number>();
  const asked = new Map<string, number>();
  /** Tools that were asked and haven't answered themselves. */
  const owing = new Set<string>();
  const made = new Map<string, Made>();
  let standIns: readonly Omit<Made, 'id'>[] = [];
  let inScope: ReadonlySet<string> = new Set(tools);
  let obstacles = 0;
  /** The step at which something was deferred; undefined when nothing is. */
  let deferredAt: number | undefined;
  let step = 0;
  let turn = 0;
  let calls = 0;

  const isDone = (): boolean => step >= steps && owing.size === 0;
  const batchesOf = (duty: Duty): number =>
    Math.floor(Math.min(...duty.tools.map((tool) => answers.get(tool) ?? 0)) / BATCH);

  const make = (call: Omit<Made, 'id'>): PlannedCall => {
    calls += 1;
    const id = `call-${calls}`;
    made.set(id, { id, ...call });
    return { id, tool: call.tool, input: call.input };
  };

  /** The next tools whose turn it is, each once. */
  const takeTurns = (count: number): readonly string[] => {
    const taken: string[] = [];
    for (let looked = 0; looked < tools.length && taken.length < count; looked += 1) {
      const tool = tools[turn % tools.length] ?? '';
      turn += 1;
      if (inScope.has(tool)) taken.push(tool);
    }
    return taken;
  };

  const turnCall = (tool: string): PlannedCall => {
    const n = asked.get(tool) ?? 0;
    asked.set(tool, n + 1);
    owing.add(tool);
    return make({ tool, turnOf: tool, input: input(tool, n) });
  };

  return {
    get done() {
      return isDone();
    },
    get tasks() {
      return duties.map((duty) => ({ name: `${duty.name} ${batchesOf(duty) + 1}`, tools: duty.tools }));
    },
    get finished() {
      return duties.flatMap((duty) =>
        Array.from({ length: batchesOf(duty) }, (_, index) => `${duty.name} ${index + 1}`),
      );
    },
    get needsScope() {
      return obstacles >= OBSTACLES || (deferredAt !== undefined && step - deferredAt >= PATIENCE_STEPS);
    },
    reduceTo: ({ achievable, deferred }) => {
      obstacles = 0;
      deferredAt = deferred.length > 0 ? step : undefined;
      const names = new Set(achievable.map(({ task }) => task));
      const kept = duties.filter((duty) => names.has(`${duty.name} ${batchesOf(duty) + 1}`));
      inScope = new Set(kept.flatMap((duty) => duty.tools));
    },
    next: () => {
      if (isDone()) return [];
      const instead = standIns.slice(0, CALLS_PER_STEP).map(make);
      standIns = standIns.slice(CALLS_PER_STEP);
      const inTurn = takeTurns(CALLS_PER_STEP - instead.length).map(turnCall);
      const all = [...instead, ...inTurn];
      if (all.length > 0) step += 1;
      return all;
    },
    settle: (id, answer) => {
      const call = made.get(id);
      made.delete(id);
      if (answer === 'stood_in' || answer === 'held_up') obstacles += 1;
      if (call === undefined || answer === 'failed' || answer === 'held_up') return;
      const { tool, turnOf } = call;
      answers.set(turnOf, (answers.get(turnOf) ?? 0) + 1);
      if (answer === 'answered' && tool === turnOf) owing.delete(turnOf);
    },
    callInstead: (id, tool) => {
      const call = made.get(id);
      made.delete(id);
      obstacles += 1;
      if (call !== undefined) standIns = [...standIns, { tool, turnOf: call.turnOf, input: call.input }];
    },
  };
};
