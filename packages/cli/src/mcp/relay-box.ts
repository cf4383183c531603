import { type Breakerbox, type BreakerboxConfig, createBreakerbox, type Permit, type Session } from '@breakerbox/core';
import { endPause, relayedMessage } from '@breakerbox/core/internal';

/** The box and the session of a relay. */
export interface RelayBox {
  readonly box: Breakerbox;
  readonly session: Session;
  /** Ends a pause of the budget when its time is over (M5). */
  beforeDecision(): void;
  /**
   * The text of a rejection, or the advice after a failed call (R5). It says when such a pause ends.
   *
   * @param serverInMs Milliseconds until the server works again, if it is being started again.
   */
  textOf(permit: Permit, serverInMs?: number): string;
  /** The box's clock, in milliseconds. */
  now(): number;
}

/** The relay knows one server alone, and the model has tools of others. */
const OF_SERVER = {
  paused: 'Calls of the tools of this MCP server are paused',
  calls: 'of its calls',
  failedCalls: 'its failed calls',
  stop: 'Do not call tools of this server, including ones that still work. Tools of other servers are not affected.',
};

const againIn = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : `The server is started again. It may work again in about ${Math.ceil(ms / 1_000)} s.`;

/**
 * A relay has one session that lives for days and has no steps. So circuits probe by time and a correlated event ends by time, as in
 * scope `process` (S5). No code calls `resume()`, so a pause of the budget ends by itself once the oldest failure leaves the window. The
 * others still count (B1). With the rule `strict` no failure leaves, and only a person resumes.
 */
export const createRelayBox = (config: BreakerboxConfig): RelayBox => {
  const box = createBreakerbox({ ...config, scope: 'process' });
  const session = box.session({ id: crypto.randomUUID() });
  const now = (): number => config.clock?.now() ?? performance.now();
  let isPaused = false;
  box.on('budget.exhausted', () => {
    isPaused = true;
  });
  box.on('budget.resumed', () => {
    isPaused = false;
  });
  const pauseEnd = (): string | undefined => {
    const endMs = endPause(session);
    if (endMs === undefined) return undefined;
    const minutes = Math.max(1, Math.ceil((endMs - now() - 1) / 60_000));
    const end = `in at most ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
    return `The pause ends by itself ${end}. Say so in your answer.`;
  };
  return {
    box,
    session,
    beforeDecision: () => {
      if (isPaused) endPause(session);
    },
    textOf: (permit, serverInMs) => relayedMessage(permit, { ...OF_SERVER, again: againIn(serverInMs), pauseEnd }),
    now,
  };
};
