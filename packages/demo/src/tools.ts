import type { FreshnessHint, Session } from '@breakerbox/core';
import { type GuardOptions, guard } from '@breakerbox/instrumentation';
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { type ToolSet, tool } from 'ai';
import { z } from 'zod';
import { getJson } from './http-get.ts';
import type { McpServer } from './mcp-server.ts';
import type { Service } from './services.ts';

/** One tool of the AI SDK. */
export type DemoTool = ToolSet[string];

const QUESTION = z.object({ q: z.string() });

/** Asks a service. Not guarded: `guardTools` does that. */
export const httpTool = (service: Service): DemoTool =>
  tool({
    description: `Asks the ${service.name} service`,
    inputSchema: QUESTION,
    execute: ({ q }, { abortSignal }) => getJson(service.url, { q }, abortSignal),
  });

/** The same with another name for its argument, so it can be an alternative to other tools only with `adapt`. */
export const newsTool = (service: Service): DemoTool =>
  tool({
    description: 'Finds recent news',
    inputSchema: z.object({ topic: z.string() }),
    execute: ({ topic }, { abortSignal }) => getJson(service.url, { topic }, abortSignal),
  });

const SUMMANDS = z.object({ a: z.number(), b: z.number() });

/** Adds in this process. Not guarded. */
export const calculator = (): DemoTool =>
  tool({ description: 'Adds two numbers', inputSchema: SUMMANDS, execute: ({ a, b }) => ({ sum: a + b }) });

/** Options of a guarded tool beyond its time-out. */
export interface PricedTool {
  readonly timeoutMs: number;
  readonly freshness?: (result: unknown) => FreshnessHint;
}

/** The tokens of the name, the arguments and the frame of a call. */
const CALL_TOKENS = 60;
const CHARACTERS_PER_TOKEN = 4;

/**
 * Estimates the tokens of a call without a tokenizer: a fixed part for the call, and a token for every four characters of the result
 * or error that the model reads.
 */
export const estimateTokens: NonNullable<GuardOptions['tokens']> = (end) => {
  const text = 'result' in end ? JSON.stringify(end.result) : String(end.error);
  return CALL_TOKENS + Math.ceil((text ?? '').length / CHARACTERS_PER_TOKEN);
};

/** asks a service, and reports the tokens of each call to the session. It uses `guard`, because `guardTools` cannot count tokens. */
export const pricedTool = (session: Session, name: string, service: Service, options: PricedTool): DemoTool => {
  const ask = guard(
    session,
    name,
    ({ q }: z.infer<typeof QUESTION>, { signal }) => getJson(service.url, { q }, signal),
    { ...options, tokens: estimateTokens },
  );
  return tool({
    description: `Asks the ${service.name} service`,
    inputSchema: QUESTION,
    execute: (input, { abortSignal, toolCallId }) => ask(input, { signal: abortSignal, callId: toolCallId }),
  });
};

/** Adds on an MCP server, with a guarded client. */
export const mcpTool = (session: Session, name: string, mcp: McpServer, timeoutMs: number): DemoTool =>
  tool({
    description: 'Adds two numbers, on an MCP server',
    inputSchema: SUMMANDS,
    execute: ({ a, b }, { abortSignal }) => {
      // At each call, because a restart of the server makes another client.
      const client = guardMcpClient(mcp.client, session, { tools: [name], timeoutMs });
      return client.callTool({ name, arguments: { a, b } }, undefined, { ...(abortSignal && { signal: abortSignal }) });
    },
  });
