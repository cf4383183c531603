import type { Classification } from './classify/classify.ts';

/** What is known of an error that nothing could explain. */
export type Unexplained = NonNullable<Classification['unexplained']>;

/** O8: the errors of a tool that nothing could explain. Digests alone, at most 6. */
export interface UnexplainedErrors {
  /** Of their text, without literals and digits. */
  readonly text: string;
  /** Of the inputs that they came for, until there are enough. */
  readonly inputs: readonly string[];
  /** They came for enough different inputs. */
  readonly isUnusable: boolean;
}

/** Different inputs of which all must have failed. A tool that works may reject several: an error that cannot be about the request is stronger. */
const leastInputs = (ofTool: boolean | undefined): number => (ofTool === true ? 4 : 6);

/**
 * Notes an unexplained error of a tool that has never succeeded, and returns whether the tool is unusable. It is from the last of these
 * inputs on, for errors with the same text. Until then, an error with another text begins again.
 */
export const noteUnexplained = (
  known: Map<string, UnexplainedErrors>,
  tool: string,
  { digest, ofTool }: Unexplained,
  input: string,
): boolean => {
  const before = known.get(tool);
  const isSame = before?.text === digest;
  if (before?.isUnusable) return isSame;
  const inputs = isSame ? before.inputs : [];
  if (inputs.includes(input)) return false;
  const isUnusable = inputs.length + 1 >= leastInputs(ofTool);
  known.set(tool, { text: digest, inputs: isUnusable ? [] : [...inputs, input], isUnusable });
  return isUnusable;
};
