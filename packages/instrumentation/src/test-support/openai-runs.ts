import { scriptedModel } from '@breakerbox/scripted-models/openai-agents';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import {
  Agent,
  type AgentConfiguration,
  type MCPServerStdio,
  type NonStreamRunOptions,
  Runner,
  type Tool,
} from '@openai/agents';

export const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });

/** A call of a script. */
export const ask = (q: unknown, tool = 'search') => ({ tool, input: { q } });

/** No traces: they would be sent to OpenAI. */
export const runner = new Runner({ tracingDisabled: true });

/** Runs an agent to the end of the script; what it said last, and what it heard of all its tools. */
export const runAgent = async (
  tools: readonly Tool[],
  steps: readonly ScriptedStep[],
  more: Partial<AgentConfiguration> & { readonly options?: NonStreamRunOptions<undefined> } = {},
) => {
  const { options, ...configuration } = more;
  const { model, heard } = scriptedModel(steps);
  const agent = new Agent({ name: 'researcher', model, tools: [...tools], ...configuration });
  const result = await runner.run(agent, 'go', options);
  return { text: result.finalOutput, heard: heard(), result };
};

/** The transport of a server on stdio, which the SDK keeps to itself. */
export const transportOf = (server: MCPServerStdio) => {
  const { underlying } = server as unknown as {
    underlying: { transport: { readonly pid: number; send(message: unknown): Promise<void> } };
  };
  return underlying.transport;
};
