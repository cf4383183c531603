import { safely } from './safely.ts';

/** Functions to call with each box that is made. */
type Listeners = Set<(box: never) => void>;

/** On globalThis, so that a listener hears of the boxes of another copy of this package. */
const KEY = Symbol.for('@breakerbox/core:made-boxes');
const globals = globalThis as { [KEY]?: Listeners };

/** The listeners of this process. */
export const boxListeners = (): Listeners => {
  globals[KEY] ??= new Set();
  return globals[KEY];
};

/** Tells the listeners of a box that was made. */
export const announce = (box: object): void => {
  for (const listener of globals[KEY] ?? []) safely('a listener for new boxes', () => listener(box as never));
};
