import type { HookCallbackMatcher, HookEvent, HookInput, SyncHookJSONOutput } from '@anthropic-ai/claude-agent-sdk';
import { ChildLimitError, describeFreshness, type Permit } from '@breakerbox/core';
import { atOnce, safely } from '@breakerbox/core/internal';
import { isRejected, type SessionSource, sessionFinder, toolType } from '../acquire.ts';
import { groupsBy, type ToolGroup, toolGroup } from '../groups.ts';
import { JUDGING, type JudgingOptions, judgesBy, type KnownTool } from '../judging.ts';
import { checkOptions, flag, functionGiven, type OptionCheck, show } from '../options.ts';
import { noteBlock } from '../system-note.ts';
import { checkVersion } from '../versions.ts';
import { background } from './background.ts';
import { type Calls, callsOf } from './conversation-calls.ts';
import type { Hooks } from './merge-hooks.ts';
import { failureOf, reasonOf, successOf } from './result-text.ts';

export { guardQuery } from './breaker-query.ts';
export { type Hooks, mergeHooks } from './merge-hooks.ts';

/** Options of {@link breakerHooks}. */
export interface BreakerHooksOptions extends JudgingOptions {
  /**
   * The name of a tool in circuits, capability map and telemetry. With undefined the tool is not guarded. Default: Claude Code's own
   * name for it, such as `Bash`, or `mcp__docs__search` of the MCP server `docs`.
   *
   * The model needs some tools to answer, ask, plan and manage its tasks, such as `StructuredOutput`, `AskUserQuestion` and
   * `TodoWrite`. They are guarded only if you give them another name, because a paused agent needs them.
   */
  readonly nameOf?: (tool: string) => string | undefined;
  /**
   * The group of a tool (C13), by Claude Code's name for it: a function, or one name for all. When tools of a group fail in a row, all
   * of the group are skipped, and one probe serves them all. The configuration of a tool takes precedence. Default: for a tool of an
   * MCP server the server, such as `docs` of `mcp__docs__search`; for any other tool no group.
   */
  readonly group?: ToolGroup;
  /**
   * The signal of the query's `abortController`. When it fires, Claude Code ends without calling a hook, and the calls under way are
   * given up: they cost nothing, and a probe's place is free again. Without it, the place is taken until the probe's lease
   * ends, unless `guardQuery` sees the end of the query. Default: none.
   */
  readonly signal?: AbortSignal;
  /**
   * Adds a note to each prompt that says which tools are unavailable and what to use instead. Default: `false`, because the note stays
   * in the conversation, and the model is told at its call anyway.
   */
  readonly note?: boolean;
}

/**
 * Hooks for `query` of the Claude Agent SDK that guard all tools: Claude Code's own, such as `Bash` and `WebFetch`, those of MCP
 * servers, and those that sub-agents call. Join them with your own hooks by `mergeHooks`. If you leave the loop of a query early,
 * wrap the query in `guardQuery`.
 *
 * On skip and pause a call is denied: the model reads why, until when, and what to use instead. A tool with `serveStaleMs` gives its
 * last good result for the same arguments there, with a label. The hooks never allow a call: permission rules and `canUseTool` decide
 * as before. A call that is denied by them, by a person or by another hook costs nothing.
 *
 * While the run is paused, the model has one turn to answer after it has read so. If it calls tools again, the query ends (D6).
 *
 * Each turn with tool calls is a step. Each sub-agent has a session of its own beneath that of the conversation (D1), with what it calls. The host of `url` in the input of `WebFetch` and of MCP tools is
 * the key of the call (C14), unless `key` gives another.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, or the framework is too old.
 *
 * @example
 * ```ts
 * for await (const message of query({ prompt, options: { hooks: breakerHooks(session) } })) show(message);
 * ```
 */
export function breakerHooks(session: SessionSource, options: BreakerHooksOptions = {}): Hooks {
  const where = 'breakerHooks()';
  checkOptions(where, options, {
    nameOf: functionGiven,
    group: toolGroup,
    signal: abortSignal,
    note: flag,
    ...JUDGING,
  });
  checkVersion('@anthropic-ai/claude-agent-sdk', `${where} of @breakerbox/instrumentation/claude-agent`);
  const { nameOf = asItIs, note = false, signal } = options;
  const groupOf = groupsBy(options.group, where, serverOf);
  const judgeOf = judgesBy(options, where);
  const findSession = sessionFinder(session, where);
  const inBackground = background();
  const calls = (): Calls => callsOf(findSession());
  const leave = (input: HookInput): undefined => void calls().giveUp(inBackground.leavesWith(input));

  return {
    PreToolUse: on('PreToolUse', (input) => {
      const name = atOnce('nameOf()', nameOf(input.tool_name));
      const tool = name === input.tool_name && CONTROLS.has(name) ? undefined : name;
      if (tool === undefined) return undefined;
      const group = groupOf(input.tool_name);
      const judge = judgeOf(tool, knownTool(input.tool_name));
      const type = toolType(serverOf(input.tool_name) !== undefined);
      const call = { callId: input.tool_use_id, tool, input: input.tool_input, group, judge, type };
      const permissionDecisionReason = rejection(() => calls().acquire(call, input, signal));
      if (permissionDecisionReason === undefined) return undefined;
      return specificOutput({ hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason });
    }),
    PermissionRequest: on('PermissionRequest', (_, callId) => void (callId !== undefined && calls().ask(callId))),
    PostToolUse: on('PostToolUse', (input) => {
      inBackground.started(input);
      const permit = calls().ran(input.tool_use_id, successOf(input));
      const label = permit?.freshness;
      const told = label ? `[${describeFreshness(label)}]` : noteBlock(permit?.message ?? '');
      const additionalContext = [told, noteBlock(permit?.note ?? '')].filter(Boolean).join('\n');
      return additionalContext === '' ? undefined : specificOutput({ hookEventName: 'PostToolUse', additionalContext });
    }),
    // R5: hooks cannot change the text of an error. The model reads this after it.
    PostToolUseFailure: on('PostToolUseFailure', (input) => {
      const additionalContext = noteBlock(calls().ran(input.tool_use_id, failureOf(input))?.message ?? '');
      return additionalContext === ''
        ? undefined
        : specificOutput({ hookEventName: 'PostToolUseFailure', additionalContext });
    }),
    PermissionDenied: on('PermissionDenied', (input) => void calls().deny(input.tool_use_id)),
    // A call that is still under way when all are done never ran: rules, people and other hooks decide after ours.
    PostToolBatch: on('PostToolBatch', (input) => {
      for (const { tool_use_id } of input.tool_calls) calls().deny(tool_use_id);
      return calls().step(input).isLast ? { continue: false, stopReason: PAUSED } : undefined;
    }),
    // After an interruption no hook reports the calls that it ended, but none of them still runs at the next prompt.
    UserPromptSubmit: on('UserPromptSubmit', (input) => {
      if (input.source !== 'poll_event') leave(input); // A poll event has to wait for the calls under way.
      const additionalContext = note ? noteBlock(findSession().note()) : '';
      return additionalContext === ''
        ? undefined
        : specificOutput({ hookEventName: 'UserPromptSubmit', additionalContext });
    }),
    Stop: on('Stop', (input) => {
      inBackground.remain(input);
      return leave(input);
    }),
    StopFailure: on('StopFailure', leave),
    SubagentStop: on('SubagentStop', (input) => {
      inBackground.ended(input.agent_id);
      return leave(input);
    }),
    SessionEnd: on('SessionEnd', leave),
  };
}

/** D6: the model has read the pause, and had a turn to report. */
const PAUSED = 'Breakerbox: tool calls are paused, and the model goes on calling tools. The run ends here.';

/** Why a call may not run; undefined if it may. */
const rejection = (acquire: () => Permit): string | undefined => {
  try {
    const permit = acquire();
    return isRejected(permit) ? reasonOf(permit) : undefined;
  } catch (error) {
    if (error instanceof ChildLimitError) return error.message; // D1: the sub-agent that calls may not begin.
    throw error;
  }
};

/** Tools, of several versions, with which the model answers, asks, plans and manages its work. */
const CONTROLS: ReadonlySet<string> = new Set(
  `StructuredOutput AskUserQuestion EnterPlanMode ExitPlanMode TodoWrite TaskCreate TaskGet TaskList TaskUpdate TaskOutput TaskStop
    ListAgents SendMessage SendUserMessage ReportFindings ScheduleWakeup ToolSearch BashOutput KillShell`.split(/\s+/),
);

/** The MCP server in the name of a tool. */
const serverOf = (tool: string): string | undefined => /^mcp__(.+?)__/.exec(tool)?.[1];

const knownTool = (tool: string): KnownTool => ({ name: tool.replace(/^mcp__.+?__/, '') });

const asItIs = (tool: string): string => tool;

const abortSignal: OptionCheck = (value) =>
  value instanceof AbortSignal
    ? undefined
    : `is ${show(value)}. Set the signal of the query's abortController, or leave it out.`;

type InputOf<Event extends HookEvent> = Extract<HookInput, { readonly hook_event_name: Event }>;

/** One matcher for all tools. An error here never reaches Claude Code (E5). */
const on = <Event extends HookEvent>(
  event: Event,
  handle: (input: InputOf<Event>, callId: string | undefined) => SyncHookJSONOutput | undefined,
): HookCallbackMatcher[] => [
  { hooks: [async (input, id) => safely(`the ${event} hook`, () => handle(input as InputOf<Event>, id)) ?? {}] },
];

type SpecificOutput = NonNullable<SyncHookJSONOutput['hookSpecificOutput']>;

const specificOutput = (hookSpecificOutput: SpecificOutput): SyncHookJSONOutput => ({ hookSpecificOutput });
