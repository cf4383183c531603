import type { CircuitMode } from './circuit/mode.ts';
import type { Permit } from './permit.ts';
import type { SessionSnapshot } from './snapshot.ts';
import type { CircuitView, SessionView } from './view.ts';

/** What a decision may be asked with. */
export interface AcquireOptions {
  /** The framework's id of the tool call; goes on the span. */
  readonly callId?: string | undefined;
}

/** One run of an agent: its circuits, its steps, its failure budget. Made by `box.session()`. */
export interface Session {
  readonly id: string;
  readonly agent: string;
  /**
   * Decides whether a tool may be called now. Synchronous, does no I/O and never throws. A tool that was neither
   * configured nor declared has no circuit: its calls pass while the session isn't paused, and its failures cost budget.
   *
   * @example
   * ```ts
   * const permit = session.acquire('web_search');
   * if (permit.decision === 'skip' || permit.decision === 'pause') return permit.message;
   * try {
   *   const hits = await context.with(permit.context, () => search(query));
   *   permit.settle({ outcome: 'success' });
   *   return hits;
   * } catch (error) {
   *   permit.settle({ error });
   *   throw error;
   * }
   * ```
   */
  acquire(tool: string, options?: AcquireOptions): Permit;
  /** Gives a tool a circuit and series, with the box's defaults unless it was configured. Nothing happens the second time. */
  declare(tool: string): void;
  /** One turn of the agent loop is over: probing counts these (P1). */
  step(): void;
  /** Starts a new cycle of the failure budget (B1). Circuits stay as they are. */
  resume(): void;
  /** Somebody has seen that a systemic failure is over: probing starts again (S5). Nothing happens when there is none. */
  confirmRecovered(): void;
  /**
   * Takes a tool's circuit into one's own hands, or gives it back with `automatic` (C1). The circuit starts anew, closed; what
   * calls under way come to changes nothing any more. Nothing happens when that is its mode already.
   *
   * @throws BreakerboxUsageError for a mode that there isn't, and for a tool that was never declared.
   *
   * @example
   * ```ts
   * session.control('web_search', 'forced_open'); // skipped until
   * session.control('web_search', 'automatic');
   * ```
   */
  control(tool: string, mode: CircuitMode): void;
  /** A circuit to look at; undefined for a tool that was not used yet. Changes nothing (C11). */
  peek(tool: string): CircuitView | undefined;
  /** The whole session to look at. Changes nothing (C11). */
  view(): SessionView;
  /**
   * The session as plain JSON, for `box.restore` in another process. Changes nothing (C11). Holds names, categories, counts and
   * times; no arguments, results or secrets.
   */
  snapshot(): SessionSnapshot;
  /** The run is over: its circuits leave the metrics. Later calls pass untracked, later settles only count in metrics. */
  end(): void;
}
