/** A tool call that a plan wants made. */
export interface PlannedCall {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
}

/** What is left of an agent's task. */
export interface Plan {
  /** Whether the task is done: enough steps, and no tool owes an answer. */
  readonly done: boolean;
  /** The calls of the next step: up to two, of different tools. None when the task is done. */
  next(): readonly PlannedCall[];
  /** How a call ended. A tool that gave no answer is asked the same again when its turn comes. */
  settle(id: string, answered: boolean): void;
}

/** What a task is made of. */
export interface PlanOptions {
  /** The tools, in the order in which they take turns. */
  readonly tools: readonly string[];
  /** How many steps the task takes if all goes well. */
  readonly steps: number;
  /** The arguments for a tool; `n` counts its answers. */
  input(tool: string, n: number): unknown;
}

const CALLS_PER_STEP = 2;

/** Makes the plan of one session. An agent that waits for a tool goes on with the others meanwhile. */
export const createPlan = ({ tools, steps, input }: PlanOptions): Plan => {
  const answers = new Map<string, number>();
  /** Tools that were asked and haven't answered. */
  const owing = new Set<string>();
  const toolOf = new Map<string, string>();
  let step = 0;
  let turn = 0;
  let calls = 0;
  const isDone = (): boolean => step >= steps && owing.size === 0;

  return {
    get done() {
      return isDone();
    },
    next: () => {
      if (isDone()) return [];
      step += 1;
      return Array.from({ length: Math.min(CALLS_PER_STEP, tools.length) }, () => {
        const tool = tools[turn % tools.length] ?? '';
        turn += 1;
        calls += 1;
        const id = `call-${calls}`;
        owing.add(tool);
        toolOf.set(id, tool);
        return { id, tool, input: input(tool, answers.get(tool) ?? 0) };
      });
    },
    settle: (id, answered) => {
      const tool = toolOf.get(id);
      toolOf.delete(id);
      if (tool === undefined || !answered) return;
      owing.delete(tool);
      answers.set(tool, (answers.get(tool) ?? 0) + 1);
    },
  };
};
