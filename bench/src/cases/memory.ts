import { createBreakerbox, type Session } from '@breakerbox/core';
import type { Contender, Contestant, Measure } from '../contest.ts';
import { liveHeap } from '../heap.ts';
import { AGENT, byHand } from '../ours.ts';
import { cockatielCircuit, type Opossum, opossumByDefault, opossumCircuit, opossumMetrics } from '../peers.ts';
import { brokenTool, caught, TOOLS, tool } from '../tool.ts';

/** Things of one kind. */
interface Kind extends Contestant {
  /** What they need and what is not counted with them: sessions. */
  prepare?(count: number): readonly Session[];
  /** Makes `count` of them and uses each. */
  make(count: number, sessions: readonly Session[]): Promise<Held>;
}

/** Keeps things alive until `release` is called. */
interface Held {
  readonly things: readonly unknown[];
  release(): void;
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const TOOL_CONFIGS = Object.fromEntries(TOOLS.map((name) => [name, {}]));
const box = createBreakerbox({ agent: AGENT, tools: TOOL_CONFIGS });
/** So that all circuits of one session can open. */
const tolerant = createBreakerbox({ agent: AGENT, tools: TOOL_CONFIGS, systemic: false, budget: { failures: 1_000 } });

const cockatiels = async (count: number): Promise<Held> => {
  const things = times(count, () => cockatielCircuit());
  for (const circuit of things) await circuit.execute(() => tool(1));
  return { things, release: () => {} };
};

const opossums = async (count: number, make: (name: string) => Opossum): Promise<Held> => {
  const things = times(count, (index) => make(`circuit ${index}`));
  for (const circuit of things) await circuit.fire(1);
  return {
    things,
    release: () => {
      for (const circuit of things) circuit.shutdown();
    },
  };
};

const measuredOpossums = async (count: number): Promise<Held> => {
  const metrics = opossumMetrics();
  const { things, release } = await opossums(count, (name) => {
    const circuit = opossumCircuit(tool, { name });
    metrics.add([circuit]);
    return circuit;
  });
  return { things: [metrics, ...things], release };
};

const held = (things: readonly Session[]): Held => ({
  things,
  release: () => {
    for (const session of things) session.end();
  },
});

const sessions = (count: number, of = box): readonly Session[] => times(count, () => of.session());

/** As many sessions as are needed for that many circuits, at 20 circuits each. */
const sessionsForCircuits = (count: number) => Math.ceil(count / TOOLS.length);

const useAll = async (all: readonly Session[], names = TOOLS): Promise<Held> => {
  for (const session of all) for (const name of names) await byHand(session, tool, name)(1);
  return held(all);
};

const OPENING_FAILURES = 3;

const openAll = async (all: readonly Session[]): Promise<Held> => {
  for (const session of all) {
    for (const name of TOOLS) {
      for (let left = OPENING_FAILURES; left > 0; left -= 1) await caught(() => byHand(session, brokenTool, name)(1))();
    }
  }
  return held(all);
};

const theirs = (by: Contender, id: string, title: string, make: Kind['make']): Kind => ({ id, title, by, make });
const ours = (id: string, title: string, make: Kind['make'], prepare?: Kind['prepare']): Kind => ({
  ...{ id, title: `Breakerbox, ${title}`, by: 'breakerbox', make },
  ...(prepare && { prepare }),
});

const KINDS: readonly Kind[] = [
  theirs('cockatiel', 'cockatiel', 'cockatiel, a circuit with a ConsecutiveBreaker', cockatiels),
  theirs('opossum', 'opossum', 'opossum, a circuit', (count) =>
    opossums(count, (name) => opossumCircuit(tool, { name })),
  ),
  theirs('opossum', 'opossum-default', 'opossum, a circuit with its defaults', (count) =>
    opossums(count, (name) => opossumByDefault(tool, { name })),
  ),
  theirs(
    'opossum-prometheus',
    'opossum-prometheus',
    'opossum + opossum-prometheus, a circuit and its series',
    measuredOpossums,
  ),
  ours(
    'circuit',
    'a circuit in use',
    (_count, all) => useAll(all),
    (count) => sessions(sessionsForCircuits(count)),
  ),
  ours('circuit-and-share', 'the same with its twentieth of a session', (count) =>
    useAll(sessions(sessionsForCircuits(count))),
  ),
  ours(
    'circuit-open',
    'a circuit that is open, with its history',
    (_count, all) => openAll(all),
    (count) => sessions(sessionsForCircuits(count), tolerant),
  ),
  ours('session', 'a session without a call', async (count) => held(sessions(count))),
  ours('session-one', 'a session with one circuit in use', (count) => useAll(sessions(count), TOOLS.slice(0, 1))),
  ours('session-used', 'a session with 20 circuits in use', (count) => useAll(sessions(count))),
];

/** Bytes that one thing of a kind holds. */
const weigh = async ({ prepare, make }: Kind, count: number): Promise<number> => {
  const prepared = prepare?.(count) ?? [];
  const before = await liveHeap();
  const { things, release } = await make(count, prepared);
  const after = await liveHeap();
  release();
  if (things.length === 0) throw new Error('No things were made, so there is nothing to measure. Make at least one.');
  return (after - before) / count;
};

/** Made first, so that code and caches are not measured with the things. */
const WARM_UP_THINGS = 200;

/** The memory that a thing holds while it lives. */
export const measure: Measure = async ({ things }) => {
  const samples: Record<string, readonly number[]> = {};
  for (const kind of KINDS) await weigh(kind, WARM_UP_THINGS);
  for (const kind of KINDS) samples[kind.id] = [await weigh(kind, things)];
  return { contestants: KINDS.map(({ id, title, by }) => ({ id, title, by })), samples };
};
