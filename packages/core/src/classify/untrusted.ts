/**
 * Every read of a thrown or returned value goes through here, because it may throw or never end. A value that can't be read counts
 * as missing.
 */
export const guarded = <T>(run: () => T, otherwise: T): T => {
  try {
    return run();
  } catch {
    return otherwise;
  }
};

/** Characters of a message that are read. Beyond that is usually the body of a page or a stack of data, not the error. */
export const TEXT_LIMIT = 4096;
/** Whether a value can have properties. */
export const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';
/** `value[key]`, or undefined if it does not exist or can't be read. */
export const read = (value: unknown, key: string): unknown => {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return undefined;
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
};
/** `value[key]` if it is a string, cut to `limit` characters. */
export const readText = (value: unknown, key: string, limit = TEXT_LIMIT): string | undefined => {
  const text = read(value, key);
  return typeof text === 'string' ? text.slice(0, limit) : undefined;
};
/** The first `limit` elements of an array; none if it is not one. */
export const readItems = (value: unknown, limit: number): unknown[] => {
  const length = guarded(() => (Array.isArray(value) ? Math.min(value.length, limit) : 0), 0);
  return Array.from({ length }, (_, index) => read(value, String(index)));
};
/** Own enumerable keys; none if they can't be read. */
export const readKeys = (value: unknown): string[] => guarded(() => (isObject(value) ? Object.keys(value) : []), []);
/** The `name` of an error, and of its class: OpenAI's and MCP's errors leave `name` at 'Error'. */
export const readNames = (error: unknown): string[] =>
  [error, read(error, 'constructor')].map((one) => readText(one, 'name', 100)).filter((name) => name !== undefined);
