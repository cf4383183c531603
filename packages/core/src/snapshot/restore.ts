import { diag } from '@opentelemetry/api';
import type { BoxContext } from '../box-context.ts';
import type { Breakerbox } from '../breakerbox.ts';
import type { SharedBy } from '../budget/systemic.ts';
import { reject } from '../checks/checks.ts';
import { someNames } from '../checks/names.ts';
import type { Moment } from '../clock.ts';
import { type RestoreOptions, settings } from '../config/config.ts';
import { sessionToolIssues, validateRestoreOptions } from '../config/validation.ts';
import { noteSuccess } from '../mistakes.ts';
import { safely } from '../safely.ts';
import type { Session } from '../session-api.ts';
import { type BoxInternals, boxInternals } from '../session-internals.ts';
import type { SessionMemory } from '../session-memory.ts';
import { circuit, type KeptLedger, ledger } from './circuit-format.ts';
import { readRun } from './run-format.ts';
import { type CircuitSnapshot, type LedgerSnapshot, MOST_SUCCEEDED, type SessionSnapshot } from './session-snapshot.ts';
import { checkSnapshot } from './snapshot-checks.ts';

/**
 * Continues a session from a `snapshot(session)`, in this process or another: its circuits, steps, modes and budget. The time since
 * the snapshot counts as passed, by the wall clock or by `elapsedMs`. Probes that were under way may be sent again (C11). The
 * circuit of a tool that is not declared here is kept until the tool is declared.
 *
 * @throws BreakerboxUsageError if `box` is not a box.
 * @throws BreakerboxConfigError if it is not a snapshot, or is a snapshot of another agent. The error lists the first ten faults,
 * and says how many more there are.
 *
 * @example
 * ```ts
 * const session = restore(box, JSON.parse(await store.get(conversationId)));
 * ```
 */
export const restore = (box: Breakerbox, snapshot: unknown, options: RestoreOptions = {}): Session => {
  const { context, config, scope, continueSession } = boxInternals(box, 'restore(box, snapshot)');
  validateRestoreOptions(options);
  const { id, succeeded = [], run, tools, ...kept } = checkSnapshot(snapshot, context.agent);
  if (options.tools !== undefined)
    reject(sessionToolIssues(options.tools, { ...config, scope }, (name) => context.tool(name)?.own));
  const known = context.evidence.succeeded;
  // Tools may be declared later. Many snapshots must not fill the box with other names.
  for (const tool of succeeded)
    if (known.size < MOST_SUCCEEDED || context.tool(tool) !== undefined) noteSuccess(context.evidence, tool);
  informOfCircuits(kept.circuits, context, scope);
  const { now, unixNow } = context.clock;
  const elapsedMs = options.elapsedMs ?? Math.max(0, unixNow() - kept.unixMs);
  // What the clock would have shown when the snapshot was taken.
  const ms = now() - elapsedMs;
  const memory = recall(kept, ms, context.systemic, scope === 'session');
  return continueSession(id, memory, readRun(id, run, ms), { ...(tools && { tools }), ...settings(options) });
};

const informOfCircuits = (
  circuits: readonly CircuitSnapshot[],
  box: BoxContext,
  scope: BoxInternals['scope'],
): void => {
  if (scope !== 'session' && circuits.length > 0) {
    inform(
      `sessions of a box with scope '${scope}' have no circuits of their own, so those of the snapshot are left out.`,
    );
  }
  const names = circuits.map(({ tool }) => tool);
  const waiting = names.filter((name) => box.tool(name) === undefined && box.group(name) === undefined);
  if (waiting.length > 0)
    inform(`the circuits of undeclared tools are restored once these tools are declared: ${someNames(waiting)}.`);
};

/** A message for people. The logger is application code: if it throws, the caller must not notice (E5). */
const inform = (message: string): void => safely('the logger', () => diag.info(`Breakerbox: ${message}`));

/**
 * The state in a checked snapshot, on the clock of this process. Time since the snapshot counts as passed; steps do not (C11).
 * `ownsCircuits`: the circuits belong to the session, not to its box.
 */
const recall = (
  kept: Omit<SessionSnapshot, 'id' | 'succeeded' | 'run' | 'tools'>,
  ms: number,
  shared: SharedBy | undefined,
  ownsCircuits: boolean,
): SessionMemory => {
  // The restored session has settled no call yet, so that its failures are of earlier calls.
  const now: Moment = { ms, step: 0, stepMs: ms, calls: 0 };
  const recalled = (one: LedgerSnapshot): KeptLedger => {
    const own = { ...one, openings: [], sinceSuccess: [], failures: [], event: null, paid: false };
    return ledger.read(ownsCircuits ? one : own, now, shared);
  };
  const real = recalled(kept.ledger);
  const dryRun = kept.dryRun === null ? undefined : recalled(kept.dryRun);
  return {
    ledgerPair: { real: real.ledger, dryRun: dryRun?.ledger },
    correlation: real.correlation,
    dryRunCorrelation: dryRun?.correlation,
    step: kept.step,
    stepMs: ms - kept.stepAgeMs,
    circuits: new Map(ownsCircuits ? kept.circuits.map((one) => circuit.read(one, now)) : []),
  };
};
