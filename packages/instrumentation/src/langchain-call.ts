import { typeOf } from './decide.ts';
import type { Judge } from './judging.ts';
import { resumable } from './langchain-interrupts.ts';
import {
  type AnswerForm,
  errorIn,
  errorMessage,
  isControlFlow,
  isGenerator,
  isHandoff,
  isOfServer,
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
import type { CallEnd, KnownEnd, Reading } from './run.ts';
import { type Kitchen, type Manners, runInPlace, runTool, sessionOf } from './run-tool.ts';
import { type Refusal, ToolUnavailableError } from './unavailable.ts';

/** The context that the tools of one agent share. */
export interface ToolKitchen extends Kitchen {
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

/** Asks the session about a call, and runs the work or answers in its place. */
export const callGuarded = async (tool: LangChainTool, kitchen: ToolKitchen, work: Work): Promise<unknown> => {
  const { config, runManager, form } = work;
  const callId = config?.toolCall?.id;
  const call = { ...named(tool, kitchen), input: work.input, callId, signal: config?.signal };
  const { asked, following } = resumable(sessionOf(kitchen), call);
  const run = following(async (signal) => {
    const result = await work.run({ ...config, signal });
    return isGenerator(result) ? await readPieces(result, runManager, signal) : result;
  });
  return runTool(kitchen, { ...call, asked }, ({ signal }) => run(signal), {
    tokens: kitchen.tokens,
    known: knownIn(form),
    label: labelFor(form),
    note: noteFor(form),
    refuse: (permit) => refusal(permit, form, config?.toolCall),
    find: (name) => inPlace(kitchen.sibling(tool, name), kitchen, work),
  } satisfies Manners<unknown>);
};

/** R4. Through the other tool's `invoke`, so that its schema checks the input that `adapt` made. */
const inPlace = (
  other: LangChainTool | undefined,
  kitchen: ToolKitchen,
  { config, runManager }: Work,
): DirectCall | undefined => {
  if (!runsHere(other)) return undefined;
  const child = runManager?.getChild?.();
  const own = { ...config, toolCall: undefined, runName: undefined, ...(child !== undefined && { callbacks: child }) };
  return (input) => {
    const call = { ...named(other, kitchen), input, callId: config?.toolCall?.id, signal: config?.signal };
    const { asked, following } = resumable(sessionOf(kitchen), call);
    const called = asCalled(other, config?.toolCall, input);
    const run = following((signal) => called.invoke(input, { ...own, signal }));
    const reading = { tokens: kitchen.tokens, known: knownIn({}), label: labelContent };
    return runInPlace(kitchen, { ...call, asked }, ({ signal }) => run(signal), reading);
  };
};

/** The tool with the id of its call in the config of its work, which may make messages. `invoke` does not get it: it would make one too. */
const asCalled = (tool: LangChainTool, call: ToolConfig['toolCall'], args: unknown): LangChainTool => {
  if (call === undefined || !leadsToWork(tool)) return tool;
  const toolCall = { ...call, name: tool.name, args };
  return withWork(tool, (input, runManager, config) => tool._call?.(input, runManager, { ...config, toolCall }));
};

const named = (tool: LangChainTool, kitchen: ToolKitchen) => ({
  tool: tool.name,
  group: kitchen.groupOfTool(tool),
  judge: kitchen.judgeOfTool(tool),
  type: typeOf(isOfServer(tool)),
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
const refusal = async (permit: Refusal, form: AnswerForm, call: ToolConfig['toolCall']): Promise<unknown> => {
  if (call === undefined) throw new ToolUnavailableError(permit);
  // A call without an id has no message: ToolNode makes one from the string.
  const message = call.id === undefined ? undefined : await errorMessage(permit.message, call.id, permit.tool);
  const said = message ?? permit.message;
  return form.responseFormat === 'content_and_artifact' ? [said, undefined] : said;
};
