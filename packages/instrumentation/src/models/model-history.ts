import { isObject, read } from '@breakerbox/core/internal';
import { readModelError } from './model-error-facts.ts';

/* L9: what one model made in a history, and another one refuses. */

/** A message, or a part of one. */
export type Part = Readonly<Record<string, unknown>>;

/** A part in place of another: the same one to keep it, undefined to leave it out. */
export type Change = (part: Part, message: Part) => Part | undefined;

/** How a framework writes its history, which is a list of messages. */
export interface HistoryFormat {
  /** A message with its parts changed: the same one if none is, undefined if it is left out. */
  onParts(message: Part, change: Change): Part | undefined;
  /** The key of the id of a tool call in a part, if it may have one. */
  idKey(part: Part): string | undefined;
  /** A part without what only the model accepts that made it. The same one if it has nothing of the kind. */
  unmarked: Change;
  /** The history with {@link UNSIGNED} at the first call of each step that has no signature, where the format has a place for it. */
  signed?(history: unknown): unknown;
}

/** Gemini 3 demands its signature at the first call of each step, and takes this one for calls that it did not make. */
export const UNSIGNED = 'skip_thought_signature_validator';

/** What providers accept as the id of a tool call. */
const SOUND_ID = /^[a-zA-Z0-9_-]{1,40}$/;
const LONGEST_ID = 40;

/** A copy of the same class with other values. */
export const copyWith = (part: Part, values: Part): Part =>
  Object.assign(Object.create(Object.getPrototypeOf(part) as object | null) as Part, part, values);

/** A list with its parts changed. The same list if none is, without allocating. */
export const changeAll = <List>(list: List, message: Part | undefined, change: Change): List => {
  if (!Array.isArray(list)) return list;
  let other: unknown[] | undefined;
  for (let at = 0; at < list.length; at += 1) {
    const one: unknown = list[at];
    const next = isObject(one) ? change(one as Part, message ?? (one as Part)) : one;
    if (next === one) {
      other?.push(one);
      continue;
    }
    other ??= list.slice(0, at);
    if (next !== undefined) other.push(next);
  }
  return (other ?? list) as List;
};

/** `onParts` of messages whose parts are their content. A message without content is refused as well, so it is left out. */
export const onContent: HistoryFormat['onParts'] = (message, change) => {
  const content = changeAll(message.content, message, change);
  if (content === message.content) return message;
  return (content as readonly unknown[]).length === 0 ? undefined : copyWith(message, { content });
};

const isMarked =
  (marks: ReadonlySet<string>) =>
  (key: string): boolean =>
    marks.has(key);

/** A part without some keys. The same one if it has none of them. */
export const without = (part: Part, marks: ReadonlySet<string>): Part => {
  const found = Object.keys(part).filter(isMarked(marks));
  if (found.length === 0) return part;
  const copy = copyWith(part, {}) as Record<string, unknown>;
  for (const key of found) delete copy[key];
  return copy;
};

const idOf = (part: Part, key: string | undefined): string | undefined => {
  const id = key === undefined ? undefined : read(part, key);
  return typeof id === 'string' ? id : undefined;
};

/** The history with ids of tool calls that every provider accepts. The same one if all are. */
const withSoundIds = (history: unknown, format: HistoryFormat): unknown => {
  let isSound = true;
  const look: Change = (part) => {
    const id = idOf(part, format.idKey(part));
    if (id !== undefined && !SOUND_ID.test(id)) isSound = false;
    return part;
  };
  const onParts = (change: Change) => changeAll(history, undefined, (message) => format.onParts(message, change));
  onParts(look);
  if (isSound) return history;
  const sound = soundIds(onParts, format);
  return onParts((part) => {
    const key = format.idKey(part);
    const found = sound.get(idOf(part, key) ?? '');
    return key === undefined || found === undefined ? part : copyWith(part, { [key]: found });
  });
};

/** Each id that some provider refuses, with one that all accept. Equal for each request of a history, so that calls and results match. */
const soundIds = (onParts: (change: Change) => unknown, { idKey }: HistoryFormat): ReadonlyMap<string, string> => {
  const used = new Set<string>();
  onParts((part) => {
    const id = idOf(part, idKey(part));
    if (id !== undefined) used.add(id);
    return part;
  });
  const mapped = new Map<string, string>();
  const taken = new Set(used);
  for (const id of used) {
    if (SOUND_ID.test(id)) continue;
    const sound = id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(-LONGEST_ID);
    let found = sound;
    for (let count = 1; found === '' || taken.has(found); count += 1) {
      found = `${sound.slice(0, LONGEST_ID - 6)}_${count}`;
    }
    taken.add(found);
    mapped.set(id, found);
  }
  return mapped;
};

/** The history without thinking, signatures and references to stored items. The same one if it has none. */
const withoutMarks = (history: unknown, format: HistoryFormat): unknown =>
  changeAll(history, undefined, (message) => format.onParts(message, format.unmarked));

/**
 * Asks a model with a history that others may have made (L9): with ids that it accepts, and if it refuses an item, once more without what
 * only its own model accepts, or with a signature that it misses.
 *
 * @param isAlone whether the list has one model, which made all of the history
 * @param ask `isCleaned`: it is asked once more, and should not have to think where the history has no thinking
 */
export const askWithHistory = async <Answer>(
  history: unknown,
  format: HistoryFormat,
  isAlone: boolean,
  ask: (history: unknown, isCleaned: boolean) => Promise<Answer>,
): Promise<Answer> => {
  const sound = isAlone ? history : withSoundIds(history, format);
  try {
    return await ask(sound, false);
  } catch (error) {
    const about = aboutHistory(error);
    if (about === undefined) throw error;
    const cleaned = about === 'no signature' ? (format.signed?.(sound) ?? sound) : withoutMarks(sound, format);
    if (cleaned === sound && about !== 'no thinking') throw error;
    return ask(cleaned, true);
  }
};

/** What providers say of an item of the history that another model or key made. */
const ABOUT_HISTORY = new RegExp(
  [
    /item (?:with id )?['"`]/,
    /reasoning['"`]? item/,
    /encrypted[_ ]content/,
    /thought[_ ]signature/,
    /invalid [`'"]?signature/,
    /thinking\.signature/,
    /thinking[`'"]? blocks?/,
    /(?:value|tag|type|parameter|property):? [`'"](?:[\w.[\]]+\.)?(?:redacted_thinking|thinking|reasoning|reasoning_content)[`'"]/,
    /expected an id that begins with/,
    /tool_(?:use|call)s?(?:\[\d+\])?\.?_?id/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

/** Anthropic's, where `thinking` is on: the last answer before results of tools has to begin with it. */
const NO_THINKING = /expected [`'"]thinking[`'"].* but found/;

/** Gemini's, for calls that another model made. */
const NO_SIGNATURE = /missing an? [`'"]?thought[_ ]signature/;

/** Whether an error is about such an item, so that the same model may accept the history without it. */
const aboutHistory = (error: unknown): 'item' | 'no thinking' | 'no signature' | undefined => {
  const { status, text, codes, names } = readModelError(error);
  // OpenAI Agents, before any request: a chat model has no words for items of other models.
  if (status === undefined) return names.has('UserError') && /not supported/.test(text) ? 'item' : undefined;
  if (status !== 400 && status !== 404 && status !== 422) return undefined;
  if (NO_THINKING.test(text)) return 'no thinking';
  if (NO_SIGNATURE.test(text)) return 'no signature';
  const isItem = codes.has('invalid_encrypted_content') || codes.has('item_not_found') || ABOUT_HISTORY.test(text);
  return isItem ? 'item' : undefined;
};
