import { BreakerboxUsageError, type Permit, type Session } from '@breakerbox/core';
import { aValue, readSignal, throwIfAborted } from './caller.ts';
import { decide } from './decide.ts';
import { declareTool, firstName, groupName, groupOfPrefix } from './groups.ts';
import { markGuarded, refuseGuarded } from './guarded.ts';
import { JUDGING, type Judge, type JudgingOptions, judgesBy } from './judging.ts';
import { catalogOf, LIST_MS, type McpClient, optionsPosition } from './mcp-catalog.ts';
import { connectionOf, serverNameOf } from './mcp-connection.ts';
import { labelledResult, refusalOf, staleResult, unstructured, waitsForInput } from './mcp-result.ts';
import { checkOptions, milliseconds, names, reader, text } from './options.ts';
import { type DirectCall, otherwise } from './otherwise.ts';
import { perform } from './perform.ts';
import { type CallEnd, costOf, startRun } from './run.ts';
import { declareNow, type SessionSource, sessionFinder } from './session-source.ts';
import { standIn } from './stand-in.ts';
import { isRefused } from './unavailable.ts';

export type { McpClient } from './mcp-catalog.ts';

/** How a guarded client behaves. */
export interface GuardMcpOptions extends JudgingOptions {
  /**
   * Milliseconds that a tool call may take, progress or not. When they are over, the server is told, the call rejects with
   * a `TimeoutError`, and counts as a failure. What the server asks for during the call (elicitation, sampling) is part of that
   * time: give a person who is asked enough of it. Default: none; the SDK's own time-out (60,000) is understood as well.
   */
  readonly timeoutMs?: number;
  /**
   * Put before the tools' names in circuits, telemetry and refusals, as in `github.`, where several servers have a tool of one
   * name. Give the model the same names: it can't have two tools of one name either.
   */
  readonly prefix?: string;
  /**
   * The group of the server's tools (C13): while the group is open all of them are skipped, and one probe serves them all. The
   * tools of two clients with the same group in one session are one group. Default: the prefix without its last dots, dashes and the
   * like, or else the name that the server gives itself.
   */
  readonly group?: string;
  /** The server's tools, where you know them: its list isn't asked then, and other names get no circuit. Default: the server's list. */
  readonly tools?: readonly string[];
  /** Reads in the end of a call what it cost, in tokens. Those of failed calls are wasted. Default: not known. */
  readonly tokens?: (end: CallEnd<unknown>) => number | undefined;
}

/**
 * Guards an MCP client of `@modelcontextprotocol/sdk` (1.x) or `@modelcontextprotocol/client` (2.x): give the result to the
 * agent in its place. The client itself isn't changed, but its `close` is watched; sessions may share one.
 *
 * On skip and pause `callTool` gives `{ isError: true, content: [{ type: 'text', text }] }`, which the model reads. But a tool
 * with `serveStaleMs` gives its last good result for the same arguments, labelled; and one whose alternative has `adapt` and
 * is a tool of the same server gives what that one gives, with a note.
 * Results and errors of the server come back unchanged; one with `isError` counts as what its text says, and so does a JSON-RPC
 * error. The host of an input's `url` is the key of the call (C14), unless `key` says another.
 *
 * A server that ends in the middle of a call or between two opens the circuit of its group at once (C13). Close the client by its own
 * `close`, guarded or not: then calls under way cost nothing (`cancelled`).
 *
 * Tools get their circuits as `listTools` passes. When a name is called that no list had, the server is asked for its list
 * (for 5 s at most, and half of `timeoutMs`), so that a name which the model made up gets no circuit; one
 * that it has not is asked for again after 30 s, for servers gain tools (`tools/list_changed`). If the list can't be had, it
 * isn't asked for again for 30 s.
 *
 * @throws BreakerboxConfigError for options or tool names that can't work.
 * @throws BreakerboxUsageError when `session` is no session, `client` no client, or guarded for that session already. A call
 * rejects with one where it names no tool, or its signal is none.
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
  refuseGuarded('guardMcpClient()', client.callTool, session);
  const named = (name: string): string => `${prefix}${name}`;
  const given = firstName(options.group, groupOfPrefix(prefix));
  const group = (): string | undefined => given ?? serverNameOf(client);
  const fixed = tools && new Set(tools);
  if (fixed) declareNow(session, [...fixed].map(named), group);
  const connection = connectionOf(client);
  const catalog = catalogOf(client);
  const optionsAt = optionsPosition(client);
  const judgeOf = judgesBy(options, 'guardMcpClient()');
  const judgeOfTool = (name: string): Judge => judgeOf(named(name), { name, title: catalog.titleOf(name) });
  // Half of the time is the call's own: a list that hangs is no reason for a tool to fail.
  const askMs = timeoutMs === undefined ? LIST_MS : timeoutMs / 2;

  const ask = async (session: Session, name: string, input: unknown, signal?: AbortSignal): Promise<Permit> => {
    const circuit = named(name);
    let has = fixed ? fixed.has(name) : catalog.has(name);
    // A tool that the session knows is never asked for: its circuit may be open because the server hangs.
    if (has === 'ask') has = session.peek(circuit) !== undefined || (await catalog.ask(name, askMs, signal));
    if (has) declareTool(session, circuit, group());
    return decide(session, circuit, input, { type: 'extension', key: judgeOfTool(name).keyOf(input) });
  };

  /** Surely a tool of this server: a name that may be another's is called for the model alone, which gave it. */
  const isListed = async (name: string, signal?: AbortSignal): Promise<boolean> => {
    if (fixed) return fixed.has(name);
    if (catalog.has(name) === 'ask') await catalog.ask(name, askMs, signal);
    return catalog.lists(name);
  };

  const callTool = async (params: ToolParams, ...rest: unknown[]): Promise<unknown> => {
    const { name, arguments: input } = readParams(params);
    const options = rest[optionsAt] as CallOptions | undefined;
    const signal = readSignal(`callTool('${name}') of guardMcpClient()`, options?.signal);
    throwIfAborted(signal);
    const session = findSession();
    const startMs = performance.now();

    const run = (permit: Permit, params: ToolParams): Promise<unknown> => {
      const spentMs = performance.now() - startMs;
      const { name, arguments: input } = params;
      const judge = judgeOfTool(name);
      const running = startRun(permit, { input, signal, timeoutMs, spentMs }, { tokens, label: labelledResult }, judge);
      const cost = (error: unknown): number | undefined => costOf(permit.tool, tokens, { error });
      const call = async (): Promise<unknown> => {
        const given = [...rest];
        given[optionsAt] = { ...options, signal: running.signal };
        const result = await connection.follow(
          permit,
          () => client.callTool(params, ...(given as never[])),
          judge,
          cost,
        );
        // Nothing has come of it yet: it closes no probe, and isn't kept as a last good result.
        if (waitsForInput(result)) permit.settle({ outcome: 'ignored', category: 'cancelled' });
        return result;
      };
      return perform(running, call);
    };

    const permit = await ask(session, name, input, signal);
    if (!isRefused(permit)) return run(permit, params);

    const find = (circuit: string): DirectCall | undefined => {
      if (!circuit.startsWith(prefix)) return undefined;
      const name = circuit.slice(prefix.length);
      return async (input) => {
        if (!(await isListed(name, signal))) return undefined;
        const others = { ...params, name, arguments: input };
        const other = decide(session, circuit, input, { type: 'extension', key: judgeOfTool(name).keyOf(input) });
        return isRefused(other) ? undefined : { value: unstructured(await run(other, others)) };
      };
    };
    const answer = await otherwise(permit, input, { find, label: staleResult });
    return answer === undefined ? refusalOf(permit.message) : answer.value;
  };

  const listTools = async (params?: { cursor?: string }, ...rest: never[]): Promise<unknown> => {
    const list = await client.listTools(params, ...rest);
    const listed = catalog.note(list);
    if (!fixed) declareNow(session, listed.map(named), group);
    return list;
  };

  return standIn(
    client,
    new Map<PropertyKey, unknown>([
      ['callTool', markGuarded(callTool, session)],
      ['listTools', listTools],
    ]),
  );
}

const CHECKS = { timeoutMs: milliseconds, prefix: text, group: groupName, tools: names, tokens: reader, ...JUDGING };

interface ToolParams {
  readonly name: string;
  readonly arguments?: unknown;
}

interface CallOptions {
  readonly signal?: AbortSignal;
}

/**
 * What a call asks for.
 *
 * @throws BreakerboxUsageError for what names no tool: nobody could decide about it.
 */
const readParams = (params: unknown): ToolParams => {
  const { name, arguments: input } = (params ?? {}) as Partial<ToolParams>;
  if (typeof name === 'string') return { name, arguments: input };
  const got = params === undefined || params === null ? `${params}` : `${aValue(name)} as the name of the tool`;
  throw new BreakerboxUsageError(
    `callTool() of guardMcpClient(): got ${got}, so nobody knows which tool is meant. Give { name, arguments }, such as ` +
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
