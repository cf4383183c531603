import { read } from '@breakerbox/core/internal';
import { type Rejection, toolType } from '../acquire.ts';
import type { DirectCall } from '../fallback.ts';
import type { Judge } from '../judging.ts';
import {
  type AdapterContext,
  type ResponseFormat,
  ranUntil,
  runAlternative,
  runTool,
  sessionOfAdapter,
  type ToolRequest,
} from '../run-tool.ts';
import type { CallEnd, KnownEnd, Reading } from '../settlement.ts';
import { ToolUnavailableError } from '../unavailable.ts';
import { resumable } from './interrupts.ts';
import {
  type AnswerForm,
  adviseAnswer,
  errorIn,
  errorMessage,
  isControlFlow,
  isGenerator,
  isHandoff,
  isOfServer,
  type LangChainTool,
  labelContent,
  labelFor,
  mayInterrupt,
  mcpErrorIn,
  noteFor,
  type RunManager,
  readPieces,
  runsHere,
  type ToolConfig,
} from './shapes.ts';
import { leadsToWork, withWork } from './tool-proxy.ts';

/** The context that the tools of one agent share. */
export interface LangChainContext extends AdapterContext {
  readonly tokens: ((end: CallEnd<unknown>) => number | undefined) | undefined;
  /** The tool of that name that the agent has beside this one, if it may be called in its place. */
  sibling(tool: LangChainTool, name: string): LangChainTool | undefined;
  /** The group of a tool. */
  groupOfTool(tool: LangChainTool): string | undefined;
  judgeOfTool(tool: LangChainTool): Judge;
}

/** One call of a tool's work, as LangChain makes it. */
export interface Work {
  readonly input: unknown;
  readonly config: ToolConfig | undefined;
  readonly runManager?: RunManager | undefined;
  /** How LangChain reads the result of the work. */
  readonly form: AnswerForm;
  readonly run: (config: ToolConfig) => unknown;
}

/**
 * The signal of a call, and whose its limit is (O10): the tool's is in its own config. LangChain keeps that of a run in its metadata;
 * half of it is enough, from 5 s.
 */
const limitsOf = (tool: LangChainTool, config: ToolConfig | undefined): Pick<ToolRequest, 'signal' | 'isOwnLimit'> => {
  const ownMs = read(read(tool, 'defaultConfig'), 'timeout');
  const runMs = config?.metadata?.timeoutMs;
  const isOwnLimit = (ranMs: number): boolean =>
    (typeof ownMs === 'number' && ranUntil(ownMs, ranMs)) ||
    (typeof runMs === 'number' && ranMs >= Math.max(5_000, runMs / 2));
  return { signal: config?.signal, isOwnLimit };
};

/** Asks the session about a call, and runs the work or answers in its place. */
export const callGuarded = async (tool: LangChainTool, adapter: LangChainContext, work: Work): Promise<unknown> => {
  const { config, runManager, form } = work;
  const callId = config?.toolCall?.id;
  const call = { ...named(tool, adapter), input: work.input, callId, ...limitsOf(tool, config) };
  const { asked, following } = resumable(sessionOfAdapter(adapter), call);
  const run = following(async (signal) => {
    const result = await work.run({ ...config, signal });
    return isGenerator(result) ? await readPieces(result, runManager, signal) : result;
  });
  return runTool(adapter, { ...call, asked }, ({ signal }) => run(signal), {
    tokens: adapter.tokens,
    known: knownIn(form),
    label: labelFor(form),
    note: noteFor(form),
    advise: { result: (result, advice) => adviseAnswer(form, result, advice) },
    reject: (permit) => rejectionMessage(permit, form, config?.toolCall),
    find: (name) => inPlace(adapter.sibling(tool, name), adapter, work),
  } satisfies ResponseFormat<unknown>);
};

/** R4. Through the other tool's `invoke`, so that its schema checks the input that `adapt` made. */
const inPlace = (
  other: LangChainTool | undefined,
  adapter: LangChainContext,
  { config, runManager }: Work,
): DirectCall | undefined => {
  if (!runsHere(other) || mayInterrupt(read(config?.context, 'interruptOn'), other.name)) return undefined;
  const child = runManager?.getChild?.();
  const own = { ...config, toolCall: undefined, runName: undefined, ...(child !== undefined && { callbacks: child }) };
  return (input, usualMs) => {
    const call = { ...named(other, adapter), input, callId: config?.toolCall?.id, ...limitsOf(other, config) };
    const { asked, following } = resumable(sessionOfAdapter(adapter), call);
    const called = asCalled(other, config?.toolCall, input);
    const run = following((signal) => called.invoke(input, { ...own, signal }));
    const reading = { tokens: adapter.tokens, known: knownIn({}), label: labelContent };
    return runAlternative(adapter, { ...call, asked }, ({ signal }) => run(signal), reading, usualMs);
  };
};

/** The tool with the id of its call in the config of its work, which may make messages. `invoke` does not get it: it would make one too. */
const asCalled = (tool: LangChainTool, call: ToolConfig['toolCall'], args: unknown): LangChainTool => {
  if (call === undefined || !leadsToWork(tool)) return tool;
  const toolCall = { ...call, name: tool.name, args };
  return withWork(tool, (input, runManager, config) => tool._call?.(input, runManager, { ...config, toolCall }));
};

const named = (tool: LangChainTool, adapter: LangChainContext) => ({
  tool: tool.name,
  group: adapter.groupOfTool(tool),
  judge: adapter.judgeOfTool(tool),
  type: toolType(isOfServer(tool)),
});

/** The error that LangChain reports in a result, or a thrown error that is not a failure of the tool. */
const knownIn =
  (form: AnswerForm): Reading['known'] =>
  (end) =>
    'error' in end ? thrownIn(end.error) : answerOf(errorIn(form, end.result));

const thrownIn = (error: unknown): KnownEnd | undefined => {
  if (isHandoff(error)) return { outcome: 'success' };
  // Costs nothing, and does not use up a probe (C8).
  return isControlFlow(error) ? { outcome: 'ignored', category: 'cancelled' } : answerOf(mcpErrorIn(error));
};

const answerOf = (result: unknown): KnownEnd | undefined => (result === undefined ? undefined : { result });

/** The text that the model reads. A program that called without a model gets an error. */
const rejectionMessage = async (
  permit: Rejection,
  form: AnswerForm,
  call: ToolConfig['toolCall'],
): Promise<unknown> => {
  if (call === undefined) throw new ToolUnavailableError(permit);
  // A call without an id has no message: ToolNode makes one from the string.
  const message = call.id === undefined ? undefined : await errorMessage(permit.message, call.id, permit.tool);
  const text = message ?? permit.message;
  return form.responseFormat === 'content_and_artifact' ? [text, undefined] : text;
};
