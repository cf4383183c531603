/**
 * Reading from values that tools threw or returned. Any read of them may throw (getters, proxies, revoked ones) or be
 * without end (cycles, a megabyte of text), so all reads go through here: what can't be read is not there.
 */

/** Characters of a message that are read. Beyond it is the body of a page or a stack of data, seldom the error. */
export const TEXT_LIMIT = 4096;

/** `value[key]`, or undefined where there is no such thing or it can't be read. */
export function read(value: unknown, key: string): unknown {
  if (!isObject(value)) return undefined;
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** `value[key]` if it is a string, cut to `limit` characters. */
export function readText(value: unknown, key: string, limit = TEXT_LIMIT): string | undefined {
  const text = read(value, key);
  return typeof text === 'string' ? text.slice(0, limit) : undefined;
}

/** The first `limit` elements of an array; none if it is not one. */
export function readItems(value: unknown, limit: number): unknown[] {
  try {
    if (!Array.isArray(value)) return [];
    return Array.from({ length: Math.min(value.length, limit) }, (_, index) => read(value, String(index)));
  } catch {
    return [];
  }
}

/** Own enumerable keys; none if they can't be read. */
export function readKeys(value: unknown): string[] {
  try {
    return isObject(value) ? Object.keys(value) : [];
  } catch {
    return [];
  }
}

/** The `name` of an error, and of its class: OpenAI's and MCP's errors leave `name` at 'Error'. */
export function readNames(error: unknown): string[] {
  const names = [readText(error, 'name', 100), readText(read(error, 'constructor'), 'name', 100)];
  return names.filter((name) => name !== undefined);
}

/** The `name` of an error, of its class, and of the classes that this one extends: six at most. */
export function readAncestry(error: unknown): string[] {
  const names = readNames(error);
  try {
    let parent: unknown = read(error, 'constructor');
    for (let depth = 0; depth < 4 && typeof parent === 'function'; depth += 1) {
      parent = Object.getPrototypeOf(parent);
      names.push(readText(parent, 'name', 100) ?? '');
    }
  } catch {
    // A class behind a proxy that won't say: what was read so far is all there is.
  }
  return names;
}

/** Whether a value can have properties. */
export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
