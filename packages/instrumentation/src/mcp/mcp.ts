import { BreakerboxUsageError, type Permit, type Session } from '@breakerbox/core';
import { groupReturned, safely } from '@breakerbox/core/internal';
import {
  acquire,
  declareTool,
  declareTools,
  isRejected,
  readSignal,
  type SessionSource,
  sessionFinder,
  throwIfAborted,
} from '../acquire.ts';
import { answerOf, type DirectCall, fallbackFor, orAlternative } from '../fallback.ts';
import { firstName, groupName, groupOfPrefix } from '../groups.ts';
import { markGuarded, throwIfGuarded } from '../guard-mark.ts';
import { JUDGING, type Judge, type JudgingOptions, judgesBy } from '../judging.ts';
import { aValue, checkOptions, functionGiven, milliseconds, names, text } from '../options.ts';
import { overlay } from '../overlay.ts';
import { Run } from '../run.ts';
import { type CallEnd, costOf } from '../settlement.ts';
import { catalogOf, LIST_MS, type McpClient, optionsPosition } from './catalog.ts';
import { connectionOf, serverNameOf } from './connection.ts';
import { type HangWatch, HUNG, isTimeout, watchHang } from './hang.ts';
import { labelledResult, rejectionOf, staleResult, unstructured, waitsForInput } from './tool-result.ts';

export type { McpClient } from './catalog.ts';

/** Options of {@link guardMcpClient}. */
export interface GuardMcpOptions extends JudgingOptions {
  /**
   * Milliseconds that a tool call may take, with or without progress. After that, the server is told, the call rejects with a
   * `TimeoutError`, and counts as a failure. Requests of the server during the call (elicitation, sampling) are part of that time, so leave
   * enough of it for a person to answer. Default: none. The SDK's own timeout (60,000) is recognized as well.
   */
  readonly timeoutMs?: number;
  /**
   * Prefix of the tools' names in circuits, telemetry and rejections, such as `github.`, for servers that have a tool of the same name.
   * Give the model the same names, because it cannot have two tools of one name either.
   */
  readonly prefix?: string;
  /**
   * The group of the server's tools (C13): while the group is open all of them are skipped, and one probe serves them all. The
   * tools of two clients with the same group in one session are one group. Default: the prefix without the dots, dashes and similar
   * characters at its end, or else the name that the server gives itself.
   */
  readonly group?: string;
  /** The server's tools, if you know them. Its list is then not requested, and other names get no circuit. Default: the server's list. */
  readonly tools?: readonly string[];
  /** Reads the cost of a call in tokens when it ends. Tokens of failed calls are wasted. Default: not known. */
  readonly tokens?: (end: CallEnd<unknown>) => number | undefined;
}

/**
 * Guards an MCP client of `@modelcontextprotocol/sdk` (1.x) or `@modelcontextprotocol/client` (2.x). Give the result to the
 * agent in place of the client. The client is not changed, but its `close` is watched. Sessions may share one client.
 *
 * On skip and pause `callTool` gives `{ isError: true, content: [{ type: 'text', text }] }`, which the model reads. A tool
 * with `serveStaleMs` instead gives its last good result for the same arguments, with a label. A tool whose alternative has `adapt`
 * and is on the same server gives the alternative's result, with a note.
 * Results and errors of the server come back unchanged. A result with `isError` or a JSON-RPC error counts as its text says.
 * The host of an input's `url` is the key of the call (C14), unless `key` gives another.
 *
 * A server that ends during a call or between two calls opens the circuit of its group at once (C13), and so does one that has lost the
 * session of the client. When the client has connected again, the next call is the probe. Close the client by its own `close`, guarded or
 * not: then calls under way cost nothing (`cancelled`).
 *
 * A call without an answer for 20 s asks the server by a ping whether it is alive. If the call is given up after 30 s, by a person or by a
 * time limit, and the ping has no answer for 10 s, the server hangs: that is a `timeout` of the group (O10).
 *
 * Tools get their circuits when `listTools` is called. If a name is called that was on no list, the server is asked for its list
 * (for at most 5 s, and at most half of `timeoutMs`), so that a name that the model made up gets no circuit. The list is requested
 * again for a missing name after 30 s, because servers add tools (`tools/list_changed`). A list that fails is not requested again for 30 s.
 *
 * @throws BreakerboxConfigError for options or tool names that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, `client` is not a client, or it is guarded for that session already. A
 * call rejects with one if it names no tool, or its signal is invalid.
 *
 * @example
 * ```ts
 * const guarded = guardMcpClient(client, session, { timeoutMs: 30_000 });
 * const { tools } = await guarded.listTools();
 * const result = await guarded.callTool({ name: 'read_file', arguments: { path: 'notes.md' } });
 * ```
 */
export function guardMcpClient<Client extends McpClient>(
  client: Client,
  session: SessionSource,
  options: GuardMcpOptions = {},
): Client {
  checkOptions('guardMcpClient()', options, CHECKS);
  checkClient(client);
  const { timeoutMs, prefix = '', tools, tokens } = options;
  const findSession = sessionFinder(session, 'guardMcpClient()');
  throwIfGuarded('guardMcpClient()', client.callTool, session);
  const named = (name: string): string => `${prefix}${name}`;
  const given = firstName(options.group, groupOfPrefix(prefix));
  const group = (): string | undefined => given ?? serverNameOf(client);
  const fixed = tools && new Set(tools);
  if (fixed) declareTools(session, [...fixed].map(named), group);
  const connection = connectionOf(client);
  const catalog = catalogOf(client);
  const optionsAt = optionsPosition(client);
  const judgeOf = judgesBy(options, 'guardMcpClient()');
  const judgeOfTool = (name: string): Judge => judgeOf(named(name), { name, title: catalog.titleOf(name) });
  // Half of the time is left for the call: a list that hangs must not make the tool fail.
  const listMs = timeoutMs === undefined ? LIST_MS : timeoutMs / 2;

  /** The last transport of the client in each session. */
  const seen = new WeakMap<Session, object>();

  /** The server is back, so the next call is the probe of its group. */
  const returned = (session: Session): void => {
    const name = group();
    if (name !== undefined) safely('the return of a server', () => groupReturned(session, name));
  };

  const acquireFor = async (session: Session, name: string, input: unknown, signal?: AbortSignal): Promise<Permit> => {
    const circuit = named(name);
    let has = fixed ? fixed.has(name) : catalog.has(name);
    // For a tool that the session knows, the list is never requested: its circuit may be open because the server hangs.
    if (has === 'unknown') has = session.peek(circuit) !== undefined || (await catalog.request(name, listMs, signal));
    if (has) declareTool(session, circuit, group());
    return acquire(session, circuit, input, { type: 'extension', key: judgeOfTool(name).keyOf(input) });
  };

  /** Whether a list of this server has the tool. A name of unknown origin is only called for the model, which gave it. */
  const isListed = async (name: string, signal?: AbortSignal): Promise<boolean> => {
    if (fixed) return fixed.has(name);
    if (catalog.has(name) === 'unknown') await catalog.request(name, listMs, signal);
    return catalog.lists(name);
  };

  const callTool = async (params: ToolParams, ...rest: unknown[]): Promise<unknown> => {
    const { name, arguments: input } = readParams(params);
    const options = rest[optionsAt] as CallOptions | undefined;
    const signal = readSignal(`callTool('${name}') of guardMcpClient()`, options?.signal);
    throwIfAborted(signal);
    const session = findSession();
    const startMs = performance.now();

    const run = (permit: Permit, params: ToolParams, usualMs?: number): readonly [Run, Promise<unknown>] => {
      // A call after a failed one has the whole time.
      const spentMs = usualMs === undefined ? performance.now() - startMs : 0;
      const { name, arguments: input } = params;
      const judge = judgeOfTool(name);
      const running = new Run(
        permit,
        { input, signal, timeoutMs: timeoutMs ?? usualMs, spentMs },
        { tokens, label: labelledResult, advise: {} },
        judge,
      );
      const cost = (error: unknown): number | undefined => costOf(permit.tool, tokens, { error });
      const call = async (): Promise<unknown> => {
        const watch = watchHang(client, () => returned(session));
        const given = [...rest];
        given[optionsAt] = { ...options, signal: running.signal, ...heardBy(watch, options) };
        // Before the run settles: the server is the reason if it hangs, also if a person gives up the call.
        const onAbort = (): void => void (watch.isHung() && permit.settle(HUNG));
        running.signal.addEventListener('abort', onAbort, { once: true });
        const send = (): Promise<unknown> =>
          client.callTool(params, ...(given as never[])).catch((error: unknown) => {
            if (isTimeout(error) && watch.isHung()) permit.settle({ ...HUNG, tokens: cost(error) });
            throw error;
          });
        const result = await connection.follow(permit, send, judge, cost).finally(watch.end);
        // There is no result yet, so it closes no probe, and is not kept as a last good result.
        if (waitsForInput(result)) permit.settle({ outcome: 'ignored', category: 'cancelled' });
        return result;
      };
      return [running, running.execute(call)];
    };

    const transport = connection.transport();
    if (transport !== undefined && seen.get(session) !== transport) {
      // A client that has connected again has another process or session before it, whatever the circuit says.
      const isNew = !seen.has(session);
      seen.set(session, transport);
      if (!isNew) returned(session);
    }
    const permit = await acquireFor(session, name, input, signal);
    const find = (circuit: string): DirectCall | undefined => {
      if (!circuit.startsWith(prefix)) return undefined;
      const name = circuit.slice(prefix.length);
      return async (input, usualMs) => {
        if (!(await isListed(name, signal))) return undefined;
        const others = { ...params, name, arguments: input };
        const other = acquire(session, circuit, input, { type: 'extension', key: judgeOfTool(name).keyOf(input) });
        if (isRejected(other)) return undefined;
        const [running, end] = run(other, others, usualMs);
        return answerOf(end.then(unstructured), () => running.unanswered);
      };
    };
    if (!isRejected(permit)) {
      const [running, end] = run(permit, params);
      return orAlternative(permit.tool, running, end, input, { find });
    }
    const answer = await fallbackFor(permit, input, { find, label: staleResult, advise: {} });
    return answer === undefined ? rejectionOf(permit.message) : answer.value;
  };

  const listTools = async (params?: { cursor?: string }, ...rest: never[]): Promise<unknown> => {
    const list = await client.listTools(params, ...rest);
    const listed = catalog.record(list);
    if (!fixed) declareTools(session, listed.map(named), group);
    return list;
  };

  return overlay(
    client,
    new Map<PropertyKey, unknown>([
      ['callTool', markGuarded(callTool, session)],
      ['listTools', listTools],
    ]),
  );
}

const CHECKS = {
  timeoutMs: milliseconds,
  prefix: text,
  group: groupName,
  tools: names,
  tokens: functionGiven,
  ...JUDGING,
};

interface ToolParams {
  readonly name: string;
  readonly arguments?: unknown;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: unknown;
}

/** Progress shows that the server is alive. */
const heardBy = (watch: HangWatch, { onprogress }: CallOptions = {}) =>
  typeof onprogress === 'function' && {
    onprogress: (...given: unknown[]): unknown => {
      watch.heard();
      return onprogress(...given);
    },
  };

/**
 * The tool and the arguments of a call.
 *
 * @throws BreakerboxUsageError if no tool is named: without a name, no decision is possible.
 */
const readParams = (params: unknown): ToolParams => {
  const { name, arguments: input } = (params ?? {}) as Partial<ToolParams>;
  if (typeof name === 'string') return { name, arguments: input };
  const got = params === undefined || params === null ? `${params}` : `${aValue(name)} as the name of the tool`;
  throw new BreakerboxUsageError(
    `callTool() of guardMcpClient(): got ${got}, so the call names no tool. Give { name, arguments }, such as ` +
      `{ name: 'read_file', arguments: { path: 'notes.md' } }.`,
  );
};

const checkClient = (client: unknown): void => {
  const { callTool, listTools } = (client ?? {}) as Partial<Record<keyof McpClient, unknown>>;
  if (typeof callTool === 'function' && typeof listTools === 'function') return;
  throw new BreakerboxUsageError(
    `guardMcpClient(): got ${aValue(client)} without callTool and listTools, ` +
      `so there are no tools to guard. Give a Client of @modelcontextprotocol/sdk or @modelcontextprotocol/client.`,
  );
};
