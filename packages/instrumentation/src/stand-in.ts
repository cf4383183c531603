/**
 * An object in place of another: the same but for some members. Methods and accessors keep the original as `this`, for it
 * may have private members.
 */
export const standIn = <Original extends object>(
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

/** Whether a prototype has it as a function. What an accessor gives may be one by chance: schemas with properties are. */
const isMethod = (original: object, key: PropertyKey): boolean => {
  for (let owner = original; owner !== null; owner = Object.getPrototypeOf(owner)) {
    const found = Object.getOwnPropertyDescriptor(owner, key);
    if (found !== undefined) return owner !== original && 'value' in found;
  }
  return false;
};

/** What a stand-in is a proxy of: a proxy must not show other members than those of its target where they can't change: a frozen one gets a copy. */
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
