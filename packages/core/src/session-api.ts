import type { Attributes, Context } from '@opentelemetry/api';
import type { CircuitMode } from './circuit/circuit.ts';
import type { ExtendedLimit, Usage } from './limits/limit-view.ts';
import type { LimitKind, LimitsOptions } from './limits/limits.ts';
import type { Permit } from './permit.ts';
import type { CircuitView, Explanation, SessionView } from './view.ts';

/** Options of `session.acquire`. */
export interface AcquireOptions {
  /** The framework's id of the tool call, for the span. */
  readonly callId?: string | undefined;
  /**
   * The call's arguments. The session keeps only a digest of them, which has no meaning outside of this process. The digest finds
   * repeated calls (O5) and the last good result of the same call.
   */
  readonly input?: unknown;
  /** The one host, account or file that the call is about (C14), as the adapter names it. The tool's own `key` overrides it. */
  readonly key?: string | undefined;
  /**
   * The kind of tool, for the span (`gen_ai.tool.type`): a function that your program runs, an extension such as a tool of an MCP
   * server, or a data store that is searched. Default: not on the span.
   */
  readonly type?: 'function' | 'extension' | 'datastore' | undefined;
  /** More attributes for the span of the decision, such as `mcp.method.name`. Default: none. */
  readonly attributes?: Attributes | undefined;
}

/** Options of `session.declare`. */
export interface DeclareOptions {
  /** The group that the tool belongs to, such as its MCP server (C13). Used only if the tool's settings name no group. */
  readonly group?: string | undefined;
}

/** Options of `session.child`. */
export interface ChildOptions {
  /** The id of the sub-agent's run, at most 256 characters. With the id of a child that lives, you get that child. Default: a random id. */
  readonly id?: string;
  /** The name of the sub-agent, for reports. At most 256 characters. Default: none. */
  readonly name?: string;
  /**
   * What the child may use of the limits of this session (D1). `all`: it shares them. A number above 0 and up to 1 reserves that part of each
   * limit of calls, steps, tokens and cost. Limits, such as `{ calls: 50, durationMs: 60000 }`, reserve that much. No child can reserve more
   * than is left. A child that `id` finds keeps what it has. Default `all`.
   */
  readonly portion?: 'all' | number | LimitsOptions;
  /** The permit of the tool call that the sub-agent runs in. What that call reports as used is then not counted a second time (D3). */
  readonly call?: Permit;
}

/** One run of an agent, with its circuits, its steps and its failure budget. Created by `box.session()`. */
export interface Session {
  readonly id: string;
  readonly agent: string;
  /**
   * The OpenTelemetry context to run the agent in, so that the spans of models and HTTP calls are beneath the session's span too.
   * Without `span: true`, or if a span of a framework is active, this is the active context. Read it where the run begins.
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
   * Decides whether a tool may be called now. Synchronous, does no I/O and never throws. A tool that was neither configured nor
   * declared has no circuit: its calls pass unless the session is paused, and its failures use up budget.
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
   * Gives a tool a circuit and series, with the box's defaults unless the tool is configured. A second call for the same tool does
   * nothing. A new name is ignored if 2,000 tools are declared (or 10 × `maxTools`, if that is more), because adapters declare
   * every tool that a server lists or a model asks for. An ignored tool is treated as undeclared, and `diag` warns once.
   * `createBreakerbox({ tools })` and `box.declare()` have no such limit.
   */
  declare(tool: string, options?: DeclareOptions): void;
  /** Ends one turn of the agent loop. Probing counts these steps (P1). */
  step(): void;
  /**
   * Begins the session of a sub-agent (D1). It decides with the circuits and the failure budget of this session, and what it uses counts here
   * too. Call `end()` on it when the sub-agent is done: what it had reserved and not used comes back.
   *
   * @throws ChildLimitError if this session has `maxChildren` children that live, or the tree has `maxDepth` levels.
   * @throws BreakerboxConfigError if the options can't work.
   *
   * @example
   * ```ts
   * const researcher = session.child({ name: 'researcher', portion: 0.25 });
   * ```
   */
  child(options?: ChildOptions): Session;
  /**
   * Counts what a call of a model has used, for the limits `tokens` and `cost` (D3). Do not call it for a model that `guardModels` guards, or
   * whose usage your adapter reports. Without limits it does nothing. A number that is not finite, or below 0, is left out.
   *
   * @example
   * ```ts
   * session.spend({ tokens: response.usage.total_tokens, cost: 0.012 });
   * ```
   */
  spend(usage: Usage): void;
  /**
   * Makes a limit larger, so that a run that it pauses can go on (D2). `by` is in the unit of the limit: calls, steps, tokens, money or
   * milliseconds. Returns each limit that was extended, from what and to what.
   *
   * @throws BreakerboxUsageError if the session has no such limit, or if `by` is not a number above 0.
   *
   * @example
   * ```ts
   * session.extend('tokens', 50_000);
   * ```
   */
  extend(limit: LimitKind, by: number): readonly ExtendedLimit[];
  /** Refills the failure budget (B1). Clears all charges, provisional ones too. Circuits do not change, and no limit is extended. */
  resume(): void;
  /** Begins a new task. Results that are older than the task are stale (F1). The first task begins with the session. */
  beginTask(): void;
  /**
   * Confirms that a systemic failure is over, when a person has checked it. Probing starts again (S5). Does nothing if there is no
   * systemic failure.
   */
  confirmRecovered(): void;
  /**
   * Sets a tool's circuit by hand, or gives control back with `automatic` (C1). Settings that change later leave the mode as it is. The
   * circuit starts again, closed, and results of calls under way no longer change it. Does nothing if the circuit already has that mode.
   *
   * @throws BreakerboxUsageError if there is no such mode, or if the tool was never declared.
   *
   * @example
   * ```ts
   * session.control('web_search', 'forced_open'); // skipped until
   * session.control('web_search', 'automatic');
   * ```
   */
  control(tool: string, mode: CircuitMode): void;
  /**
   * A text for the system prompt: which tools are unavailable now, why, until when, and what to use instead. It names
   * at most 20 tools, and how many more there are. Empty if all tools are available (R3).
   *
   * @example
   * ```ts
   * const system = [instructions, session.note()].filter(Boolean).join('\n\n');
   * ```
   */
  note(): string;
  /**
   * The declared tools that would be skipped now, without those that are due for a probe (R3). While the session is paused: all
   * tools.
   */
  unavailable(): readonly string[];
  /**
   * Explains why a call of the tool would be called, probed, skipped or paused now: which circuit rejects it, until when, and the
   * tool's charges. Pass the arguments as `input` if the loop guard or the circuit of a key may be the reason. Changes
   * nothing (C11).
   *
   * @example
   * ```ts
   * const { decision, rejectedBy, nextProbe } = session.explain('create_issue'); // rejectedBy: 'group:github'
   * ```
   */
  explain(tool: string, input?: unknown): Explanation;
  /**
   * The current view of a circuit, of a tool or of a group (`group:NAME`); undefined if it was not used yet. With the arguments of
   * a call, `key` holds the circuit of their key (C14). If an adapter names the keys, that is the host in `url`. Changes nothing.
   */
  peek(tool: string, input?: unknown): CircuitView | undefined;
  /** The current view of the whole session. Changes nothing (C11). */
  view(): SessionView;
  /**
   * Ends the run and removes its circuits from the metrics. If the session is used again, it decides and protects as before and
   * warns once through `diag`: a stream may outlive the code that made it (E7).
   */
  end(): void;
}
