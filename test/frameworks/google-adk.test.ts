import { BreakerPlugin } from '@breakerbox/instrumentation/google-adk';
import type { Adk } from '@breakerbox/scripted-models/google-adk';
import { z } from 'zod';
import { withLateTracer } from '../../packages/instrumentation/src/test-support/late-tracer.ts';
import { contract } from './contract.ts';
import type { AgentEnd, AgentRun, Harness, ToolBody } from './harness.ts';

// The package manager gives each of these its own copy of the types.
const newest = (await withLateTracer(() => import('@google/adk'))) as unknown as Adk;
const oldest = (await withLateTracer(() => import('google-adk-oldest'))) as unknown as Adk;
for (const { setLogLevel, LogLevel } of [newest, oldest]) setLogLevel(LogLevel.ERROR);
const { scriptedModel } = await import('@breakerbox/scripted-models/google-adk');

const USER = { userId: 'user', sessionId: 'conversation' };

type Context = InstanceType<Adk['Context']>;

/** Before ADK 2, a tool requests the confirmation itself. */
const asking =
  (body: ToolBody) =>
  (input: { q: string }, context?: Context): unknown => {
    if (context?.toolConfirmation?.confirmed) return body(input, context.abortSignal);
    if (context?.toolConfirmation) return { error: 'This tool call is rejected.' };
    context?.requestConfirmation({ hint: 'May I?' });
    return { error: 'This tool call requires confirmation.' };
  };

type Content = NonNullable<Parameters<InstanceType<Adk['Runner']>['runAsync']>[0]['newMessage']>;

const harnessOf = (adk: Adk, { streaming = false, isOldest = false } = {}): Harness => {
  const toolOf = (name: string, body: ToolBody, asks: boolean) =>
    new adk.FunctionTool({
      name,
      description: `Calls ${name}`,
      parameters: z.object({ q: z.string() }),
      execute: (input, context) => {
        const given = input as { q: string };
        return asks && isOldest ? asking(body)(given, context) : body(given, context?.abortSignal);
      },
      requireConfirmation: asks && !isOldest,
    });

  const run = async ({
    session,
    tools,
    servers,
    judging,
    script,
    timeoutMs,
    signal,
    deny = [],
    approve = [],
  }: AgentRun): Promise<AgentEnd> => {
    const { model, heard } = scriptedModel(script, adk);
    const guarded = Object.entries(tools).map(([name, body]) =>
      toolOf(name, body, [...deny, ...approve].includes(name)),
    );
    const agent = new adk.LlmAgent({ name: 'researcher', model, tools: guarded });
    const options = {
      ...judging,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(servers && { group: (tool: string) => servers[tool] }),
    };
    const plugins = [new BreakerPlugin(session, { inPlace: ['news'], ...options })];
    const runner = new adk.InMemoryRunner({ agent, appName: 'contract', plugins });
    await runner.sessionService.createSession({ appName: 'contract', ...USER });
    const runConfig = { streamingMode: streaming ? adk.StreamingMode.SSE : adk.StreamingMode.NONE };

    let text = '';
    const turn = async (newMessage: Content): Promise<readonly string[]> => {
      const pending: string[] = [];
      const run = { ...USER, newMessage, runConfig, ...(signal && { abortSignal: signal }) };
      for await (const event of runner.runAsync(run)) {
        if (event.partial) continue;
        for (const { functionCall } of event.content?.parts ?? []) {
          if (functionCall?.name === 'adk_request_confirmation') pending.push(functionCall.id ?? '');
        }
        if (adk.isFinalResponse(event)) text = adk.stringifyContent(event);
      }
      return pending;
    };

    const asked = await turn({ role: 'user', parts: [{ text: 'go' }] });
    const answers = asked.map((id) => ({
      functionResponse: { id, name: 'adk_request_confirmation', response: { confirmed: deny.length === 0 } },
    }));
    if (answers.length > 0) await turn({ role: 'user', parts: answers });
    return { text, heard: heard() };
  };

  return {
    framework: `Google ADK ${adk.version}${streaming ? ', streaming' : ''}`,
    run,
    inBand: (error) => ({ error }),
    ...(isOldest && { asksInTool: true }),
    nativeSpan: (tool) => `execute_tool ${tool}`,
    lacks: {
      frameworkTimeout: 'ADK has no time-out for tools.',
      generators: 'ADK tools return one result. Only live runs have streaming tools.',
      ...(isOldest && {
        unknownTool: 'ADK 1 ends the run with an error if the model calls a tool that does not exist.',
      }),
    },
  };
};

contract(harnessOf(newest));
contract(harnessOf(newest, { streaming: true }));
contract(harnessOf(oldest, { isOldest: true }));
