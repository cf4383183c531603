import { SKIP_MARK } from './routing/message.ts';

/** The latest texts, the oldest first. */
type Texts = Set<string>;

/** On globalThis, so that guards of another copy of this package know them. */
const KEY = Symbol.for('@breakerbox/core:written-rejections');
const globals = globalThis as { [KEY]?: Texts };

/** A call that was not made fails at once, so its text is one of the latest. */
const MOST = 256;

/** R3: keeps a text that this process gives in place of a call, and returns it. */
export const written = (text: string): string => {
  globals[KEY] ??= new Set();
  const texts = globals[KEY];
  texts.delete(text);
  texts.add(text);
  if (texts.size > MOST) texts.delete(texts.values().next().value ?? '');
  return text;
};

/** R3: whether an error quotes such a text. The mark alone is not enough, because a tool may write it too. */
export const quotesRejection = (text: string): boolean =>
  text.includes(SKIP_MARK) && [...(globals[KEY] ?? [])].some((one) => text.includes(one));
