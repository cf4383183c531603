import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import type { BetaToolRunnerParams } from '@anthropic-ai/sdk/lib/tools/BetaToolRunner';
import type { ToolConfig } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/anthropic';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { vi } from 'vitest';
import { z } from 'zod';
import { guardTools } from '../anthropic/anthropic.ts';
import { type Watched, watchedSession } from './watched-session.ts';

export type Tools = BetaToolRunnerParams['tools'];
export type Answer = Awaited<ReturnType<BetaRunnableTool['run']>>;

export const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
export const query = z.object({ q: z.string() });
export const toolNamed = (name: string, run: (input: { q: string }) => Answer | Promise<Answer>) =>
  betaZodTool({ name, description: name, inputSchema: query, run });
export const search = (run: (input: { q: string }) => Answer | Promise<Answer>) => toolNamed('search', run);
export const broken = search(() => Promise.reject(refused));
/** Works once, and then no more. */
export const failing = (answer: Answer) =>
  search(
    vi
      .fn(async () => answer)
      .mockResolvedValueOnce(answer)
      .mockRejectedValue(refused),
  );
export const ask = (q: unknown, tool = 'search') => [{ tool, input: { q } }];

/** Runs the tools to the end of the script; the requests that the API got, and what the model heard. */
export const play = async ({ session }: Watched, tools: Tools, script: readonly ScriptedStep[], more: object = {}) => {
  const { fetch, heard } = scriptedModel(script);
  const requests: { tools?: unknown; messages: { content: unknown }[] }[] = [];
  const client = new Anthropic({
    apiKey: 'none',
    maxRetries: 0,
    fetch: async (input, init) => {
      requests.push(JSON.parse(`${init?.body}`));
      return fetch(input, init);
    },
  });
  const runner = client.beta.messages.toolRunner({
    model: 'claude-sonnet-5',
    max_tokens: 1_000,
    messages: [{ role: 'user', content: 'Go.' }],
    tools: guardTools(tools, session),
    ...more,
  });
  for await (const _ of runner) session.step();
  return { heard: heard(), requests };
};

export const routed = (more: ToolConfig = {}) =>
  watchedSession({
    tools: {
      search: {
        failureThreshold: 1,
        alternatives: [{ tool: 'news', degradation: 'high', note: 'recent items only', adapt: (input) => input }],
        ...more,
      },
      news: { failureThreshold: 1 },
    },
  });
