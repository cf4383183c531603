/**
 * What can be read in what a tool gave or threw; undefined where it throws when it is looked at. Without a word: what it throws
 * is the tool's own text, and none for a log.
 */
export const readable = <Value>(read: () => Value): Value | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** A key of anything at all; undefined where there is none, or it can't be read. */
export const readOf = (value: unknown, key: string): unknown =>
  readable(() => (value as Readonly<Record<string, unknown>> | null | undefined)?.[key]);
