import { once } from 'node:events';
import { guard } from '@breakerbox/instrumentation';
import { ConsecutiveBreaker, circuitBreaker, handleAll } from 'cockatiel';
import type { Measure } from '../contest.ts';
import { oneToolBox } from '../ours.ts';
import { opossumCircuit } from '../peers.ts';
import { type Racer, race } from '../race.ts';
import { caught, OUTAGE, TOOL } from '../tool.ts';

const CALLERS = 1_000;

/** A tool that is down until its circuit has opened. Then it answers when it is told to. */
const makeTool = () => {
  let down = true;
  let calls = 0;
  let answer: (value: number) => void;
  let answered: Promise<number>;
  return {
    call: async (_input: number): Promise<number> => {
      if (down) throw OUTAGE;
      calls += 1;
      return answered;
    },
    breakDown: () => {
      down = true;
    },
    recover: () => {
      down = false;
      calls = 0;
      answered = new Promise((resolve) => {
        answer = resolve;
      });
    },
    answer: () => answer(1),
    calls: () => calls,
  };
};

interface Crowd {
  readonly racer: Racer;
  /** Calls that reached the tool in the last round. */
  calls(): number;
}

/** All callers call at once, the tool answers, and each caller gets its answer or its rejection. */
const crowd = (
  about: Pick<Racer, 'id' | 'title' | 'by'>,
  call: (run: ReturnType<typeof makeTool>) => {
    readonly once: (caller: number) => Promise<unknown>;
    due(): Promise<void>;
  },
): Crowd => {
  const tool = makeTool();
  const { once: callOnce, due } = call(tool);
  const before = async () => {
    tool.breakDown();
    await due();
    tool.recover();
  };
  const run = async () => {
    const all: Promise<unknown>[] = [];
    for (let caller = 0; caller < CALLERS; caller += 1) all.push(caught(() => callOnce(caller))());
    tool.answer();
    await Promise.all(all);
  };
  return { racer: { ...about, before, run, jobs: CALLERS, atMost: 1 }, calls: tool.calls };
};

const ours = (): Crowd =>
  crowd({ id: 'guard', title: 'Breakerbox, guard()', by: 'breakerbox' }, (tool) => {
    const session = oneToolBox({ failureThreshold: 1, probeAfterSteps: 1 }).session();
    const guarded = guard(session, TOOL, tool.call);
    return {
      once: guarded,
      due: async () => {
        await caught(() => guarded(CALLERS))();
        session.step();
      },
    };
  });

const cockatiel = (): Crowd =>
  crowd({ id: 'cockatiel', title: 'cockatiel', by: 'cockatiel' }, (tool) => {
    const policy = circuitBreaker(handleAll, { halfOpenAfter: 0, breaker: new ConsecutiveBreaker(1) });
    const callOnce = (caller: number) => policy.execute(() => tool.call(caller));
    return { once: callOnce, due: async () => void (await caught(() => callOnce(CALLERS))()) };
  });

const opossum = (): Crowd =>
  crowd({ id: 'opossum', title: 'opossum', by: 'opossum' }, (tool) => {
    const circuit = opossumCircuit(tool.call, { resetTimeout: 1, errorThresholdPercentage: 0 });
    return {
      once: (caller) => circuit.fire(caller),
      due: async () => {
        const due = once(circuit, 'halfOpen');
        const idle = setTimeout(() => {}, 1_000); // Opossum's own timer keeps no process alive.
        await caught(() => circuit.fire(CALLERS))();
        await due;
        clearTimeout(idle);
      },
    };
  });

/** A circuit that is due for a probe while many callers come at once: one probes, and the rest are rejected. */
export const measure: Measure = async (pace) => {
  const crowds = [ours(), cockatiel(), opossum()];
  const findings = await race(
    crowds.map(({ racer }) => racer),
    { ...pace, rounds: pace.rounds * 2 + 1 },
  );
  const facts = crowds.map(({ racer, calls }) => [racer.id, { toolCalls: calls() }] as const);
  return { ...findings, facts: Object.fromEntries(facts) };
};
