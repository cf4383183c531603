import type { Session } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import type { ProcessInputStepArgs, ProcessInputStepResult } from '@mastra/core/processors';
import { declareTool, groupsBy, type ToolGroup, toolGroup } from './groups.ts';
import { JUDGING, type JudgingOptions, judgesBy } from './judging.ts';
import { type CallContext, knownEnd, permitOf, within } from './mastra-calls.ts';
import { labelForModel, labelledModelOutput } from './model-output.ts';
import { checkOptions, flag, milliseconds, reader } from './options.ts';
import type { CallEnd } from './run.ts';
import { type Cook, type Kitchen, type Manners, runTool } from './run-tool.ts';
import { type SessionSource, sessionFinder } from './session-source.ts';
import { standIn } from './stand-in.ts';
import { type Instructions, steadyNote, withNote, withoutNote } from './system-note.ts';
import { type Refusal, ToolUnavailableError } from './unavailable.ts';
import { checkVersion } from './versions.ts';

/** What the processor does in each turn. */
export interface BreakerProcessorOptions extends JudgingOptions {
  /**
   * Milliseconds that one call of a tool may take. When they are over, the tool's `abortSignal` fires, the model reads a tool
   * error, and it counts as a failure. Sub-agents and workflows as tools (`agent-…`, `workflow-…`) are left their time: set it
   * where their own tools are guarded. Default: none; Mastra has no time-out of its own.
   */
  readonly timeoutMs?: number;
  /** Reads in the end of a call what it cost, in tokens. Those of a failed call are wasted. Default: not known. */
  readonly tokens?: (end: CallEnd<unknown>, tool: string) => number | undefined;
  /**
   * The group of the tools (C13), such as the MCP server or the service behind them: a name for all of them, or a function that gives the
   * group of each by the tool's name. When tools of a group fail in a row, all of the group are skipped, and one probe serves them all.
   * The configuration of a tool comes first. Default: none, for Mastra does not tell which MCP server a tool is of.
   */
  readonly group?: ToolGroup;
  /** Whether the system prompt says what is out, while something is. Default: true. */
  readonly note?: boolean;
  /**
   * Hides tools that are out from the model: never one that is due for a probe, nor the one that `toolChoice` names, nor all of
   * them. Tool definitions come first in prompt caches: each change costs the whole cache. Default: false.
   */
  readonly hide?: boolean;
}

/** An input processor of Mastra. */
export interface BreakerProcessor {
  readonly id: 'breakerbox';
  readonly name: 'Breakerbox';
  processInputStep(step: InputStep): ProcessInputStepResult;
}

type InputStep = Pick<
  ProcessInputStepArgs,
  'stepNumber' | 'tools' | 'activeTools' | 'toolChoice' | 'systemMessages' | 'state'
>;

/**
 * The input processor of a guarded Mastra agent, beside {@link breakerHooks}: counts the turns of the model, which probes wait
 * for; ends calls that take too long; runs tools in the context of their decision, so that their spans stand beneath it; and
 * tells the model in the system prompt which tools are out and what to use instead. Where hooks and processor both see a
 * call, it is decided once.
 *
 * The note stands behind the system messages of the agent and of the processors before this one; only the `system` option of a
 * run comes after it. The same words stay while the same tools are out: as long as nothing is out all is yours to the byte, and
 * a cached prefix holds until something changes. Put it last among the processors, so that it sees the tools that others add:
 * what `prepareStep` adds comes after all of them.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is no session, or the framework is too old.
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
  const kitchen: Kitchen = {
    findSession: sessionFinder(session, where),
    where,
    timeoutMs,
    groupOf,
    judgeOf: judgesBy(options, where),
  };
  return {
    id: 'breakerbox',
    name: 'Breakerbox',
    processInputStep: (step) => ({
      ...(step.tools && { tools: guarded(step.tools, kitchen, tokens) }),
      // E5: Mastra ends the run for what a processor throws. Where there is no session, the tools say so too.
      ...safely(`processInputStep of ${where}`, () => {
        const current = kitchen.findSession();
        countTurn(current, step);
        for (const [name, tool] of Object.entries(step.tools ?? {})) {
          if (isExecutable(tool)) declareTool(current, name, groupOf(name));
        }
        return { ...(note && noted(current, step)), ...(hide && visible(current, step)) };
      }),
    }),
  };
}

const CHECKS = { timeoutMs: milliseconds, tokens: reader, group: toolGroup, note: flag, hide: flag, ...JUDGING };

/** Mastra asks again in the same turn, such as for another model after the first has failed. */
const countTurn = (session: Session, { stepNumber, state }: InputStep): void => {
  if (state.counted === stepNumber) return;
  state.counted = stepNumber;
  session.step();
};

interface Executable {
  readonly execute: (input: unknown, context?: CallContext) => unknown;
  readonly toModelOutput?: (output: unknown) => unknown;
}

const isExecutable = (tool: unknown): tool is Executable =>
  typeof (tool as Partial<Executable> | null | undefined)?.execute === 'function';

const guarded = (
  tools: Readonly<Record<string, unknown>>,
  kitchen: Kitchen,
  tokens: BreakerProcessorOptions['tokens'],
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => {
      if (!isExecutable(tool)) return [name, tool];
      const manners: Manners<unknown> = {
        refuse,
        label: labelForModel,
        known: knownEnd,
        tokens: tokens && ((end) => tokens(end, name)),
      };
      return [name, guardTool(name, tool, isDelegate(name) ? { ...kitchen, timeoutMs: undefined } : kitchen, manners)];
    }),
  );

/** A sub-agent or a workflow, by Mastra's own rule: they take their time, and each of their tools may have a time-out of its own. */
const isDelegate = (name: string): boolean => /^(?:agent|workflow)-/.test(name);

const guardTool = (name: string, tool: Executable, kitchen: Kitchen, manners: Manners<unknown>): Executable => {
  const execute: Executable['execute'] = (input, context = {}) => {
    if (permitOf(context) !== undefined) return tool.execute(input, context); // By a processor around this one.
    const callId = context.toolCallId ?? context.agent?.toolCallId;
    const request = { tool: name, input, callId, signal: context.abortSignal };
    const cook: Cook<unknown> = ({ signal, permit }) => tool.execute(input, within(context, permit, signal));
    return runTool(kitchen, request, cook, manners);
  };
  const members = new Map<PropertyKey, unknown>([['execute', execute]]);
  const { toModelOutput } = tool;
  if (typeof toModelOutput === 'function') members.set('toModelOutput', labelsKept(toModelOutput.bind(tool)));
  return standIn(tool, members);
};

const refuse = (permit: Refusal): never => {
  throw new ToolUnavailableError(permit);
};

/** Mastra gives the output alone, where the AI SDK gives it with the call. */
const labelsKept = (toModelOutput: (output: unknown) => unknown): ((output: unknown) => unknown) => {
  const asTheSdkHasIt = ({ output }: { readonly output: unknown }): unknown => toModelOutput(output);
  const kept = labelledModelOutput(asTheSdkHasIt as Parameters<typeof labelledModelOutput>[0]);
  return (output) => kept({ output } as Parameters<typeof kept>[0]);
};

const noted = (session: Session, { systemMessages }: InputStep): Pick<ProcessInputStepResult, 'systemMessages'> => {
  const plain = withoutNote(systemMessages as Instructions, session);
  const said = steadyNote(session);
  if (said === '' && !plain.noted) return {};
  const messages = [withNote(plain.instructions, said)].flat();
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
