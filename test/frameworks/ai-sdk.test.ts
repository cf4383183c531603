import { OpenTelemetry } from '@ai-sdk/otel';
import {
  type BreakerTelemetry,
  breakerPrepareStep,
  breakerTelemetry,
  guardTools,
} from '@breakerbox/instrumentation/ai-sdk';
import { type ScriptedModel, scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import * as newest from 'ai';
import type { MockLanguageModelV4 } from 'ai/test';
import * as five from 'ai-5';
import * as six from 'ai-6';
import { MockLanguageModelV3 } from 'ai-6/test';
import * as oldest from 'ai-oldest';
import * as oldestTest from 'ai-oldest/test';
import { z } from 'zod';
import { ModelOf5 } from './ai-5.ts';
import { contract } from './contract.ts';
import type { AgentEnd, AgentRun, Harness } from './harness.ts';

type Model = InstanceType<typeof MockLanguageModelV4>;
/** Versions differ in their types, but not in the parts that these tests use. */
type Sdk = typeof newest;

interface Version {
  readonly name: string;
  readonly sdk: Sdk;
  readonly model: (steps: AgentRun['script']) => ScriptedModel<Model>;
}

const versions = {
  newest: { name: 'AI SDK 7.0.173', sdk: newest, model: scriptedModel },
  oldest: {
    name: 'AI SDK 7.0.0',
    sdk: oldest as unknown as Sdk,
    model: (steps) => scriptedModel(steps, oldestTest.MockLanguageModelV4 as unknown as typeof MockLanguageModelV4),
  },
  six: {
    name: 'AI SDK 6.0.0',
    sdk: { ...six, isStepCount: six.stepCountIs } as unknown as Sdk,
    model: (steps) => scriptedModel(steps, MockLanguageModelV3 as unknown as typeof MockLanguageModelV4),
  },
  five: {
    name: 'AI SDK 5.0.30',
    sdk: { ...five, isStepCount: five.stepCountIs } as unknown as Sdk,
    model: (steps) => scriptedModel(steps, ModelOf5 as unknown as typeof MockLanguageModelV4),
  },
} satisfies Record<string, Version>;

/** Guards the settings of a call, as the docs tell users to. */
type Guard = (tools: newest.ToolSet, run: AgentRun) => Settings;
type Settings = Pick<Parameters<typeof newest.generateText>[0], 'tools' | 'prepareStep' | 'telemetry'>;

const told = ({ servers, judging }: AgentRun) => ({
  ...judging,
  ...(servers && { group: (tool: string) => servers[tool] }),
});

const byTools: Guard = (tools, run) => ({
  tools: guardTools(tools, run.session, {
    inPlace: ['news'],
    toolApproval: {},
    ...(run.timeoutMs !== undefined && { timeoutMs: run.timeoutMs }),
    ...told(run),
  }),
  prepareStep: breakerPrepareStep(run.session),
  telemetry: { integrations: [new OpenTelemetry()] },
});

/** Both ways at once: `guardTools` decides, and telemetry counts. */
const byBoth: Guard = (tools, run) => ({
  ...byTools(tools, run),
  telemetry: { integrations: [breakerTelemetry(run.session), new OpenTelemetry()] },
});

const byTelemetry: Guard = (tools, run) => ({
  tools,
  telemetry: {
    integrations: [breakerTelemetry(run.session, told(run)) satisfies BreakerTelemetry, new OpenTelemetry()],
  },
});

type Loop = (sdk: Sdk, settings: Parameters<typeof newest.generateText>[0]) => Promise<LoopEnd>;

interface LoopEnd {
  readonly text: string;
  readonly content: readonly { readonly type: string; readonly approvalId?: string }[];
  readonly messages: newest.ModelMessage[];
}

const generating: Loop = async ({ generateText }, settings) => {
  const { text, content, response } = await generateText(settings);
  return { text, content, messages: response.messages };
};

const streaming: Loop = async ({ streamText }, settings) => {
  const result = streamText({ ...settings, onError: () => {} });
  const [text, content, { messages }] = await Promise.all([result.text, result.content, result.response]);
  return { text, content, messages };
};

const agent: Loop = async ({ ToolLoopAgent }, { prompt, messages, abortSignal, timeout, ...settings }) => {
  const looping = new ToolLoopAgent<never, newest.ToolSet>(settings as never);
  const call = { abortSignal, timeout, ...(prompt === undefined ? { messages } : { prompt }) };
  const { text, content, response } = await looping.generate(call as never);
  return { text, content, messages: response.messages };
};

const runIn =
  ({ sdk, model }: Version, loop: Loop, guard: Guard) =>
  async (run: AgentRun): Promise<AgentEnd> => {
    const { script, tools: bodies, deny = [], approve = [], signal, frameworkTimeoutMs } = run;
    const tools = Object.fromEntries(
      Object.entries(bodies).map(([name, body]) => {
        const execute = (input: { q: string }, { abortSignal }: { abortSignal?: AbortSignal }) =>
          body(input, abortSignal);
        const inputSchema = z.object({ q: z.string() });
        const needsApproval = [...deny, ...approve].includes(name);
        return [name, sdk.tool({ inputSchema, execute, ...(needsApproval && { needsApproval }) } as never)];
      }),
    ) as newest.ToolSet;
    const scripted = model(script);
    const settings = {
      ...guard(tools, run),
      model: scripted.model,
      stopWhen: sdk.isStepCount(20),
      ...(signal && { abortSignal: signal }),
      // Long beside the rest of the run: the limit of the run would look the same otherwise (O10).
      ...(frameworkTimeoutMs !== undefined && { timeout: { toolMs: 5 * frameworkTimeoutMs } }),
    };
    const first = await loop(sdk, { ...settings, prompt: 'go' });
    const asked = first.content.flatMap(({ approvalId }) => (approvalId === undefined ? [] : [approvalId]));
    if (asked.length === 0) return { text: first.text, heard: scripted.heard() };
    const messages: newest.ModelMessage[] = [
      { role: 'user', content: 'go' },
      ...first.messages,
      {
        role: 'tool',
        content: asked.map((approvalId) => ({
          type: 'tool-approval-response',
          approvalId,
          approved: deny.length === 0,
        })),
      },
    ];
    const { text } = await loop(sdk, { ...settings, messages });
    return { text, heard: scripted.heard() };
  };

const inBand = (error: string) => ({ error });
const nativeSpan = (tool: string) => `execute_tool ${tool}`;

const harness = (version: Version, loop: Loop, guard: Guard, where: string, lacks: Harness['lacks'] = {}): Harness => ({
  framework: `${version.name}, ${where}`,
  run: runIn(version, loop, guard),
  inBand,
  ...(lacks.nativeSpan === undefined && { nativeSpan }),
  lacks,
});

const responses = 'AI SDK 5 and 6, and streams of 7.0.0, end with an error after a tool has returned a Response.';

const lacksOfStreams = (version: Version): Harness['lacks'] =>
  version === versions.oldest ? { callersSignal: 'Its streams leave a listener on the signal.', responses } : {};

for (const version of [versions.newest, versions.oldest]) {
  contract(harness(version, generating, byTools, 'generateText'));
  contract(harness(version, streaming, byTools, 'streamText', lacksOfStreams(version)));
}
contract(harness(versions.newest, agent, byTools, 'ToolLoopAgent'));
const lacksOf6 = {
  responses,
  nativeSpan: 'The span of AI SDK 6 is called ai.toolCall.',
  frameworkTimeout: 'AI SDK 6.0 has no time-out for tools.',
};
contract(harness(versions.six, generating, byTools, 'generateText', lacksOf6));
contract(harness(versions.six, streaming, byTools, 'streamText', lacksOf6));
contract(harness(versions.six, agent, byTools, 'ToolLoopAgent', lacksOf6));
const lacksOf5 = {
  responses,
  nativeSpan: 'The span of AI SDK 5 is called ai.toolCall.',
  frameworkTimeout: 'AI SDK 5 has no time-out for tools.',
  approval: 'AI SDK 5 has no approval of tool calls.',
};
contract(harness(versions.five, generating, byTools, 'generateText', lacksOf5));
contract(harness(versions.five, streaming, byTools, 'streamText', lacksOf5));

const NO_SIGNAL =
  "A telemetry integration does not get a tool's signal, so the loop waits for a tool that ignores the signal.";
const lacksOfTelemetry = {
  inPlace: 'A telemetry integration cannot call another tool.',
  timeoutMs: 'A telemetry integration cannot end a tool.',
  note: 'A telemetry integration cannot change a result.',
  frameworkTimeout: NO_SIGNAL,
  abort: NO_SIGNAL,
};
for (const version of [versions.newest, versions.oldest]) {
  // Later versions report the abort of a stream, even if its tools ignore it.
  const { abort, ...rest } = lacksOfTelemetry;
  const streamed = { ...rest, ...lacksOfStreams(version), ...(version === versions.oldest && { abort }) };
  contract(harness(version, generating, byTelemetry, 'generateText with breakerTelemetry', lacksOfTelemetry));
  contract(harness(version, streaming, byTelemetry, 'streamText with breakerTelemetry', streamed));
  contract(harness(version, agent, byTelemetry, 'ToolLoopAgent with breakerTelemetry', lacksOfTelemetry));
  contract(harness(version, generating, byBoth, 'generateText with both'));
  contract(harness(version, streaming, byBoth, 'streamText with both', lacksOfStreams(version)));
}
