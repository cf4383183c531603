import { createBreakerbox, type Session } from '@breakerbox/core';
import type { Contestant, Measure } from '../contest.ts';
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

const KINDS: readonly Kind[] = [
  { id: 'cockatiel', title: 'cockatiel, a circuit with a ConsecutiveBreaker', by: 'cockatiel', make: cockatiels },
  {
    id: 'opossum',
    title: 'opossum, a circuit',
    by: 'opossum',
    make: (count) => opossums(count, (name) => opossumCircuit(tool, { name })),
  },
  {
    id: 'opossum-default',
    title: 'opossum, a circuit with its defaults',
    by: 'opossum',
    make: (count) => opossums(count, (name) => opossumByDefault(tool, { name })),
  },
  {
    id: 'opossum-prometheus',
    title: 'opossum + opossum-prometheus, a circuit and its series',
    by: 'opossum-prometheus',
    make: measuredOpossums,
  },
  {
    id: 'circuit',
    title: 'Breakerbox, a circuit in use',
    by: 'breakerbox',
    prepare: (count) => sessions(sessionsForCircuits(count)),
    make: (_count, all) => useAll(all),
  },
  {
    id: 'circuit-and-share',
    title: 'Breakerbox, the same with its twentieth of a session',
    by: 'breakerbox',
    make: (count) => useAll(sessions(sessionsForCircuits(count))),
  },
  {
    id: 'circuit-open',
    title: 'Breakerbox, a circuit that is open, with its history',
    by: 'breakerbox',
    prepare: (count) => sessions(sessionsForCircuits(count), tolerant),
    make: (_count, all) => openAll(all),
  },
  {
    id: 'session',
    title: 'Breakerbox, a session without a call',
    by: 'breakerbox',
    make: async (count) => held(sessions(count)),
  },
  {
    id: 'session-one',
    title: 'Breakerbox, a session with one circuit in use',
    by: 'breakerbox',
    make: (count) => useAll(sessions(count), TOOLS.slice(0, 1)),
  },
  {
    id: 'session-used',
    title: 'Breakerbox, a session with 20 circuits in use',
    by: 'breakerbox',
    make: (count) => useAll(sessions(count)),
  },
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
