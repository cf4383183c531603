import { type Breakerbox, type BreakerboxConfig, createBreakerbox, type Permit, type Session } from '@breakerbox/core';

/** The box and the session of a relay. */
export interface RelayBox {
  readonly box: Breakerbox;
  readonly session: Session;
  /** Ends a pause of the budget when its time is over (M5). */
  beforeDecision(): void;
  /** Says in a rejection when such a pause ends. */
  addendum(permit: Permit): string;
}

/** B1: the window of the budget, unless the configuration sets it. */
const WINDOW_MS = 600_000;

/**
 * A relay has one session that lives for days and has no steps. So circuits probe by time and a correlated event ends by time, as in
 * scope `process` (S5). A budget that is spent refills after its window of time, because no code calls `resume()`. With the rule
 * `strict` only a person resumes.
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
    addendum: ({ reason }) => {
      const ms = leftMs();
      if (reason !== 'budget_exhausted' || !(ms > 0)) return '';
      const minutes = Math.ceil(ms / 60_000);
      return ` The pause ends by itself in at most ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
    },
  };
};
