import type { ToolConfig } from '@breakerbox/core';
import { CountBreaker, type IBreaker, SamplingBreaker } from 'cockatiel';
import type { Contender, Measure } from '../contest.ts';
import { byHand, oneToolBox, resuming } from '../ours.ts';
import { cockatielCircuit, opossumByDefault, opossumCircuit } from '../peers.ts';
import { type Racer, race } from '../race.ts';
import { caught, failsAtZero, HOUR_MS } from '../tool.ts';

const CALLS_IN_WINDOW = 100_000;
/** So few calls that an empty window stays almost empty during a batch. */
const FAILURES_IN_BATCH = 1_000;

interface Circuit {
  readonly call: (input: number) => Promise<number>;
  close(): void;
}

interface Kind {
  readonly id: string;
  readonly title: string;
  readonly by: Contender;
  /** A circuit that opens only if all calls fail. */
  make(): Circuit;
  /** Failures in a batch in which a failure takes milliseconds. */
  readonly atMost?: number;
}

const ours = (config: ToolConfig) => (): Circuit => {
  const session = oneToolBox({ failureThreshold: false, ...config }).session();
  return { call: resuming(session, byHand(session, failsAtZero)), close: () => session.end() };
};

const cockatiel = (breaker: () => IBreaker) => (): Circuit => {
  const policy = cockatielCircuit(breaker());
  return { call: (input) => policy.execute(() => failsAtZero(input)), close: () => {} };
};

/** Its buckets do not turn, so the calls stay in the window. */
const opossum = (make: typeof opossumCircuit) => (): Circuit => {
  const circuit = make(failsAtZero, { errorThresholdPercentage: 100, rollingCountTimeout: HOUR_MS });
  return { call: (input) => circuit.fire(input), close: () => circuit.shutdown() };
};

const KINDS: readonly Kind[] = [
  {
    id: 'count',
    title: `Breakerbox, failureRate over ${CALLS_IN_WINDOW.toLocaleString('en')} calls`,
    by: 'breakerbox',
    make: ours({ failureRate: { rate: 1, windowCalls: CALLS_IN_WINDOW, minimumCalls: 1 } }),
  },
  {
    id: 'time',
    title: 'Breakerbox, failureRate over an hour',
    by: 'breakerbox',
    make: ours({ failureRate: { rate: 1, windowMs: HOUR_MS, minimumCalls: 1 } }),
  },
  {
    id: 'cockatiel-count',
    title: 'cockatiel, CountBreaker',
    by: 'cockatiel',
    make: cockatiel(() => new CountBreaker({ threshold: 0.999, size: CALLS_IN_WINDOW })),
  },
  {
    id: 'cockatiel-time',
    title: 'cockatiel, SamplingBreaker',
    by: 'cockatiel',
    make: cockatiel(() => new SamplingBreaker({ threshold: 0.999, duration: HOUR_MS })),
  },
  { id: 'opossum', title: 'opossum', by: 'opossum', make: opossum(opossumCircuit) },
  {
    id: 'opossum-default',
    title: 'opossum with its percentiles, the default',
    by: 'opossum',
    make: opossum(opossumByDefault),
    atMost: 10,
  },
];

const filled = async (circuit: Circuit, calls: number): Promise<Circuit> => {
  for (let left = calls; left > 0; left -= 1) await circuit.call(1);
  return circuit;
};

/** Batches of failures after which a full window is filled again: by then half of its calls have failed. */
const BATCHES_IN_WINDOW = CALLS_IN_WINDOW / FAILURES_IN_BATCH / 2;

/**
 * An empty circuit for every batch, and a full one for many batches. Filling a window leaves garbage and code that was compiled for
 * successes, and the next batch would pay for both.
 */
const racers = ({ id, title, by, make, atMost = FAILURES_IN_BATCH }: Kind): readonly Racer[] =>
  [
    { state: 'empty', calls: 1, batches: 1 }, // At least one success: the circuit opens if all calls fail.
    { state: 'full', calls: CALLS_IN_WINDOW, batches: BATCHES_IN_WINDOW },
  ].map(({ state, calls, batches }) => {
    let circuit = make();
    let begun = 0;
    return {
      id: `${id}-${state}`,
      title: `${title}: ${state}`,
      by,
      atMost,
      before: async () => {
        begun += 1;
        if (begun > 1 && begun % batches > 0) return;
        circuit.close();
        circuit = await filled(make(), calls);
      },
      run: caught(() => circuit.call(0)),
    };
  });

/** A failure in a circuit with a window, when the window is empty and when it is full. */
export const measure: Measure = (pace) => race(KINDS.flatMap(racers), pace);
