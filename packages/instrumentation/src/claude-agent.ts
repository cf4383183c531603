import type { HookCallbackMatcher, HookEvent, HookInput, SyncHookJSONOutput } from '@anthropic-ai/claude-agent-sdk';
import { describeFreshness } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import { agentsOf } from './claude-agent-calls.ts';
import type { Hooks } from './claude-agent-merge.ts';
import { failureOf, reasonOf, successOf } from './claude-agent-words.ts';
import type { HookedCalls } from './hooked-calls.ts';
import { checkOptions, flag, type OptionCheck, reader, show } from './options.ts';
import { type SessionSource, sessionFinder } from './session-source.ts';
import { isRefused } from './unavailable.ts';

export { type Hooks, mergeHooks } from './claude-agent-merge.ts';

/** How the hooks behave. */
export interface BreakerHooksOptions {
  /**
   * The name of a tool in circuits, capability map and telemetry; undefined: this tool is not guarded. Default: the name that
   * Claude Code gives it, such as `Bash`, or `mcp__docs__search` of the MCP server `docs`.
   */
  readonly nameOf?: (tool: string) => string | undefined;
  /**
   * The signal of the query's `abortController`. When it fires, Claude Code ends without a word, and what is on its way is given up:
   * it costs nothing, and a probe's place is free again. Default: none; such a probe then lasts until its lease ends.
   */
  readonly signal?: AbortSignal;
  /**
   * Adds `session.note()` to each prompt: which tools are out, and what to use instead. Default: `false`, for it stays in the
   * conversation; the model is told at its call anyway.
   */
  readonly note?: boolean;
}

/**
 * Hooks for `query` of the Claude Agent SDK that guard all tools: Claude Code's own, such as `Bash` and `WebFetch`, those of
 * MCP servers, and those that sub-agents call. Hooks of your own are joined by `mergeHooks`.
 *
 * On skip and pause a call is denied: the model reads why, until when, and what to use instead. A tool with `serveStaleMs`
 * gives its last good result for the same arguments there, labelled. Nothing is ever allowed: permission rules and
 * `canUseTool` decide as without. A call that they, a person or another hook deny costs nothing.
 *
 * Each turn with tool calls is a step, those of sub-agents too.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is no session.
 *
 * @example
 * ```ts
 * for await (const message of query({ prompt, options: { hooks: breakerHooks(session) } })) show(message);
 * ```
 */
export function breakerHooks(session: SessionSource, options: BreakerHooksOptions = {}): Hooks {
  const where = 'breakerHooks()';
  checkOptions(where, options, { nameOf: reader, signal: abortSignal, note: flag });
  const { nameOf = asItIs, note = false, signal } = options;
  const findSession = sessionFinder(session, where);
  const ofThisQuery = new Set<HookedCalls>();
  signal?.addEventListener('abort', () => {
    for (const calls of ofThisQuery) calls.abandon();
  });

  const callsOf = (input: HookInput): HookedCalls => {
    const calls = agentsOf(findSession()).of(input);
    if (signal !== undefined) ofThisQuery.add(calls);
    return calls;
  };
  const leave = (input: HookInput): undefined => agentsOf(findSession()).leave(input);

  return {
    PreToolUse: on('PreToolUse', (input) => {
      const tool = nameOf(input.tool_name);
      if (tool === undefined) return undefined;
      const permit = callsOf(input).acquire({ callId: input.tool_use_id, tool, input: input.tool_input });
      if (!isRefused(permit)) return undefined;
      const permissionDecisionReason = reasonOf(permit);
      return says({ hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason });
    }),
    PostToolUse: on('PostToolUse', (input) => {
      const permit = callsOf(input).settle(input.tool_use_id, successOf(input));
      const label = permit?.freshness;
      return label && says({ hookEventName: 'PostToolUse', additionalContext: `[${describeFreshness(label)}]` });
    }),
    PostToolUseFailure: on('PostToolUseFailure', (input) => {
      callsOf(input).settle(input.tool_use_id, failureOf(input));
      return undefined;
    }),
    PermissionDenied: on('PermissionDenied', (input) => {
      callsOf(input).settle(input.tool_use_id, DENIED);
      return undefined;
    }),
    // What is on its way still when all are done was never run: rules, people and other hooks decide after us.
    PostToolBatch: on('PostToolBatch', (input) => {
      for (const { tool_use_id } of input.tool_calls) callsOf(input).settle(tool_use_id, DENIED);
      findSession().step();
      return undefined;
    }),
    // After an interruption nobody tells of the calls that it ended, but nothing of theirs runs when somebody speaks again.
    UserPromptSubmit: on('UserPromptSubmit', (input) => {
      leave(input);
      const additionalContext = note ? findSession().note() : '';
      return additionalContext === '' ? undefined : says({ hookEventName: 'UserPromptSubmit', additionalContext });
    }),
    Stop: on('Stop', leave),
    StopFailure: on('StopFailure', leave),
    SubagentStop: on('SubagentStop', leave),
    SessionEnd: on('SessionEnd', (input) => agentsOf(findSession()).end(input)),
  };
}

const DENIED = { outcome: 'ignored', category: 'denied' } as const;

const asItIs = (tool: string): string => tool;

const abortSignal: OptionCheck = (value) =>
  value instanceof AbortSignal
    ? undefined
    : `is ${show(value)}. Set the signal of the query's abortController, or leave it out.`;

type InputOf<Event extends HookEvent> = Extract<HookInput, { readonly hook_event_name: Event }>;

/** One matcher for all tools. What goes wrong here is never Claude Code's business (E5). */
const on = <Event extends HookEvent>(
  event: Event,
  handle: (input: InputOf<Event>) => SyncHookJSONOutput | undefined,
): HookCallbackMatcher[] => [
  { hooks: [async (input) => safely(`the ${event} hook`, () => handle(input as InputOf<Event>)) ?? {}] },
];

type SpecificOutput = NonNullable<SyncHookJSONOutput['hookSpecificOutput']>;

const says = (hookSpecificOutput: SpecificOutput): SyncHookJSONOutput => ({ hookSpecificOutput });
