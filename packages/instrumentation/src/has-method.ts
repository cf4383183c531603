/** Whether a value has a function under a key. Tools may return any value, even a proxy that throws on access. */
export const hasMethod = (value: unknown, key: PropertyKey): boolean => {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  try {
    return typeof (value as Readonly<Record<PropertyKey, unknown>>)[key] === 'function';
  } catch {
    return false;
  }
};
