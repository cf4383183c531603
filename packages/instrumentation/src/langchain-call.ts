import type { Settlement } from '@breakerbox/core';
import { resumable } from './langchain-interrupts.ts';
import {
  type AnswerForm,
  errorIn,
  errorMessage,
  isControlFlow,
  isGenerator,
  isHandoff,
  type LangChainTool,
  labelContent,
  labelFor,
  mcpErrorIn,
  noteFor,
  type RunManager,
  readPieces,
  runsHere,
  type ToolConfig,
} from './langchain-shapes.ts';
import { leadsToWork, withWork } from './langchain-stand.ts';
import type { DirectCall } from './otherwise.ts';
import { type CallEnd, costOf } from './run.ts';
import { type Cook, type Kitchen, type Manners, runInPlace, runTool, sessionOf } from './run-tool.ts';
import { type Refusal, ToolUnavailableError } from './unavailable.ts';

/** What the tools of one agent share. */
export interface ToolKitchen extends Kitchen {
  readonly tokens: ((end: CallEnd<unknown>) => number | undefined) | undefined;
  /** The tool of that name which the agent has beside this one, and which may be called in its place. */
  sibling(tool: LangChainTool, name: string): LangChainTool | undefined;
  /** The group that a tool is in. */
  groupOfTool(tool: LangChainTool): string | undefined;
}

/** One call of a tool's work, as LangChain makes it. */
export interface Work {
  readonly input: unknown;
  readonly config: ToolConfig | undefined;
  readonly runManager?: RunManager | undefined;
  /** How LangChain reads what the work gives. */
  readonly form: AnswerForm;
  readonly run: (config: ToolConfig) => unknown;
}

/** Asks the session about a call, and makes it or answers in its place. */
export const callGuarded = async (tool: LangChainTool, kitchen: ToolKitchen, work: Work): Promise<unknown> => {
  const { config, runManager, form } = work;
  const callId = config?.toolCall?.id;
  const group = kitchen.groupOfTool(tool);
  const call = { tool: tool.name, group, input: work.input, callId, signal: config?.signal };
  const { asked, following } = resumable(sessionOf(kitchen), call);
  const cook = following(async (signal) => {
    const result = await work.run({ ...config, signal });
    return isGenerator(result) ? await readPieces(result, runManager, signal) : result;
  });
  return runTool(kitchen, { ...call, asked }, steered(kitchen, cook), {
    tokens: kitchen.tokens,
    evidence: (result) => errorIn(form, result),
    label: labelFor(form),
    note: noteFor(form),
    refuse: (permit) => refusal(permit, form, config?.toolCall),
    find: (name) => inPlace(kitchen.sibling(tool, name), kitchen, work),
  } satisfies Manners<unknown>);
};

/** R4. Through the other tool's `invoke`, so that its schema looks at what `adapt` made. */
const inPlace = (
  other: LangChainTool | undefined,
  kitchen: ToolKitchen,
  { config, runManager }: Work,
): DirectCall | undefined => {
  if (!runsHere(other)) return undefined;
  const child = runManager?.getChild?.();
  const own = { ...config, toolCall: undefined, runName: undefined, ...(child !== undefined && { callbacks: child }) };
  return (input) => {
    const group = kitchen.groupOfTool(other);
    const call = { tool: other.name, group, input, callId: config?.toolCall?.id, signal: config?.signal };
    const { asked, following } = resumable(sessionOf(kitchen), call);
    const called = asCalled(other, config?.toolCall, input);
    const cook = following((signal) => called.invoke(input, { ...own, signal }));
    const reading = { tokens: kitchen.tokens, evidence: (result: unknown) => errorIn({}, result), label: labelContent };
    return runInPlace(kitchen, { ...call, asked }, steered(kitchen, cook), reading);
  };
};

/** The work of tools reads the id of its call, for messages of its own. `invoke` is not told: it would make a message. */
const asCalled = (tool: LangChainTool, call: ToolConfig['toolCall'], args: unknown): LangChainTool => {
  if (call === undefined || !leadsToWork(tool)) return tool;
  const toolCall = { ...call, name: tool.name, args };
  return withWork(tool, (input, runManager, config) => tool._call?.(input, runManager, { ...config, toolCall }));
};

/** Settles here what is none of the tool's failures, though it was thrown. */
const steered =
  ({ tokens }: ToolKitchen, work: (signal: AbortSignal) => unknown): Cook<unknown> =>
  async ({ signal, permit }) => {
    try {
      return await work(signal);
    } catch (error) {
      const settlement = settlementOf(error);
      if (settlement) permit.settle({ ...settlement, tokens: costOf(permit.tool, tokens, { error }) });
      throw error;
    }
  };

const settlementOf = (error: unknown): Settlement | undefined => {
  if (isHandoff(error)) return { outcome: 'success' };
  // Costs nothing, and takes no probe with it (C8).
  if (isControlFlow(error)) return { outcome: 'ignored', category: 'cancelled' };
  const result = mcpErrorIn(error);
  return result === undefined ? undefined : { result };
};

/** What the model reads. A program that called without a model is told by an error. */
const refusal = async (permit: Refusal, form: AnswerForm, call: ToolConfig['toolCall']): Promise<unknown> => {
  if (call === undefined) throw new ToolUnavailableError(permit);
  // A call without an id has no message: ToolNode makes one of the text.
  const message = call.id === undefined ? undefined : await errorMessage(permit.message, call.id, permit.tool);
  const said = message ?? permit.message;
  return form.responseFormat === 'content_and_artifact' ? [said, undefined] : said;
};
