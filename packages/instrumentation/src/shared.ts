/**
 * The name that copies of the package in one process know something by. The version is that of its shape: whoever changes what
 * the others read there takes the next one, so that copies of different releases leave each other alone and don't misread
 * each other.
 */
export const sharedKey = (name: string, version: number): symbol =>
  Symbol.for(`@breakerbox/instrumentation/${name}/${version}`);

/** What copies of the package in one process share: it stands on `globalThis`, made by the copy that is loaded first. */
export const shared = <Value>(name: string, version: number, make: () => Value): Value => {
  all[sharedKey(name, version)] ??= make();
  return all[sharedKey(name, version)] as Value;
};

/** What a copy shares already; undefined when no copy has made it yet. */
export const found = <Value>(name: string, version: number): Value | undefined =>
  all[sharedKey(name, version)] as Value | undefined;

const all = globalThis as { [key: symbol]: unknown };
