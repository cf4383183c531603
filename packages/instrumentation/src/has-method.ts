/** Whether a value has a function under a key. What tools return is anything, proxies that throw when they are looked at too. */
export const hasMethod = (value: unknown, key: PropertyKey): boolean => {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  try {
    return typeof (value as Readonly<Record<PropertyKey, unknown>>)[key] === 'function';
  } catch {
    return false;
  }
};
