/** An edge of a state space: something that may happen, and what comes of it. */
export interface Edge<State> {
  readonly name: string;
  readonly next: State;
}

export interface Walked {
  readonly states: number;
  readonly transitions: number;
}

/**
 * Visits every state that can be reached, breadth first, so that what is found wrong is reached by the shortest way. States
 * must be in their canonical form: two that behave alike are equal as JSON. Ends when nothing new is found.
 *
 * @param edges all that may happen in a state; throws where an invariant breaks
 * @param visit looks at each state once
 */
export const walk = <State>(
  start: State,
  edges: (state: State) => Iterable<Edge<State>>,
  visit: (state: State) => void,
  most = 2_000_000,
): Walked => {
  const ways = new Map<string, { readonly from: string; readonly name: string }>();
  const keyOf = (state: State) => JSON.stringify(state);
  const queue = [start];
  ways.set(keyOf(start), { from: '', name: 'start' });
  let transitions = 0;
  for (const state of queue) {
    const from = keyOf(state);
    try {
      visit(state);
      for (const { name, next } of edges(state)) {
        transitions += 1;
        const key = keyOf(next);
        if (ways.has(key)) continue;
        if (ways.size >= most) throw new Error(`more than ${most} states: the state space does not close`);
        ways.set(key, { from, name });
        queue.push(next);
      }
    } catch (error) {
      throw new Error(`after ${wayTo(from, ways).join(', ')}, in state ${from}`, { cause: error });
    }
  }
  return { states: queue.length, transitions };
};

const wayTo = (key: string, ways: ReadonlyMap<string, { readonly from: string; readonly name: string }>): string[] => {
  const way = ways.get(key);
  return way === undefined ? [] : [...wayTo(way.from, ways), way.name];
};
