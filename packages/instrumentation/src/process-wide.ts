/**
 * The key by which copies of the package in one process share a value. It ends in the version of the value's shape. If you change what
 * other copies read there, use the next version, so that copies of different releases do not misread each other.
 */
export const processKey = (name: string): symbol => Symbol.for(`@breakerbox/instrumentation/${name}/1`);

/** A value on `globalThis` that copies of the package in one process share. The copy that is loaded first makes it. */
export const processWide = <Value>(name: string, make: () => Value): Value => {
  all[processKey(name)] ??= make();
  return all[processKey(name)] as Value;
};

/** A shared value; undefined if no copy has made it yet. */
export const findProcessWide = <Value>(name: string): Value | undefined => all[processKey(name)] as Value | undefined;

const all = globalThis as { [key: symbol]: unknown };
