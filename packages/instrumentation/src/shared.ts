/**
 * The name that copies of the package in one process know something by. The version is that of its shape: whoever changes what
 * the others read there takes the next one, so that copies of different releases leave each other alone and don't misread
 * each other.
 */
export const sharedKey = (name: string, version: number): symbol =>
  Symbol.for(`@breakerbox/instrumentation/${name}/${version}`);

/** What copies of the package in one process share: it stands on `globalThis`, made by the copy that is loaded first. */
export const shared = <Value>(name: string, version: number, make: () => Value): Value => {
  const key = sharedKey(name, version);
  const all = globalThis as { [key: symbol]: unknown };
  all[key] ??= make();
  return all[key] as Value;
};
