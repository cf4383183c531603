import type { Session } from '@breakerbox/core';
import { beginTurn, safely } from '@breakerbox/core/internal';
import type { ProcessInputStepArgs, ProcessInputStepResult, ProcessOutputStepArgs } from '@mastra/core/processors';
import { agentFinder, declareTool, type Rejection, type SessionSource, sessionFinder } from '../acquire.ts';
import { withoutCalls } from '../ai-sdk/without-calls.ts';
import { groupsBy, type ToolGroup, toolGroup } from '../groups.ts';
import { JUDGING, type JudgingOptions, judgesBy } from '../judging.ts';
import { isLastTurn } from '../last-turn.ts';
import { labelForModel, modelOutputOf } from '../model-output.ts';
import { checkOptions, flag, functionGiven, milliseconds } from '../options.ts';
import { overlay } from '../overlay.ts';
import { type AdapterContext, type ResponseFormat, runTool, type ToolExecutor } from '../run-tool.ts';
import { inTurn } from '../running-calls.ts';
import type { CallEnd } from '../settlement.ts';
import { spendStep } from '../spend-answer.ts';
import { type Instructions, steadyNote, withNote, withoutNote } from '../system-note.ts';
import { ToolUnavailableError } from '../unavailable.ts';
import { checkVersion } from '../versions.ts';
import { type CallContext, knownEnd, permitOf, within } from './call-context.ts';

/** Options of {@link breakerProcessor}. */
export interface BreakerProcessorOptions extends JudgingOptions {
  /**
   * Milliseconds that one call of a tool may take. After that, the tool's `abortSignal` fires, the model reads a tool error, and the call
   * counts as a failure. It does not apply to sub-agents and workflows as tools (`agent-…`, `workflow-…`): set it where their own tools
   * are guarded. Default: none. Mastra has no timeout of its own.
   */
  readonly timeoutMs?: number;
  /** Reads the cost of a call in tokens when it ends. Tokens of a failed call are wasted. Default: not known. */
  readonly tokens?: (end: CallEnd<unknown>, tool: string) => number | undefined;
  /**
   * The group of the tools (C13), such as the MCP server or the service behind them: a name for all of them, or a function that gives the
   * group of each by the tool's name. When tools of a group fail in a row, all of the group are skipped, and one probe serves them all.
   * The configuration of a tool takes precedence. Default: none, because Mastra does not tell hooks and processors which MCP
   * server a tool belongs to. With `@mastra/mcp`: `group: (tool) => tools[tool]?.mcpMetadata?.serverName`.
   */
  readonly group?: ToolGroup;
  /** Whether the system prompt says which tools are unavailable, while any are. Default: true. */
  readonly note?: boolean;
  /**
   * Hides unavailable tools from the model. It never hides a tool that is due for a probe, the tool that `toolChoice` names, or all
   * tools. Tool definitions come first in prompt caches, so each change costs the whole cache. Default: false.
   */
  readonly hide?: boolean;
}

/** An input processor of Mastra. */
export interface BreakerProcessor {
  readonly id: 'breakerbox';
  readonly name: 'Breakerbox';
  processInputStep(step: InputStep): ProcessInputStepResult;
  /**
   * Counts what the last answer of a run has used (D3), if the processor is among `outputProcessors` too. All others are counted without that,
   * and those of `guardModels` by the guard.
   */
  processOutputStep(step: OutputStep): OutputStep['messageList'];
}

type InputStep = Pick<
  ProcessInputStepArgs,
  'stepNumber' | 'tools' | 'activeTools' | 'toolChoice' | 'systemMessages' | 'state' | 'steps' | 'model'
>;

type OutputStep = Pick<ProcessOutputStepArgs, 'stepNumber' | 'usage' | 'providerMetadata' | 'state' | 'messageList'>;

/**
 * The input processor of a guarded Mastra agent, used with {@link breakerHooks}. It counts the turns of the model, which probes wait for.
 * It ends calls that take too long. It runs tools in the context of their decision, so that their spans are beneath it. It tells the
 * model in the system prompt which tools are unavailable and what to use instead. If hooks and processor both see a call, the call is
 * decided once.
 *
 * The note comes after the system messages of the agent and of the processors before this one. Only the `system` option of a run comes
 * after it. Its words stay the same while the same tools are unavailable. Without an unavailable tool your messages are unchanged, so a
 * cached prefix stays valid until the note changes. Put this processor last, so that it sees the tools that other processors add. Tools
 * of `prepareStep` come after all processors.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, or the framework is too old.
 *
 * @example
 * ```ts
 * inputProcessors: [breakerProcessor(session, { timeoutMs: 10_000 })],
 * ```
 */
export function breakerProcessor(session: SessionSource, options: BreakerProcessorOptions = {}): BreakerProcessor {
  const where = 'breakerProcessor()';
  checkOptions(where, options, CHECKS);
  checkVersion('@mastra/core', `${where} of @breakerbox/instrumentation/mastra`);
  const { timeoutMs, tokens, note = true, hide = false } = options;
  const groupOf = groupsBy(options.group, where);
  const adapter: AdapterContext = {
    findSession: sessionFinder(session, where),
    where,
    timeoutMs,
    groupOf,
    judgeOf: judgesBy(options, where),
  };
  const findAgent = agentFinder(session, where);
  return {
    id: 'breakerbox',
    name: 'Breakerbox',
    processInputStep: (step) => ({
      ...(step.tools && { tools: guarded(step.tools, adapter, tokens) }),
      // E5: Mastra ends the run for an error of a processor. If there is no session, the tools report it too.
      ...inTurn(`processInputStep of ${where}`, () => {
        const current = findAgent();
        countTurn(current, step);
        spendSteps(current, step);
        for (const [name, tool] of Object.entries(step.tools ?? {})) {
          if (isExecutable(tool)) declareTool(current, name, groupOf(name));
        }
        return {
          ...(note && withSteadyNote(current, step)),
          ...(hide && visible(current, step)),
          ...(isLastTurn(current) && { toolChoice: 'none' as const, model: withoutCalls(step.model) }),
        };
      }),
    }),
    processOutputStep: (step) => {
      safely(`processOutputStep of ${where}`, () => spendLast(findAgent(), step));
      return step.messageList;
    },
  };
}

const CHECKS = { timeoutMs: milliseconds, tokens: functionGiven, group: toolGroup, note: flag, hide: flag, ...JUDGING };

/** Mastra calls this again in the same turn, for example for another model after the first has failed. */
const countTurn = (session: Session, { stepNumber, state }: InputStep): void => {
  if (state.counted === stepNumber) return;
  state.counted = stepNumber;
  beginTurn(session);
};

/** D3: Mastra tells all steps of the run before each turn. The state of the run says how many were counted. */
const spendSteps = (session: Session, { steps = [], state }: Pick<InputStep, 'steps' | 'state'>): void => {
  const spent = spentIn(state);
  for (const one of steps.slice(spent)) spendStep(session, one);
  state.spent = Math.max(spent, steps.length);
};

/** The same for the step that has just ended. */
const spendLast = (session: Session, step: OutputStep): void => {
  if (step.stepNumber < spentIn(step.state)) return;
  spendStep(session, step);
  step.state.spent = step.stepNumber + 1;
};

const spentIn = ({ spent }: InputStep['state']): number => (typeof spent === 'number' ? spent : 0);

interface Executable {
  readonly execute: (input: unknown, context?: CallContext) => unknown;
  readonly toModelOutput?: (output: unknown) => unknown;
}

const isExecutable = (tool: unknown): tool is Executable =>
  typeof (tool as Partial<Executable> | null | undefined)?.execute === 'function';

const guarded = (
  tools: Readonly<Record<string, unknown>>,
  adapter: AdapterContext,
  tokens: BreakerProcessorOptions['tokens'],
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => {
      if (!isExecutable(tool)) return [name, tool];
      const format: ResponseFormat<unknown> = {
        reject,
        label: labelForModel,
        known: knownEnd,
        tokens: tokens && ((end) => tokens(end, name)),
      };
      return [name, guardTool(name, tool, isDelegate(name) ? { ...adapter, timeoutMs: undefined } : adapter, format)];
    }),
  );

/** A sub-agent or a workflow, by Mastra's own rule. They take their time, and each of their tools may have its own timeout. */
const isDelegate = (name: string): boolean => /^(?:agent|workflow)-/.test(name);

const guardTool = (
  name: string,
  tool: Executable,
  adapter: AdapterContext,
  format: ResponseFormat<unknown>,
): Executable => {
  const execute: Executable['execute'] = (input, context = {}) => {
    if (permitOf(context) !== undefined) return tool.execute(input, context); // A processor around this one has decided.
    const callId = context.toolCallId ?? context.agent?.toolCallId;
    const request = { tool: name, input, callId, signal: context.abortSignal };
    const executor: ToolExecutor<unknown> = ({ signal, permit }) =>
      tool.execute(input, within(context, permit, signal));
    return runTool(adapter, request, executor, format);
  };
  const members = new Map<PropertyKey, unknown>([['execute', execute]]);
  const { toModelOutput } = tool;
  if (typeof toModelOutput === 'function')
    members.set('toModelOutput', modelOutputOf(toModelOutput.bind(tool) as never));
  return overlay(tool, members);
};

const reject = (permit: Rejection): never => {
  throw new ToolUnavailableError(permit);
};

const withSteadyNote = (
  session: Session,
  { systemMessages }: InputStep,
): Pick<ProcessInputStepResult, 'systemMessages'> => {
  const plain = withoutNote(systemMessages as Instructions, session);
  const note = steadyNote(session);
  if (note === '' && !plain.noted) return {};
  const messages = [withNote(plain.instructions, note)].flat();
  return { systemMessages: messages.map((one) => (typeof one === 'string' ? { role: 'system', content: one } : one)) };
};

const visible = (
  session: Session,
  { tools = {}, activeTools = Object.keys(tools), toolChoice }: InputStep,
): Pick<ProcessInputStepResult, 'activeTools'> => {
  const out = new Set(session.unavailable());
  const chosen = typeof toolChoice === 'object' ? toolChoice.toolName : undefined;
  const left = activeTools.filter((name) => name === chosen || !out.has(name));
  return left.length === activeTools.length || left.length === 0 ? {} : { activeTools: left };
};
