import { describeFreshness, type FreshnessLabel, labelled } from '@breakerbox/core';
import { annotated, isContent, isPlain } from '@breakerbox/core/internal';
import type { Tool } from 'ai';
import { adviceIn, advisedContent, advisedResult } from './advice.ts';
import { isThenable, orUndefined } from './untrusted.ts';

type ToModelOutput = NonNullable<Tool<unknown, unknown>['toModelOutput']>;
type ModelOutput = Awaited<ReturnType<ToModelOutput>>;

/** A label in the form of `describeFreshness`. */
const LABEL = /^(?:stale|cached|unverified|freshness_unknown): .*retrieved (?:at an unknown time|[-\d]+ [:\d]+ UTC)$/;

/**
 * Core's `labelled`, in a form that {@link unlabelled} can reverse. An object whose only key is `result` would otherwise look like a
 * labelled list.
 */
export const labelForModel: typeof labelled = (result: unknown, label: FreshnessLabel): unknown =>
  orUndefined(() => isPlain(result) && Object.keys(result).join() === 'result')
    ? { result, freshness: describeFreshness(label) }
    : labelled(result, label);

/**
 * The model output of a tool with its own `toModelOutput`, which knows neither labels nor advice: it might drop them, or fail. A result with
 * a label gives the output of the plain result, with the label before it. After a failure, the advice follows (R5).
 *
 * The label and the advice are recognized by the output itself, because a stored conversation may be read by another process.
 */
export const modelOutputOf =
  (toModelOutput: ToModelOutput): ToModelOutput =>
  (given) => {
    const isCall = isPlain(given) && 'toolCallId' in given; // AI SDK 5 and Mastra give the output alone, and AI SDK 5 awaits nothing.
    const output = isCall ? given.output : given;
    const found = orUndefined(() => unlabelled(output));
    const advice = orUndefined(() => adviceIn(output));
    if (found === undefined && advice === undefined) return toModelOutput(given);
    const told = (made: ModelOutput): ModelOutput => {
      const whole = found === undefined ? made : withWords(made, found.words);
      return advice === undefined ? whole : withAdviceAfter(whole, advice);
    };
    const plain = found === undefined ? output : found.result;
    const made = toModelOutput(isCall ? { ...given, output: plain } : (plain as typeof given));
    return isThenable(made) ? made.then(told) : told(made);
  };

interface Unlabelled {
  readonly result: unknown;
  readonly words: string;
}

const unlabelled = (output: unknown): Unlabelled | undefined => {
  if (typeof output === 'string') {
    const end = output.indexOf('\n');
    const words = wordsIn(output.slice(0, Math.max(end, 0)));
    return words === undefined ? undefined : { result: output.slice(end + 1), words };
  }
  if (!isPlain(output)) return undefined;
  if (typeof output.freshness === 'string' && LABEL.test(output.freshness)) {
    const { freshness, ...rest } = output;
    return { result: Object.keys(rest).join() === 'result' ? rest.result : rest, words: freshness };
  }
  const { content } = output;
  const words = isContent(content) ? wordsIn(content[0]?.text) : undefined;
  return words === undefined ? undefined : { result: { ...output, content: (content as unknown[]).slice(1) }, words };
};

/** The words of a label in square brackets. */
const wordsIn = (text: unknown): string | undefined => {
  if (typeof text !== 'string' || !text.startsWith('[') || !text.endsWith(']')) return undefined;
  const words = text.slice(1, -1);
  return LABEL.test(words) ? words : undefined;
};

const withWords = (output: ModelOutput, words: string): ModelOutput => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `[${words}]\n${output.value}` };
    case 'json':
    case 'error-json':
      return { ...output, value: annotated(output.value, 'freshness', words) as typeof output.value };
    case 'content':
      return { ...output, value: [{ type: 'text', text: `[${words}]` }, ...output.value] };
    default:
      return output;
  }
};

const withAdviceAfter = (output: ModelOutput, advice: string): ModelOutput => {
  if (!('value' in output) || adviceIn(output.value) !== undefined) return output;
  const give = output.type === 'content' ? advisedContent : advisedResult;
  return { ...output, value: give(output.value as never, advice) } as ModelOutput;
};
