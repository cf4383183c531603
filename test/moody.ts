import { setTimeout as wait } from 'node:timers/promises';
import { type Breakerbox, createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';

/** An agent whose tools each fail in a different way. */
export interface Moody {
  readonly box: Breakerbox;
  /** All tools work from now on. This starts a new session, because one of the circuits would never be probed. */
  heal(): void;
  stop(): Promise<void>;
}

/** Whether a tool fails in a turn. */
const FAILS: Readonly<Record<string, (turn: number) => boolean>> = {
  // Two calls in five, and never three in a row: its circuit stays closed.
  shaky: (turn) => turn % 5 === 0 || turn % 5 === 2,
  // Sometimes three in a row: its circuit opens, and closes with the first probe.
  jumpy: (turn) => turn % 24 < 3,
  // Always, and it is never probed.
  forgotten: () => true,
};

const TURN_MS = 50;
/** Longer than any test. */
const NEVER_MS = 3_600_000;

/** Starts it. */
export const startMoody = (agent: string): Moody => {
  const tools = { shaky: {}, jumpy: {}, forgotten: { cooldownMs: NEVER_MS } };
  // Other tests cover what the tools have in common, and what they cost.
  const box = createBreakerbox({ agent, tools, systemic: false, budget: { failures: 10_000 } });
  const stopped = new AbortController();
  let well = false;

  const sessionOf = async (id: string, goesOn: () => boolean): Promise<void> => {
    const session = box.session({ id });
    const calls = Object.entries(FAILS).map(([tool, fails]) =>
      guard(session, tool, async ({ turn }: { readonly turn: number }) => {
        if (!well && fails(turn)) throw Object.assign(new Error(`${tool} is overloaded`), { status: 503 });
      }),
    );
    for (let turn = 0; goesOn() && !stopped.signal.aborted; turn += 1) {
      for (const call of calls) await call({ turn }).catch(() => undefined);
      session.step();
      await wait(TURN_MS);
    }
    session.end();
  };
  const running = sessionOf('moody', () => !well).then(() => sessionOf('well', () => true));
  return {
    box,
    heal: () => {
      well = true;
    },
    stop: async () => {
      stopped.abort();
      await running;
    },
  };
};
