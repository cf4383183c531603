import { ownMemory } from '../circuit-store.ts';
import type { SessionOptions } from '../config/config.ts';
import type { Session } from '../session-api.ts';
import { sessionInternals } from '../session-internals.ts';
import { circuit, ledger, unixMs } from './circuit-format.ts';
import { writeRun } from './run-format.ts';
import { MOST_SUCCEEDED, type SessionSnapshot } from './session-snapshot.ts';

/**
 * The session as plain JSON, for `restore` in another process. Changes nothing (C11). Contains names, categories, counts and
 * times, but no arguments, results or secrets.
 *
 * @throws BreakerboxUsageError if `session` is not a session.
 *
 * @example
 * ```ts
 * await store.put(conversationId, JSON.stringify(snapshot(session)));
 * ```
 */
export const snapshot = (session: Session): SessionSnapshot => {
  const inside = sessionInternals(session, 'snapshot(session)');
  const { clock, evidence, ownTools } = inside.box;
  const { store, ledgers, at } = inside.lookAhead();
  const { circuits, correlation, dryRunCorrelation = correlation } = ownMemory(store);
  const { real, dryRun } = ledgers.ledgerPair;
  inside.wasKept();
  return {
    version: 1,
    agent: session.agent,
    id: session.id,
    unixMs: unixMs.write(clock.unixNow(), at),
    step: at.step,
    stepAgeMs: Math.max(0, at.ms - at.stepMs),
    ledger: ledger.write({ ledger: real, correlation }, at),
    dryRun: dryRun === undefined ? null : ledger.write({ ledger: dryRun, correlation: dryRunCorrelation }, at),
    circuits: [...circuits].map((one) => circuit.write(one, at)),
    ...(evidence.succeeded.size > 0 && { succeeded: [...evidence.succeeded].slice(-MOST_SUCCEEDED) }),
    ...(inside.run && { run: writeRun(inside.run, at.ms) }),
    ...(ownTools && { tools: withoutFunctions(ownTools) }),
  };
};

/** C18: plain JSON has no functions. */
const withoutFunctions = (tools: NonNullable<SessionOptions['tools']>): NonNullable<SessionSnapshot['tools']> =>
  Object.fromEntries(
    Object.entries(tools).map(([tool, { trip: _, ...own }]) => [
      tool,
      Object.fromEntries(Object.entries(own).filter(([, value]) => typeof value !== 'function' && value !== undefined)),
    ]),
  );
