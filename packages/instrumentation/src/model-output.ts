import { describeFreshness, type FreshnessLabel, labelled } from '@breakerbox/core';
import { annotated, isContent, isPlain } from '@breakerbox/core/internal';
import type { Tool } from 'ai';
import { orUndefined } from './untrusted.ts';

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
 * The model output of a tool with its own `toModelOutput`. For a result with a label it is the model output of the plain result, with the
 * label before it. The tool's function does not know labels: it might drop them, or fail.
 *
 * The label is recognized by the output itself, because a stored conversation may be read by another process.
 */
export const labelledModelOutput =
  (toModelOutput: ToModelOutput): ToModelOutput =>
  (given) => {
    const found = orUndefined(() => unlabelled(given.output));
    if (found === undefined) return toModelOutput(given);
    const { result, words } = found;
    return (async () => withWords(await toModelOutput({ ...given, output: result }), words))();
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
