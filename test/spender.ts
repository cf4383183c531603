import { setTimeout as wait } from 'node:timers/promises';
import { type Breakerbox, createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';

/** An agent with one short session after another, each of which loses as many calls as it is told to. */
export interface Spender {
  readonly box: Breakerbox;
  /**
   * Failures of each session from now on: all of {@link BUDGET} pause it, and it stays until it is resumed. The first word
   * begins the sessions; before that it reports zeros.
   */
  spend(failures: number): void;
  /** Lets a paused session go on. */
  resume(): void;
  stop(): Promise<void>;
}

/** What a session may lose. */
export const BUDGET = 10;

const TOOLS = ['draft', 'translate', 'index', 'publish'];
/** Of so many calls one fails. It isn't a divisor of the tools: no tool fails twice in a row, and no circuit opens. */
const EACH = 5;
const CALLS = BUDGET * EACH;
const CALL_MS = 6;

/** Starts it, idle. */
export const startSpender = (agent: string): Spender => {
  const tools = Object.fromEntries(TOOLS.map((tool) => [tool, {}]));
  // B1: no failure leaves the window while a session lasts.
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
