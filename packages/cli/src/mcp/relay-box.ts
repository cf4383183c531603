import { type Breakerbox, type BreakerboxConfig, createBreakerbox, type Permit, type Session } from '@breakerbox/core';

/** The box and the session of a relay. */
export interface RelayBox {
  readonly box: Breakerbox;
  readonly session: Session;
  /** Ends a pause of the budget when its time is over (M5). */
  beforeDecision(): void;
  /** The text of a rejection. It says when such a pause ends. */
  textOf(permit: Permit): string;
  /** The box's clock, in milliseconds. */
  now(): number;
}

/** B1: the window of the budget, unless the configuration sets it. */
const WINDOW_MS = 600_000;

/** What the engine tells the model about a pause. In a relay it is true of the rule `strict` only. */
const BY_A_PERSON = /\bSay that a person must resume the run\.$/;

/**
 * A relay has one session that lives for days and has no steps. So circuits probe by time and a correlated event ends by time, as in
 * scope `process` (S5). No code calls `resume()`, so a pause of the budget ends by itself once its window of time has passed since the
 * budget ran out. By then each failure has left the window, so the budget is full again (B1). With the rule `strict` no failure leaves,
 * and only a person resumes.
 */
export const createRelayBox = (config: BreakerboxConfig): RelayBox => {
  const box = createBreakerbox({ ...config, scope: 'process' });
  const session = box.session({ id: crypto.randomUUID() });
  const now = (): number => config.clock?.now() ?? performance.now();
  const { budget } = config;
  const isStrict = budget === 'strict' || budget?.rule === 'strict';
  const windowMs = (typeof budget === 'object' ? budget.windowMs : undefined) ?? WINDOW_MS;
  let pausedAtMs: number | undefined;
  box.on('budget.exhausted', () => {
    pausedAtMs = now();
  });
  box.on('budget.resumed', () => {
    pausedAtMs = undefined;
  });
  const leftMs = (): number => (pausedAtMs === undefined || isStrict ? Number.NaN : pausedAtMs + windowMs - now());
  return {
    box,
    session,
    beforeDecision: () => {
      if (leftMs() <= 0) session.resume();
    },
    textOf: ({ reason, message }) => {
      const ms = leftMs();
      if (reason !== 'budget_exhausted' || !(ms > 0)) return message;
      const minutes = Math.ceil(ms / 60_000);
      const end = `in at most ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
      return message.replace(BY_A_PERSON, `The pause ends by itself ${end}. Say so in your answer.`);
    },
    now,
  };
};
