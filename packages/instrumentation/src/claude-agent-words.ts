import type { PostToolUseFailureHookInput, PostToolUseHookInput } from '@anthropic-ai/claude-agent-sdk';
import { labelled, type Settlement } from '@breakerbox/core';
import { isContent } from '@breakerbox/core/internal';
import { readable } from './readable.ts';
import type { Refusal } from './unavailable.ts';

/** What an outage is to `WebFetch`, in words that are its own. */
const UNREACHABLE = /^Unable to verify if domain .* is safe to fetch|\bSSL routines:/;

/** How a call went that came back. */
export const successOf = ({ tool_response, duration_ms }: PostToolUseHookInput): Settlement => ({
  result: asResult(tool_response),
  durationMs: duration_ms, // Without the time in which a person was asked.
});

/**
 * How a call went that came back with an error. Claude Code has only its text for it, whether a tool threw or reported it; so
 * it is judged as a reported one (O2): one that tells of an outage has failed, one that a file isn't there costs nothing.
 */
export const failureOf = (input: PostToolUseFailureHookInput): Settlement => {
  const { tool_input, error, is_interrupt, duration_ms: durationMs } = input;
  if (is_interrupt) return { outcome: 'ignored', category: 'cancelled', durationMs };
  const text = readable(() => withoutQuotes(error, tool_input)) ?? error;
  const code = UNREACHABLE.test(text) ? 'ENETUNREACH' : undefined;
  return { result: { isError: true, code, content: [{ type: 'text', text }] }, durationMs };
};

/** Many an error quotes what the model asked for: a pattern of `Grep` that speaks of ECONNREFUSED tells of no outage. */
const withoutQuotes = (error: string, input: unknown): string =>
  textsIn(input)
    .toSorted((one, other) => other.length - one.length)
    .reduce((text, quoted) => text.replaceAll(quoted, '…'), error);

/** So many texts of an input are looked for in an error, the topmost: a model may write any number. */
const MOST_TEXTS = 1_000;

/** However deep they stand: a model may nest as deep as it likes. Those of up to 3 characters are in any text. */
const textsIn = (input: unknown): readonly string[] => {
  const texts: string[] = [];
  const found = new Set<unknown>([input]); // A set goes on with what is added to it meanwhile.
  for (const one of found) {
    if (texts.length === MOST_TEXTS) break;
    if (typeof one === 'string' && one.length > 3) texts.push(one);
    if (typeof one === 'object' && one !== null) for (const part of Object.values(one)) found.add(part);
  }
  return texts;
};

/** What the model reads in place of a result: the last good one (F2), or why there is none. */
export const reasonOf = ({ route, message }: Refusal): string =>
  route?.kind === 'stale' ? asText(labelled(route.result, route.label)) : message;

/** Claude Code gives the content of an MCP result without the rest. */
const asResult = (response: unknown): unknown =>
  readable(() => isContent(response)) ? { content: response } : response;

const asText = (result: unknown): string => {
  if (typeof result === 'string') return result;
  const { content } = result as { readonly content?: unknown };
  if (!isContent(content)) return JSON.stringify(result);
  return content.map(({ type, text }) => (typeof text === 'string' ? text : `[${type}]`)).join('\n');
};
