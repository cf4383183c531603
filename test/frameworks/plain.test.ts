import { type GuardedFunction, guardAll } from '@breakerbox/instrumentation';
import { openAiModel, runLoop, scriptedModel } from '@breakerbox/scripted-models/plain';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { contract } from './contract.ts';
import type { AgentRun, Harness, ToolBody } from './harness.ts';
import { lastPiece, reply } from './own-loop.ts';

const input = z.object({ q: z.string() });

/** A function that validates its input itself, because no framework does that. */
const checked = (body: ToolBody) => {
  const run = (given: { q: string }, { signal }: { readonly signal: AbortSignal }) => body(input.parse(given), signal);
  return run;
};

const harness: Harness = {
  framework: 'a loop of your own, with guardAll',
  run: async ({ session, tools, servers, judging, script, timeoutMs, signal, deny = [] }: AgentRun) => {
    const { model, heard } = scriptedModel(script);
    const guarded = guardAll(
      session,
      Object.fromEntries(Object.entries(tools).map(([name, body]) => [name, checked(body)])),
      { ...judging, ...(timeoutMs !== undefined && { timeoutMs }), ...(servers && { group: (tool) => servers[tool] }) },
    ) as Readonly<Record<string, GuardedFunction<unknown, unknown>>>;
    const callTool = ({ tool, input, id }: { tool: string; input: unknown; id: string }): Promise<string> =>
      reply(async () => {
        const run = guarded[tool];
        if (run === undefined) return `There is no tool '${tool}'.`;
        if (deny.includes(tool)) return 'The user denied this call.';
        return lastPiece(await run(input, { signal, callId: id }));
      }, signal);
    const text = await runLoop(model, 'Go.', callTool, () =>
      (typeof session === 'function' ? session() : session).step(),
    );
    return { text, heard: heard() };
  },
  lastTurnUntold: true,
  inBand: (error) => ({ error }),
  lacks: {
    frameworkTimeout: 'Your own loop has no time-out except ours.',
    primitives: 'guard() throws what the tool threw. A value that is not an object cannot carry the advice.',
    nativeSpan: 'Your own loop makes no spans.',
    note: 'A guarded function gives its result unchanged. Give the model `session.note()` at each turn.',
  },
};

contract(harness);

test('O1: truncated arguments are passed on unchanged, so that the loop can tell the model', async () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  const asked: string[] = [];
  const tool_calls = [{ id: 'call-1', function: { name: 'search', arguments: '{"q":"brea' } }];
  vi.stubGlobal('fetch', async (_: string, { body }: { body: string }) => {
    asked.push(body);
    return Response.json({ choices: [{ message: { content: null, tool_calls } }] });
  });
  const model = openAiModel('a-model', []);
  const turn = await model([]);
  expect(turn.calls).toEqual([{ id: 'call-1', tool: 'search', input: '{"q":"brea' }]);
  await model([{ role: 'assistant', turn }]);
  const { messages } = JSON.parse(asked[1] ?? '') as { messages: { tool_calls: typeof tool_calls }[] };
  expect(messages[0]?.tool_calls[0]?.function).toEqual(tool_calls[0]?.function);
});
