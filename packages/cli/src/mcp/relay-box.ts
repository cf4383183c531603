import { type Breakerbox, type BreakerboxConfig, createBreakerbox, type Permit, type Session } from '@breakerbox/core';
import { endPause } from '@breakerbox/core/internal';

/** The box and the session of a relay. */
export interface RelayBox {
  readonly box: Breakerbox;
  readonly session: Session;
  /** Ends a pause of the budget when its time is over (M5). */
  beforeDecision(): void;
  /** The text of a rejection, or the advice after a failed call (R5). It says when such a pause ends. */
  textOf(permit: Permit): string;
  /** The box's clock, in milliseconds. */
  now(): number;
}

/**
 * What the engine tells the model about a pause by the budget. In a relay it is true of the rule `strict` only. The text is asked, because
 * the advice after a call (R5) belongs to a permit whose reason is that of the call.
 */
const BY_A_PERSON = /\bSay that a person must resume the run\./;

/** What the engine says of a run and of all tools. A relay knows one server alone, and the model has tools of others. */
const ofThisServer = (message: string): string =>
  message
    .replace('Tool calls are paused:', 'Calls of the tools of this MCP server are paused:')
    .replace('tool calls of this run have', 'of its calls have')
    .replace('failed of its calls', 'its failed calls')
    .replace(
      'Do not call any tools, including ones that still work.',
      'Do not call tools of this server, including ones that still work. Tools of other servers are not affected.',
    );

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
  return {
    box,
    session,
    beforeDecision: () => {
      if (isPaused) endPause(session);
    },
    textOf: ({ message: said }) => {
      const message = ofThisServer(said);
      const endMs = BY_A_PERSON.test(message) ? endPause(session) : undefined;
      if (endMs === undefined) return message;
      const minutes = Math.max(1, Math.ceil((endMs - now() - 1) / 60_000));
      const end = `in at most ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
      return message.replace(BY_A_PERSON, `The pause ends by itself ${end}. Say so in your answer.`);
    },
    now,
  };
};
