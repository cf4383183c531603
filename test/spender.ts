import { setTimeout as wait } from 'node:timers/promises';
import { type Breakerbox, createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';

/** An agent that runs short sessions one after another. In each, as many calls fail as its orders say. */
export interface Spender {
  readonly box: Breakerbox;
  /**
   * Failures of each session from now on. As many as {@link BUDGET} pause it until it is resumed. The first message starts the
   * sessions. Before that it reports zeros.
   */
  spend(failures: number): void;
  /** Resumes a paused session. */
  resume(): void;
  stop(): Promise<void>;
}

/** The failure budget of a session. */
export const BUDGET = 10;

const TOOLS = ['draft', 'translate', 'index', 'publish'];
/** One call in so many fails. It is not a divisor of the number of tools, so no tool fails twice in a row, and no circuit opens. */
const EACH = 5;
const CALLS = BUDGET * EACH;
const CALL_MS = 6;

/** Starts it. It is idle at first. */
export const startSpender = (agent: string): Spender => {
  const tools = Object.fromEntries(TOOLS.map((tool) => [tool, {}]));
  // B1: no failure leaves the window during a session.
  const box = createBreakerbox({ agent, budget: { failures: BUDGET, windowSteps: CALLS }, tools });
  const stopped = new AbortController();
  let failures = 0;
  let current: ReturnType<Breakerbox['session']> | undefined;

  const sessionOf = async (id: number): Promise<void> => {
    const session = box.session({ id: `run-${id}` });
    current = session;
    const calls = TOOLS.map((tool) =>
      guard(session, tool, async ({ fails }: { readonly call: number; readonly fails: boolean }) => {
        await wait(CALL_MS);
        if (fails) throw Object.assign(new Error(`${tool} is overloaded`), { status: 503 });
      }),
    );
    for (let call = 0; call < CALLS && !stopped.signal.aborted; call += 1) {
      const fails = call % EACH === 0 && call < failures * EACH;
      await calls[call % calls.length]?.({ call, fails }).catch(() => undefined);
      session.step();
    }
    while (session.view().state !== 'active' && !stopped.signal.aborted) await wait(CALL_MS);
    session.end();
  };

  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    for (let id = 0; !stopped.signal.aborted; id += 1) await sessionOf(id);
  };
  return {
    box,
    spend: (count) => {
      failures = count;
      running ??= run();
    },
    resume: () => current?.resume(),
    stop: async () => {
      stopped.abort();
      await running;
    },
  };
};
