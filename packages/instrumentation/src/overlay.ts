/**
 * A proxy of an object that replaces some members. Methods and accessors keep the original as `this`, because it may have private
 * members.
 */
export const overlay = <Original extends object>(
  original: Original,
  members: ReadonlyMap<PropertyKey, unknown>,
): Original => {
  const bound = new WeakMap<object, unknown>();
  return new Proxy(replaceable(original, members), {
    get: (_, key) => {
      if (members.has(key)) return members.get(key);
      const value: unknown = Reflect.get(original, key);
      if (typeof value !== 'function' || key === 'constructor' || !isMethod(original, key)) return value;
      if (!bound.has(value)) bound.set(value, value.bind(original));
      return bound.get(value);
    },
    set: (_, key, value) => Reflect.set(original, key, value),
  });
};

/** Whether a prototype has it as a method. An accessor may give a function by chance, such as a schema with properties. */
const isMethod = (original: object, key: PropertyKey): boolean => {
  for (let owner = original; owner !== null; owner = Object.getPrototypeOf(owner)) {
    const found = Object.getOwnPropertyDescriptor(owner, key);
    if (found !== undefined) return owner !== original && 'value' in found;
  }
  return false;
};

/** The target of a proxy. A proxy may not replace members that cannot change, so a frozen original is copied. */
export const replaceable = <Original extends object>(
  original: Original,
  members: ReadonlyMap<PropertyKey, unknown>,
): Original => {
  const isFixed = (key: PropertyKey): boolean => Object.getOwnPropertyDescriptor(original, key)?.configurable === false;
  if (![...members.keys()].some(isFixed)) return original;
  const own: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(original);
  for (const key of Reflect.ownKeys(own)) own[key as string] = { ...own[key as string], configurable: true };
  return Object.create(Object.getPrototypeOf(original), own);
};
