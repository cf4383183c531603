/** O8: the errors of a tool that nothing could explain. Digests alone, at most 4. */
export interface UnexplainedErrors {
  /** Of their text, without literals and digits. */
  readonly text: string;
  /** Of the inputs that they came for, while there are fewer than 4. */
  readonly inputs: readonly string[];
  /** They came for 4 different inputs. */
  readonly isUnusable: boolean;
}

/** Different inputs of which all must have failed. */
const LEAST_INPUTS = 4;

/**
 * Notes an unexplained error of a tool that has never succeeded, and returns whether the tool is unusable. It is from the fourth input
 * on, for errors with the same text. Until then, an error with another text begins again.
 */
export const noteUnexplained = (
  known: Map<string, UnexplainedErrors>,
  tool: string,
  text: string,
  input: string,
): boolean => {
  const before = known.get(tool);
  const isSame = before?.text === text;
  if (before?.isUnusable) return isSame;
  const inputs = isSame ? before.inputs : [];
  if (inputs.includes(input)) return false;
  const isUnusable = inputs.length + 1 >= LEAST_INPUTS;
  known.set(tool, { text, inputs: isUnusable ? [] : [...inputs, input], isUnusable });
  return isUnusable;
};
