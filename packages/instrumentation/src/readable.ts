/**
 * Reads a value that a tool gave or threw; undefined if reading it throws. That error is not logged, because its text is the tool's own.
 */
export const readable = <Value>(read: () => Value): Value | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** A property of any value; undefined if it is missing or cannot be read. */
export const readOf = (value: unknown, key: string): unknown =>
  readable(() => (value as Readonly<Record<string, unknown>> | null | undefined)?.[key]);
