import {
  type Breakerbox,
  type BreakerboxConfig,
  createBreakerbox,
  type ErrorCategory,
  type Session,
} from '@breakerbox/core';

/** A session, and what it decided and saw. */
export interface Watched {
  readonly box: Breakerbox;
  readonly session: Session;
  /** Such as `search: call`. */
  readonly decisions: readonly string[];
  /** Such as `search: success` or `search: failure, timeout`. */
  readonly outcomes: readonly string[];
  /** Resolves once so many calls have settled. */
  settled(calls: number): Promise<void>;
}

/** A session of a box of its own, on a clock that does not move: no test waits for a cooldown. */
export const watchedSession = (config: Partial<BreakerboxConfig> = {}): Watched => {
  const clock = { now: () => 0, unixNow: () => 0 };
  const box = createBreakerbox({ agent: 'test-agent', clock, ...config });
  const decisions: string[] = [];
  const outcomes: string[] = [];
  const waiting = new Set<() => void>();
  box.on('decision', ({ tool, decision }) => decisions.push(`${tool}: ${decision}`));
  box.on('outcome', ({ tool, outcome, category }) => {
    outcomes.push(category === undefined ? `${tool}: ${outcome}` : `${tool}: ${outcome}, ${category}`);
    for (const wake of waiting) wake();
  });
  const settled = (calls: number): Promise<void> =>
    new Promise((resolve) => {
      const wake = () => {
        if (outcomes.length < calls) return;
        waiting.delete(wake);
        resolve();
      };
      waiting.add(wake);
      wake();
    });
  return { box, session: box.session({ id: 'run-1' }), decisions, outcomes, settled };
};

/** Opens the circuit of a tool whose failure threshold is 1, without a call of the tool: after a failing call an alternative would answer (R5). */
export const open = (
  { session }: Pick<Watched, 'session'>,
  tool = 'search',
  category: ErrorCategory = 'network',
): void => session.acquire(tool).settle({ outcome: 'failure', category });

/** The group of a tool (C13). A circuit shows it once the tool is used. */
export const groupOf = (session: Session, tool: string): string | undefined => {
  session.acquire(tool).settle({ outcome: 'ignored', category: 'cancelled' });
  return session.peek(tool)?.group;
};
