/**
 * A result together with a text about it, in a form that reaches the model. The given result is never changed.
 *
 * | result | becomes |
 * |---|---|
 * | text | the words in square brackets on a line of its own, then the text |
 * | MCP result (`content` is a list of typed parts) | a copy with one more text part at the start |
 * | plain object | a copy with the words under `key` |
 * | anything else, or an object that has the key already | `{ result, [key]: words }` |
 */
export const annotated = (result: unknown, key: string, words: string): unknown => {
  if (typeof result === 'string') return `[${words}]\n${result}`;
  try {
    if (isPlain(result)) {
      const { content } = result;
      if (isContent(content)) return { ...result, content: [{ type: 'text', text: `[${words}]` }, ...content] };
      if (!Object.hasOwn(result, key)) return { ...result, [key]: words };
    }
  } catch {
    // The result can't be copied because reading it throws. The receiver gets it as it is.
  }
  return { result, [key]: words };
};

/** A plain object, as JSON makes it. An instance of a class would lose its methods in a copy. */
export const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** Part of an MCP result's content. All of its parts have a `type`; a list of anything else is another kind of result. */
export interface ContentPart {
  readonly type: string;
  readonly text?: unknown;
}

export const isContent = (value: unknown): value is readonly ContentPart[] =>
  Array.isArray(value) &&
  value.every(
    (part: unknown) => typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string',
  );
