/** The end of a paused run, with the option of docs/limits.md in the real loop of the AI SDK. */
import { readFileSync } from 'node:fs';
import { createBreakerbox, type Session } from '@breakerbox/core';
import { breakerPrepareStep, guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { generateText, isStepCount, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { z } from 'zod';

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

/** A model that lists files as long as it may call tools. */
const eager = () =>
  new MockLanguageModelV4({
    doGenerate: async ({ toolChoice }) => {
      const rest = { usage, warnings: [] };
      if (toolChoice?.type === 'none') {
        const content = [{ type: 'text' as const, text: 'I have seen three folders.' }];
        return { ...rest, content, finishReason: { unified: 'stop', raw: undefined } };
      }
      const call = { type: 'tool-call' as const, toolCallId: crypto.randomUUID(), toolName: 'list_files', input: '{}' };
      return { ...rest, content: [call], finishReason: { unified: 'tool-calls', raw: undefined } };
    },
  });

const runWith = async (session: Session, prepareStep: (() => object) | undefined) => {
  let calls = 0;
  const list_files = tool({
    description: 'Lists files',
    inputSchema: z.object({}),
    execute: async () => {
      calls += 1;
      return `file-${calls}`;
    },
  });
  const { text, steps } = await generateText({
    model: eager(),
    tools: guardTools({ list_files }, session),
    prepareStep: breakerPrepareStep(session, (prepareStep && { prepareStep }) as never),
    stopWhen: isStepCount(60),
    prompt: 'What is there?',
  });
  return { calls, text, turns: steps.length };
};

const limited = (): Session =>
  createBreakerbox({ agent: 'a', tools: { list_files: {} }, limits: { calls: 3 } }).session();

test('D2: a paused run uses all of its steps and has no answer, if nothing ends its loop', async () => {
  expect(await runWith(limited(), undefined)).toEqual({ calls: 3, text: '', turns: 60 });
});

test('D2: with the option of the page, the model answers without tools in its next turn', async () => {
  const session = limited();
  const page = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8');
  expect(page).toContain(
    "`prepareStep: () => (session.view().state.startsWith('paused') ? { toolChoice: 'none' } : {})`",
  );
  const prepareStep = () => (session.view().state.startsWith('paused') ? { toolChoice: 'none' as const } : {});
  expect(await runWith(session, prepareStep)).toEqual({ calls: 3, text: 'I have seen three folders.', turns: 4 });
});
