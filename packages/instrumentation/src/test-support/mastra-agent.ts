import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { Agent, type AgentConfig } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { type BreakerProcessorOptions, breakerHooks, breakerProcessor } from '../mastra/mastra.ts';
import type { Watched } from './watched-session.ts';

process.env.MASTRA_TELEMETRY_DISABLED = '1';

export const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
/** A call of a script. */
export const ask = (q: string, tool = 'search') => ({ tool, input: { q } });

export interface Given {
  readonly abortSignal?: AbortSignal | undefined;
  readonly agent?: {
    readonly resumeData?: unknown;
    readonly suspend: (payload: never) => Promise<unknown>;
  };
}

/** A tool of Mastra. */
export const search = (execute: (input: { q: string }, given: Given) => unknown, more: object = {}) =>
  createTool({
    id: 'search',
    description: 'Searches',
    inputSchema: z.object({ q: z.string() }),
    execute: async (input, given) => execute(input, given as Given),
    ...more,
  });
export const broken = search(() => Promise.reject(refused));

/** How the agent is guarded. */
export const guards = {
  both: ({ session }: Watched, options?: BreakerProcessorOptions) => ({
    hooks: breakerHooks(session),
    inputProcessors: [breakerProcessor(session, options)],
  }),
  hooks: ({ session }: Watched) => ({ hooks: breakerHooks(session) }),
  processor: ({ session }: Watched) => ({ inputProcessors: [breakerProcessor(session)] }),
};

/** An agent on a scripted model, in a Mastra that keeps what is between two runs. */
export const agentOf = (steps: readonly ScriptedStep[], config: Partial<AgentConfig>) => {
  const { model, heard } = scriptedModel(steps);
  const agent = new Agent({
    id: 'agent',
    name: 'Agent',
    instructions: 'You are of use.',
    model: model as MastraModelConfig,
    ...config,
  });
  new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false });
  const system = () =>
    model.doGenerateCalls.map(({ prompt }) =>
      prompt.flatMap((message) => (message.role === 'system' ? [message.content] : [])),
    );
  const offered = () => model.doGenerateCalls.map(({ tools = [] }) => tools.map(({ name }) => name));
  return { agent, model, heard, system, offered };
};

/** Opens the circuit of `search`; by so many steps it is due for a probe. */
export const openSearch = ({ session }: Watched, steps = 0): void => {
  session.acquire('search').settle({ outcome: 'failure', category: 'network' });
  for (let step = 0; step < steps; step += 1) session.step();
};
