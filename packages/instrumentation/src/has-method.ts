/** Whether a value has a function under a key. What tools return is anything, proxies that throw when they are looked at too. */
export const hasMethod = (value: unknown, key: PropertyKey): boolean => {
  try {
    return typeof (value as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key] === 'function';
  } catch {
    return false;
  }
};
