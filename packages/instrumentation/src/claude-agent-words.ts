import type { PostToolUseFailureHookInput, PostToolUseHookInput } from '@anthropic-ai/claude-agent-sdk';
import { labelled, type Settlement } from '@breakerbox/core';
import { isContent } from '@breakerbox/core/internal';
import type { Refusal } from './unavailable.ts';

/** Those whose failing is what a command had to say: they themselves work. */
const SHELLS: ReadonlySet<string> = new Set(['Bash', 'PowerShell']);
const COMMAND_FAILED = /^Exit code \d/;

/** How a call went that came back. */
export const successOf = ({ tool_response }: PostToolUseHookInput): Settlement => ({ result: asResult(tool_response) });

/**
 * How a call went that came back with an error. Claude Code has only its text for it, whether a tool threw or reported it; so
 * it is judged as a reported one (O2): one that tells of an outage has failed, one that a file isn't there costs nothing.
 */
export const failureOf = ({ tool_name, error, is_interrupt }: PostToolUseFailureHookInput): Settlement => {
  if (is_interrupt) return { outcome: 'ignored', category: 'cancelled' };
  // Whatever the command said: three tests that fail with '503' must not take the shell away.
  if (SHELLS.has(tool_name) && COMMAND_FAILED.test(error)) return { outcome: 'ignored', category: 'tool_error' };
  return { result: { isError: true, content: [{ type: 'text', text: error }] } };
};

/** What the model reads in place of a result: the last good one (F2), or why there is none. */
export const reasonOf = ({ route, message }: Refusal): string =>
  route?.kind === 'stale' ? asText(labelled(route.result, route.label)) : message;

/** Claude Code gives the content of an MCP result without the rest. */
const asResult = (response: unknown): unknown => (isContent(response) ? { content: response } : response);

const asText = (result: unknown): string => {
  if (typeof result === 'string') return result;
  const { content } = result as { readonly content?: unknown };
  if (!isContent(content)) return JSON.stringify(result);
  return content.map(({ type, text }) => (typeof text === 'string' ? text : `[${type}]`)).join('\n');
};
