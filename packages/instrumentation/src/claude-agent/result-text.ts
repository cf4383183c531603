import type { PostToolUseFailureHookInput, PostToolUseHookInput } from '@anthropic-ai/claude-agent-sdk';
import { labelled, type Settlement } from '@breakerbox/core';
import { isContent } from '@breakerbox/core/internal';
import type { Rejection } from '../acquire.ts';
import { orUndefined } from '../untrusted.ts';

/** `WebFetch`'s own words for an outage. */
const UNREACHABLE = /^Unable to verify if domain .* is safe to fetch|\bSSL routines:/;

/** The settlement of a call that returned a result. */
export const successOf = ({ tool_response, duration_ms }: PostToolUseHookInput): Settlement => ({
  result: asResult(tool_response),
  durationMs: duration_ms, // Without the time in which a person was asked.
});

/**
 * The settlement of a call that ended with an error. Claude Code gives only its text, whether a tool threw or reported it. So it is
 * judged like a reported error (O2): an outage counts as a failure, a file that does not exist costs nothing.
 */
export const failureOf = (input: PostToolUseFailureHookInput): Settlement => {
  const { tool_input, error, is_interrupt, duration_ms: durationMs } = input;
  if (is_interrupt) return { outcome: 'ignored', category: 'cancelled', durationMs };
  const start = error.slice(0, LONGEST_ERROR);
  const text = orUndefined(() => withoutQuotes(start, tool_input)) ?? start;
  const code = UNREACHABLE.test(text) ? 'ENETUNREACH' : undefined;
  return { result: { isError: true, code, content: [{ type: 'text', text }] }, durationMs };
};

/** Characters of an error that are read. Quotes of the input are removed before the classifier reads its first 4,096. */
const LONGEST_ERROR = 32_000;

/** Many errors quote the model's input. A `Grep` pattern that contains ECONNREFUSED is not an outage. */
const withoutQuotes = (error: string, input: unknown): string =>
  textsIn(input)
    .toSorted((one, other) => other.length - one.length)
    .reduce(withoutQuote, error);

/** The engine searches for longer texts in quadratic time, so of those only the beginning is searched, and the rest compared. */
const HEAD = 250;
const withoutQuote = (text: string, quoted: string): string => {
  if (quoted.length <= HEAD) return text.replaceAll(quoted, '…');
  const head = quoted.slice(0, HEAD);
  let without = '';
  let from = 0;
  for (let at = text.indexOf(head); at >= 0; at = text.indexOf(head, from)) {
    const isWhole = text.startsWith(quoted, at);
    without += text.slice(from, at) + (isWhole ? '…' : head);
    from = at + (isWhole ? quoted.length : HEAD);
  }
  return without + text.slice(from);
};

/** Most strings of an input that are searched in an error, outermost first, because the model decides how many there are. */
const MOST_TEXTS = 1_000;

/** The strings at every depth of an input. Strings of up to 3 characters are left out, because they are in any text. */
const textsIn = (input: unknown): readonly string[] => {
  const texts: string[] = [];
  const found = new Set<unknown>([input]); // The iteration includes elements that are added during it.
  for (const one of found) {
    if (texts.length === MOST_TEXTS) break;
    if (typeof one === 'string' && one.length > 3 && one.length <= LONGEST_ERROR) texts.push(one);
    if (typeof one === 'object' && one !== null) for (const part of Object.values(one)) found.add(part);
  }
  return texts;
};

/** The text that the model reads in place of a result: the last good result (F2), or the rejection. */
export const reasonOf = ({ route, message }: Rejection): string =>
  route?.kind === 'stale' ? asText(labelled(route.result, route.label)) : message;

/** Claude Code gives only the content of an MCP result. */
const asResult = (response: unknown): unknown =>
  orUndefined(() => isContent(response)) ? { content: response } : response;

const asText = (result: unknown): string => {
  if (typeof result === 'string') return result;
  const { content } = result as { readonly content?: unknown };
  if (!isContent(content)) return JSON.stringify(result);
  return content.map(({ type, text }) => (typeof text === 'string' ? text : `[${type}]`)).join('\n');
};
