import { BreakerboxUsageError } from '@breakerbox/core';
import { annotated, read } from '@breakerbox/core/internal';
import { declareTools, type Rejection, type SessionSource, sessionFinder } from '../acquire.ts';
import type { DirectCall } from '../fallback.ts';
import { firstName, groupName, groupOfPrefix } from '../groups.ts';
import { markGuarded, throwIfGuarded } from '../guard-mark.ts';
import { JUDGING, type Judge, type JudgingOptions, judgesBy, titleOf } from '../judging.ts';
import { type Connection, connectionOf, serverNameOf } from '../mcp/connection.ts';
import { rejectionOf, staleResult, unstructured } from '../mcp/tool-result.ts';
import { aValue, checkOptions, milliseconds, text } from '../options.ts';
import { overlay } from '../overlay.ts';
import { type AdapterContext, runAlternative, runTool, type ToolExecutor } from '../run-tool.ts';

/** The part of an `MCPServer` of `@openai/agents` that is used here. The rest differs between versions. */
export interface McpServer {
  readonly name: string;
  listTools(...given: never[]): Promise<readonly { readonly name: string }[]>;
  callTool(tool: string, input: Record<string, unknown> | null, ...rest: never[]): Promise<unknown>;
}

/** Options of {@link guardMcpServer}. */
export interface GuardMcpServerOptions extends JudgingOptions {
  /**
   * Milliseconds that a tool call may take. After that, the call rejects with a `TimeoutError`, which the SDK turns into text for the
   * model, and it counts as a failure. Default: none. The server's own `timeout` is recognized as well.
   */
  readonly timeoutMs?: number;
  /**
   * Prefix of the tools' names in circuits and telemetry, such as `github.`, for servers that have a tool of the same name. The model
   * reads the server's own names.
   */
  readonly prefix?: string;
  /**
   * The group of the server's tools (C13): while the group is open all of them are skipped, and one probe serves them all. The
   * tools of two servers with the same group in one session are one group. Default: the prefix without the dots, dashes and similar
   * characters at its end, or else the `name` that you gave the server, or else the name that it gives itself.
   */
  readonly group?: string;
}

/**
 * Guards an MCP server of the OpenAI Agents SDK (`MCPServerStdio`, `MCPServerStreamableHttp`, `MCPServerSSE`, or one of your
 * own). Give the result to `mcpServers` of an agent in its place. You can connect and close either of them. Sessions may share one
 * server.
 *
 * On skip and pause a call gives content with the rejection, which the model reads. A tool with `serveStaleMs` instead gives its last good
 * result for the same arguments, with a label. A tool whose alternative has `adapt` and is on the same server gives the alternative's
 * result, with a note, if the server has neither `toolFilter` nor `toolInputGuardrails`. Results and errors of the server come back
 * unchanged. A result with `isError` counts as its text says, if the SDK passes `isError` on (0.12 and later). The host of an input's
 * `url` is the key of the call (C14), unless `key` gives another.
 *
 * A server that ends during a call or between two calls opens the circuit of its group at once (C13). When you close it, calls under
 * way cost nothing (`cancelled`). Its `close` is watched for that.
 *
 * @throws BreakerboxConfigError for options or tool names that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, `server` is not a server, or it is guarded for that session already.
 *
 * @example
 * ```ts
 * const files = new MCPServerStdio({ fullCommand: 'npx mcp-server-filesystem /data' });
 * await files.connect();
 * const agent = new Agent({ name: 'Reader', mcpServers: [guardMcpServer(files, session, { timeoutMs: 30_000 })] });
 * ```
 */
export function guardMcpServer<Server extends McpServer>(
  server: Server,
  session: SessionSource,
  options: GuardMcpServerOptions = {},
): Server {
  checkOptions(WHERE, options, { timeoutMs: milliseconds, prefix: text, group: groupName, ...JUDGING });
  const findSession = sessionFinder(session, WHERE);
  const methods = readServer(server);
  const { timeoutMs, prefix = '' } = options;
  const given = firstName(options.group, groupOfPrefix(prefix), ownName(server));
  const groupOf = (): string | undefined => given ?? serverNameOf(clientOf(server));
  const adapter: AdapterContext = { findSession, where: WHERE, timeoutMs, groupOf };
  const connection = connectionOf(server, clientOf);
  const judgeBy = judgesBy(options, WHERE);
  const judgeOf = (name: string): Judge => judgeBy(`${prefix}${name}`, { name, title: listed.get(server)?.get(name) });
  throwIfGuarded(WHERE, methods.callTool, session);
  /** The SDK gives the model the server's own names, and ends the run at any other. */
  const withoutPrefix = (words: string): string => (prefix === '' ? words : words.replaceAll(`'${prefix}`, "'"));
  const note: typeof annotated = (result, key, words) => annotated(result, key, withoutPrefix(words));
  const reject = ({ message }: Rejection) => rejectionOf(withoutPrefix(message));
  const declare = (): void =>
    declareTools(
      session,
      Array.from(listed.get(server)?.keys() ?? [], (name) => `${prefix}${name}`),
      groupOf,
    );
  declare();

  const guarded = (call: Call) => {
    return (...given: Given): Promise<Result> => {
      const [tool, input, , more] = given;
      const judge = judgeOf(tool);
      const type = 'extension' as const;
      const request = { tool: `${prefix}${tool}`, judge, type, input: input ?? undefined, signal: more?.signal };
      const find = (circuit: string): DirectCall | undefined => {
        const other = circuit.slice(prefix.length);
        if (!circuit.startsWith(prefix) || !listed.get(server)?.has(other) || restrictsTools(server)) return undefined;
        return async (input, usualMs) => {
          const otherCall: Given = [other, input as Given[1], given[2], more];
          const judge = judgeOf(other);
          const asked = { ...request, tool: circuit, judge, input };
          const run = executor(call, otherCall, connection, judge);
          const answer = await runAlternative(adapter, asked, run, READING, usualMs);
          return answer && 'value' in answer ? { ...answer, value: unstructured(answer.value) } : answer;
        };
      };
      return runTool(adapter, request, executor(call, given, connection, judge), { ...READING, reject, find, note });
    };
  };

  const asResult = guarded(async (...given) => resultOf((await methods.callTool(...given)) as Content));
  const members = new Map<PropertyKey, unknown>([
    ['callTool', markGuarded(async (...given: Given) => contentOf(await asResult(...given)), session)],
    [
      'listTools',
      async (...given: never[]) => {
        const tools = await server.listTools(...given);
        listed.set(server, new Map(tools.map((tool) => [tool.name, titleOf(tool)])));
        declare();
        return tools;
      },
    ],
  ]);
  if (methods.callToolResult) {
    members.set(
      'callToolResult',
      guarded(async (...given) => (methods as Required<Methods>).callToolResult(...given)),
    );
  }
  return overlay(server, members);
}

const WHERE = 'guardMcpServer()';

/** Titles of each server's tools by name, shared by all guards of it: with `cacheToolsList` the SDK lists the tools only once. */
const listed = new WeakMap<McpServer, ReadonlyMap<string, string | undefined>>();

type Given = [
  tool: string,
  input: Record<string, unknown> | null,
  meta?: Record<string, unknown> | null | undefined,
  options?: { readonly signal?: AbortSignal } | undefined,
];

/** The SDK's form of content: a list, which since 0.12 has the rest of the result in hidden properties. */
type Content = unknown[] & Omit<Result, 'content'>;

interface Result {
  readonly content: unknown;
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
  readonly _meta?: unknown;
}

type Call = (...given: Given) => Promise<Result>;

const REST = ['isError', 'structuredContent', '_meta'] as const;

const resultOf = (content: Content): Result => {
  const rest = REST.map((key) => [key, read(content, key)] as const).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(rest), content };
};

/** The same content object if the result was not changed. A new one gets the hidden properties. */
const contentOf = ({ content, ...rest }: Result): unknown => {
  if (typeof content !== 'object' || content === null) return content; // A server of one's own may give anything.
  for (const key of REST) {
    const value = rest[key];
    if (value === undefined || (content as Content)[key] === value) continue;
    Object.defineProperty(content, key, { value, configurable: true });
  }
  return content;
};

const executor =
  (call: Call, [tool, input, meta, options]: Given, connection: Connection, judge: Judge): ToolExecutor<Result> =>
  ({ signal, permit }) =>
    connection.follow(permit, () => call(tool, input, meta, { ...options, signal }), judge);

/** The client of the MCP SDK in a server object of this SDK. */
const clientOf = (server: object): unknown => read(read(server, 'underlying') ?? server, 'session');

/** The user's name for the server. Without one the SDK makes one from the command or the address, which several servers may share. */
const ownName = (server: object): string | undefined => {
  const name = firstName(read(server, 'name'));
  return name !== undefined && /^(?:stdio|sse|streamable-http): /.test(name) ? undefined : name;
};

/** The model reads only structured content if the server is set to use it, and that must not hide the label. */
const READING = { label: staleResult };

/** Whether the user restricts which of its tools may be called, and how. */
const restrictsTools = (server: object): boolean => {
  const { toolFilter, toolInputGuardrails = [] } = server as {
    readonly toolFilter?: unknown;
    readonly toolInputGuardrails?: readonly unknown[];
  };
  return toolFilter !== undefined || toolInputGuardrails.length > 0;
};

/** The methods that the SDK calls: the server's own, or those of a proxy. */
interface Methods {
  callTool(...given: Given): Promise<unknown>;
  /** Since 0.12. */
  callToolResult?(...given: Given): Promise<Result>;
}

const readServer = (server: unknown): Methods => {
  const { callTool, listTools } = (server ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof callTool === 'function' && typeof listTools === 'function') return server as Methods;
  throw new BreakerboxUsageError(
    `${WHERE}: got ${aValue(server)} without callTool and listTools, so there are no tools to guard. Give an MCPServerStdio, ` +
      'MCPServerStreamableHttp or MCPServerSSE of @openai/agents.',
  );
};
