/** How often the same calls have the same results one after the other before that is a circle (D5). */
const TIMES = 3;
/** Most calls of one circle. */
const LONGEST = 4;
/** Circles of a session that are remembered. A report lists them, and each is told once. */
const MOST = 50;

/** A call that is over. */
interface Step {
  readonly tool: string;
  /** The digests of its arguments and its result. */
  readonly what: string;
}

/** Calls that were made again and again, with the same arguments and results. */
export interface Circle {
  /** The tools of its calls, in order. */
  readonly tools: readonly string[];
  /** Calls that were made in it. */
  calls: number;
}

interface Found {
  readonly circle: Circle;
  /** The agents that have read of it. */
  readonly told: WeakSet<object>;
}

interface Latest {
  readonly steps: readonly Step[];
  /** The name of the circle that they make. */
  readonly name: string | undefined;
}

const NO_STEPS: Latest = { steps: [], name: undefined };

/** Detects an agent that goes in circles: one call, or 2 to 4 in turns, three times over with the same results (D5). */
export class Circles {
  /** By the calls that they consist of, wherever they begin. */
  readonly #found = new Map<string, Found>();
  /** Of the agents of a tree, because their calls are made side by side. */
  readonly #latest = new WeakMap<object, Latest>();

  get all(): readonly Circle[] {
    return Array.from(this.#found.values(), ({ circle }) => circle);
  }

  /**
   * A call of an agent is over. Gives the circle that it completes, to each agent once. Calls that only fail are no circle: the loop guard
   * skips them (O5).
   */
  add(agent: object, step: Step, isSuccess: boolean): Circle | undefined {
    const before = this.#latest.get(agent) ?? NO_STEPS;
    const steps = [...before.steps, step].slice(-LONGEST * TIMES);
    const turn = turnOf(steps);
    const name = turn && nameOf(turn);
    this.#latest.set(agent, { steps, name });
    if (turn === undefined || name === undefined) return undefined;
    const found = this.#found.get(name) ?? (isSuccess ? this.#keep(name, turn) : undefined);
    if (found === undefined) return undefined;
    const { circle, told } = found;
    circle.calls += before.name === name && circle.calls > 0 ? 1 : turn.length * TIMES;
    if (!isSuccess || told.has(agent)) return undefined;
    told.add(agent);
    return circle;
  }

  /** Nothing is known of a call, so that it ends what came before. */
  interrupt(agent: object): void {
    this.#latest.delete(agent);
  }

  #keep(name: string, turn: readonly Step[]): Found {
    const found = { circle: { tools: turn.map(({ tool }) => tool), calls: 0 }, told: new WeakSet<object>() };
    this.#found.set(name, found);
    const [oldest] = this.#found.size > MOST ? this.#found.keys() : [];
    if (oldest !== undefined) this.#found.delete(oldest);
    return found;
  }
}

const nameOf = (turn: readonly Step[]): string =>
  turn
    .map(({ what }) => what)
    .toSorted()
    .join();

/** The calls of one turn of the shortest circle that the latest calls make. */
const turnOf = (latest: readonly Step[]): readonly Step[] | undefined => {
  for (let length = 1; length <= LONGEST; length += 1) {
    const calls = latest.slice(-length * TIMES);
    const isCircle = calls.every(({ what }, index) => what === calls[index % length]?.what);
    if (calls.length === length * TIMES && isCircle) return calls.slice(0, length);
  }
  return undefined;
};
