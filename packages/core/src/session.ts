import type { Context } from '@opentelemetry/api';
import type { ScopePlan, Task } from './capability/scope.ts';
import type { CircuitMode } from './circuit/mode.ts';
import type { Explanation } from './explain.ts';
import type { Permit } from './permit.ts';
import type { SessionReport } from './report/report.ts';
import type { SessionSnapshot } from './snapshot.ts';
import type { CircuitView, SessionView } from './view.ts';

/** What a decision may be asked with. */
export interface AcquireOptions {
  /** The framework's id of the tool call; goes on the span. */
  readonly callId?: string | undefined;
  /**
   * The call's arguments. Only a digest of them is kept, that means nothing outside of this process: it tells calls that
   * repeat themselves (O5), and finds the last good result of the same call (F2).
   */
  readonly input?: unknown;
  /** The one host, account or file that the call is about (C14), as the adapter has it. The tool's own `key` comes first. */
  readonly key?: string | undefined;
  /**
   * What kind of tool it is, for the span (`gen_ai.tool.type`): a function that your program runs, an extension such as a tool of an MCP
   * server, or a data store that is searched. Default: the span does not say.
   */
  readonly type?: 'function' | 'extension' | 'datastore' | undefined;
}

/** What a tool is declared with. */
export interface DeclareOptions {
  /** The group that it belongs to, such as its MCP server (C13). Applies where the tool's settings name none. */
  readonly group?: string | undefined;
}

/** What a report is asked with. */
export interface ReportOptions {
  /** Names of planned tasks that are done. */
  readonly done?: readonly string[];
}

/** One run of an agent: its circuits, its steps, its failure budget. Made by `box.session()`. */
export interface Session {
  readonly id: string;
  readonly agent: string;
  /**
   * OpenTelemetry's context to run the agent in, so that the spans of models and HTTP calls are beneath the session's span too. Without
   * `span: true`, and where a span of a framework is active, this is the active context. Read it where the run begins.
   *
   * @example
   * ```ts
   * const session = box.session({ id: conversationId, span: true });
   * const answer = await context.with(session.context, () => runAgent(question));
   * session.end();
   * ```
   */
  readonly context: Context;
  /**
   * Decides whether a tool may be called now. Synchronous, does no I/O and never throws. A tool that was neither
   * configured nor declared has no circuit: its calls pass while the session isn't paused, and its failures cost budget.
   *
   * @example
   * ```ts
   * const permit = session.acquire('web_search');
   * if (permit.decision === 'skip' || permit.decision === 'pause') return permit.message;
   * try {
   *   const hits = await context.with(permit.context, () => search(query)); // reads the whole answer
   *   permit.settle({ outcome: 'success' });
   *   return hits;
   * } catch (error) {
   *   permit.settle({ error });
   *   throw error;
   * }
   * ```
   */
  acquire(tool: string, options?: AcquireOptions): Permit;
  /**
   * Gives a tool a circuit and series, with the box's defaults unless it was configured. Nothing happens the second time; nor for
   * a new name where 2,000 are declared (10 × `maxTools`, where that is more): adapters call this for whatever a server lists or a
   * model asks for. Such a tool is treated as one that was never declared, and `diag` warns once. `createBreakerbox({ tools })` and
   * `box.declare()` have no bound.
   */
  declare(tool: string, options?: DeclareOptions): void;
  /** One turn of the agent loop is over: probing counts these (P1). */
  step(): void;
  /** Makes the failure budget full again (B1): charges are cleared, provisional ones too. Circuits stay as they are. */
  resume(): void;
  /** A new task begins: results that are older than this are stale (F1). The first one begins with the session. */
  beginTask(): void;
  /** A person has seen that a systemic failure is over: probing starts again (S5). Nothing happens when there is none. */
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
  /**
   * What is out now, why, until when and what to use instead, as one text for the system prompt; empty when nothing is (R3).
   *
   * @example
   * ```ts
   * const system = [instructions, session.note()].filter(Boolean).join('\n\n');
   * ```
   */
  note(): string;
  /** The declared tools that would be skipped now; never one that is due for a probe (R3). While the session is paused: all. */
  unavailable(): readonly string[];
  /**
   * Splits tasks into those that can be done now, if need be by alternatives, and those that have to wait, each with what
   * would unblock it (W1). What has to wait, and what is done by a lesser tool, is counted and told (W2).
   *
   * @throws BreakerboxUsageError for what is no list of tasks.
   *
   * @example
   * ```ts
   * const plan = session.planScope([{ name: 'prices', tools: ['web_search'] }, { name: 'refund', tools: ['orders'] }]);
   * for (const { task } of plan.achievable) await run(task);
   * ```
   */
  planScope(tasks: readonly Task[]): ScopePlan;
  /**
   * How the session stands, as plain data: tools, budget, systemic failure, scope, what was left out and what to do next
   * (Q1). `formatReport` makes text of it. Changes nothing (C11). No arguments, results or secrets (Q2).
   *
   * @throws BreakerboxUsageError when `done` is no list of names.
   */
  report(options?: ReportOptions): SessionReport;
  /**
   * Why a call of the tool would be called, probed, skipped or paused now: which circuit rejects it, until when, and what the tool was
   * charged. `input`: the arguments, where the loop guard or the circuit of a key may be the reason (O5, C14). Changes nothing (C11).
   *
   * @example
   * ```ts
   * const { decision, rejectedBy, nextProbe } = session.explain('create_issue'); // rejectedBy: 'group:github'
   * ```
   */
  explain(tool: string, input?: unknown): Explanation;
  /**
   * A circuit to look at, of a tool or of a group (`group:NAME`); undefined for one that was not used yet. With the arguments of a call,
   * the circuit of their key is under `key` (C14); where an adapter names the keys, that of the host in `url`. Changes nothing (C11).
   */
  peek(tool: string, input?: unknown): CircuitView | undefined;
  /** The whole session to look at. Changes nothing (C11). */
  view(): SessionView;
  /**
   * The session as plain JSON, for `box.restore` in another process. Changes nothing (C11). Holds names, categories, counts and
   * times; no arguments, results or secrets.
   */
  snapshot(): SessionSnapshot;
  /**
   * The run is over: its circuits leave the metrics. A session that is used again decides and protects as before, and says so once
   * through `diag`: a stream may outlive the code that made it (E7).
   */
  end(): void;
}
