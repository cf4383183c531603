/**
 * The key by which copies of the package in one process share a value. The version is that of the value's shape. If you change what other
 * copies read there, use the next version, so that copies of different releases do not misread each other.
 */
export const sharedKey = (name: string, version: number): symbol =>
  Symbol.for(`@breakerbox/instrumentation/${name}/${version}`);

/** A value on `globalThis` that copies of the package in one process share. The copy that is loaded first makes it. */
export const shared = <Value>(name: string, version: number, make: () => Value): Value => {
  all[sharedKey(name, version)] ??= make();
  return all[sharedKey(name, version)] as Value;
};

/** A shared value; undefined if no copy has made it yet. */
export const found = <Value>(name: string, version: number): Value | undefined =>
  all[sharedKey(name, version)] as Value | undefined;

const all = globalThis as { [key: symbol]: unknown };
