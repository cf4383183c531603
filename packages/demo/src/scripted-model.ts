import { setTimeout as wait } from 'node:timers/promises';
import { MockLanguageModelV4 } from 'ai/test';
import type { Plan } from './plan.ts';
import type { Service } from './services.ts';

type GenerateOptions = MockLanguageModelV4['doGenerateCalls'][number];
type GenerateResult = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;

/** The result of a tool call, as the model reads it in its prompt. */
interface Reading {
  readonly callId: string;
  readonly tool: string;
  readonly failed: boolean;
  readonly text: string;
}

/** How the model behaves. */
export interface ScriptedModelOptions {
  /** Milliseconds that each step takes. */
  readonly thinkMs: number;
  /** `PROVIDER/MODEL`. Default: a name of the demo. */
  readonly model?: string;
  /** Its provider, which is asked before each step. Default: none. */
  readonly provider?: Service;
  /** Called for each result with a stale label, with the words of the label. */
  onStale?(tool: string, label: string): void;
}

/** The words that this model reacts to. They are Breakerbox's own, and each is tested. */
const PAUSED = /tool calls are paused/i;
const UNAVAILABLE = /Tool '[^']+' is unavailable/;
const USE_INSTEAD = /\bUse '([^']+)' instead/;
const STALE = /\bstale: retrieved [^"\]]+/;
const IN_PLACE = /answered by '[^']+' in place of/;

/**
 * A model that follows a plan instead of an LLM: the AI SDK's own fake. At each step it reads the results of its last calls, and calls
 * the next two tools. If it reads of another tool, it calls that one with the same arguments. If it reads that tool calls are paused,
 * it stops.
 */
export const scriptedModel = (
  plan: Plan,
  { thinkMs, onStale, model = 'breakerbox-demo/scripted', provider }: ScriptedModelOptions,
): MockLanguageModelV4 => {
  const [providerName = '', modelId = ''] = model.split('/');
  const read = ({ callId, tool, failed, text }: Reading): void => {
    const [, other] = (failed && USE_INSTEAD.exec(text)) || [];
    const [label] = (!failed && STALE.exec(text)) || [];
    if (label !== undefined) onStale?.(tool, label);
    if (other !== undefined) plan.callInstead(callId, other);
    else if (failed) plan.settle(callId, UNAVAILABLE.test(text) ? 'rejected' : 'failed');
    else plan.settle(callId, label !== undefined || IN_PLACE.test(text) ? 'fallback' : 'answered');
  };
  return new MockLanguageModelV4({
    provider: providerName,
    modelId,
    doGenerate: async (options) => {
      if (provider !== undefined) await ask(provider, options.abortSignal);
      await wait(thinkMs, undefined, { ...(options.abortSignal && { signal: options.abortSignal }) });
      const readings = lastReadings(options);
      for (const reading of readings) read(reading);
      if (readings.some(({ text }) => PAUSED.test(text))) return says('I stop here, because tool calls are paused.');
      const calls = plan.next();
      if (calls.length > 0) return callsTools(calls);
      return says(plan.done ? 'All done.' : 'I can do nothing now, because all remaining tasks are deferred.');
    },
  });
};

/** A provider that fails does so before its model reads anything. */
const ask = async ({ url }: Service, signal: AbortSignal | undefined): Promise<void> => {
  const response = await fetch(url, { ...(signal && { signal }) });
  await response.body?.cancel();
  if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { statusCode: response.status });
};

const lastReadings = ({ prompt }: GenerateOptions): readonly Reading[] => {
  const latest = prompt.at(-1);
  if (latest?.role !== 'tool') return [];
  return latest.content
    .filter((part) => part.type === 'tool-result')
    .map(({ toolCallId, toolName, output }) => {
      const text = JSON.stringify(output);
      // MCP reports errors with `isError` in a result, where other tools throw.
      const failed = output.type.startsWith('error') || text.includes('"isError":true');
      return { callId: toolCallId, tool: toolName, failed, text };
    });
};

const USAGE: GenerateResult['usage'] = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

const says = (text: string): GenerateResult => ({
  content: [{ type: 'text', text }],
  finishReason: { unified: 'stop', raw: undefined },
  usage: USAGE,
  warnings: [],
});

const callsTools = (calls: ReturnType<Plan['next']>): GenerateResult => ({
  content: calls.map(({ id, tool, input }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: tool,
    input: JSON.stringify(input),
  })),
  finishReason: { unified: 'tool-calls', raw: undefined },
  usage: USAGE,
  warnings: [],
});
