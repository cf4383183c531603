import type { ScopePlan } from '@breakerbox/core';
import type { Task } from '@breakerbox/core/scope';

/** A kind of work that an agent does again and again, in batches: each batch is a task. */
export interface Duty {
  readonly name: string;
  readonly tools: readonly string[];
}

/** A tool call of the plan. */
export interface PlannedCall {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
}

/**
 * How a call ended. `fallback`: another tool or the last good result answered. That is good enough for the task, but the tool itself
 * still owes an answer. `rejected`: the call was rejected and had no answer.
 */
export type Answer = 'answered' | 'failed' | 'fallback' | 'rejected';

/** The rest of a session's work. */
export interface Plan {
  /** Whether the session may end: enough steps, and no tool owes an answer. */
  readonly done: boolean;
  /** The current tasks: the current batch of each duty. */
  readonly tasks: readonly Task[];
  /** Names of the finished tasks. */
  readonly finished: readonly string[];
  /** Whether to plan the scope again: tools turned out to be unavailable, or were so some steps ago. */
  readonly needsScope: boolean;
  /** Works only on achievable tasks from now on. The rest waits for the next scope. */
  reduceTo(scope: ScopePlan): void;
  /** The calls of the next step: up to two, of different tools. Empty if the session may end, or if no task is achievable now. */
  next(): readonly PlannedCall[];
  /** How a call ended. */
  settle(id: string, answer: Answer): void;
  /** Repeats the call with another tool at the next step. */
  callInstead(id: string, tool: string): void;
}

/** The work of a session. */
export interface PlanOptions {
  /** Their tools take turns in this order. */
  readonly duties: readonly Duty[];
  /** Number of steps if nothing fails. */
  readonly steps: number;
  /** The arguments for a tool; `n` counts its calls. */
  input(tool: string, n: number): unknown;
}

const CALLS_PER_STEP = 2;
/** Answers of each of its tools that complete a batch. */
const BATCH = 6;
/** Calls that do not reach their tool before the agent plans its scope again. */
const OBSTACLES = 2;
/** Steps before the agent checks whether a deferred task is achievable. */
const PATIENCE_STEPS = 3;

/** A call that is not settled, of a tool whose turn it is, or of an alternative. */
interface Made extends PlannedCall {
  /** The tool whose turn it is. It differs from `tool` if `tool` is an alternative. */
  readonly turnOf: string;
}

/** Makes the plan of one session. While a tool is unavailable, the agent continues with its other duties. */
export const createPlan = ({ duties, steps, input }: PlanOptions): Plan => {
  const tools = [...new Set(duties.flatMap((duty) => duty.tools))];
  const answers = new Map<string, number>();
  const asked = new Map<string, number>();
  /** Tools that were called and have not answered themselves. */
  const owing = new Set<string>();
  const made = new Map<string, Made>();
  let fallbacks: readonly Omit<Made, 'id'>[] = [];
  let inScope: ReadonlySet<string> = new Set(tools);
  let obstacles = 0;
  /** The step at which a task was deferred; undefined if none is. */
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

  /** The next tools in turn, each once. */
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
      const instead = fallbacks.slice(0, CALLS_PER_STEP).map(make);
      fallbacks = fallbacks.slice(CALLS_PER_STEP);
      const inTurn = takeTurns(CALLS_PER_STEP - instead.length).map(turnCall);
      const all = [...instead, ...inTurn];
      if (all.length > 0) step += 1;
      return all;
    },
    settle: (id, answer) => {
      const call = made.get(id);
      made.delete(id);
      if (answer === 'fallback' || answer === 'rejected') obstacles += 1;
      if (call === undefined || answer === 'failed' || answer === 'rejected') return;
      const { tool, turnOf } = call;
      answers.set(turnOf, (answers.get(turnOf) ?? 0) + 1);
      if (answer === 'answered' && tool === turnOf) owing.delete(turnOf);
    },
    callInstead: (id, tool) => {
      const call = made.get(id);
      made.delete(id);
      obstacles += 1;
      if (call !== undefined) fallbacks = [...fallbacks, { tool, turnOf: call.turnOf, input: call.input }];
    },
  };
};
