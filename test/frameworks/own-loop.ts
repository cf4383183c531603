import { unavailableNotice, withAdvice } from '@breakerbox/instrumentation';
/** What a loop of your own tells its model about a call: the result as text, or the error's message. It stops with the caller. */
export const reply = async (call: () => Promise<unknown>, signal: AbortSignal | undefined): Promise<string> => {
  try {
    const result = await call();
    return asText(withAdvice(result, unavailableNotice(result) ?? ''));
  } catch (error) {
    signal?.throwIfAborted();
    const text = error instanceof Error ? error.message : asText(error);
    return String(withAdvice(text, unavailableNotice(error) ?? ''));
  }
};

const asText = (result: unknown): string => {
  if (typeof result === 'string') return result;
  const { content } = (result ?? {}) as { content?: unknown };
  if (!Array.isArray(content)) return JSON.stringify(result) ?? '';
  return content.map((part: { text?: unknown }) => part.text ?? '').join('\n');
};

/** Reads a generator to its end. Returns any other value unchanged. */
export const lastPiece = async (result: unknown): Promise<unknown> => {
  const pieces = result as Partial<AsyncIterable<unknown>> | null | undefined;
  if (typeof pieces?.[Symbol.asyncIterator] !== 'function') return result;
  let last: unknown;
  for await (const piece of pieces as AsyncIterable<unknown>) last = piece;
  return last;
};
