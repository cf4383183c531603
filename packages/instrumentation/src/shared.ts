/** What copies of the package in one process share: it stands on `globalThis`, made by the copy that is loaded first. */
export const shared = <Value>(name: string, make: () => Value): Value => {
  const key = Symbol.for(`@breakerbox/instrumentation/${name}`);
  const all = globalThis as { [key: symbol]: unknown };
  all[key] ??= make();
  return all[key] as Value;
};
