import { isContent, isObject, isPlain, read } from '@breakerbox/core/internal';
import { processWide } from './process-wide.ts';
import { orUndefined } from './untrusted.ts';

/** R5: the advice that a model reads after the error of a call that left its tool unavailable. It is between tags. */

const OPENS = '<breakerbox>';
const ENDS = '</breakerbox>';
const TAGS = /<\/?breakerbox>/g;

/** A text without the advice that a guard added. Guards around that one judge the rest. In a text that was cut, advice may have no end. */
export const withoutAdvice = (text: string): string => {
  if (!text.includes(OPENS)) return text; // Nearly every text.
  if (text.trimStart().startsWith(OPENS) && !text.includes(ENDS)) return text; // Advice is after an error.
  const parts = text.split(OPENS).map((part, index) => (index === 0 ? part : afterEnd(part)));
  return parts.map((part, index) => (index < parts.length - 1 ? part.trimEnd() : part)).join('');
};

const afterEnd = (part: string): string => {
  const end = part.indexOf(ENDS);
  return end < 0 ? '' : part.slice(end + ENDS.length);
};

/** The text of an error with the advice after it. It replaces that of a guard within the tool, because the next call is decided here. */
export const advisedText = (text: string, advice: string): string => `${withoutAdvice(text)}\n${blockOf(advice)}`;

const blockOf = (advice: string): string => `<breakerbox>${advice.replace(TAGS, '')}</breakerbox>`;

/** How a framework's errors and results get the advice. */
export interface Advise {
  /** Default: {@link advisedError}. */
  readonly error?: (error: unknown, advice: string) => unknown;
  /** Default: {@link advisedResult}. */
  readonly result?: (result: unknown, advice: string) => unknown;
  /** `false`: a schema checks results that are no errors, so that nothing can be added to them (D2). Default: true. */
  readonly note?: boolean;
}

/**
 * An error of the same class with the same properties and the advice in its message; the original is its `cause`, and stays as it is
 * (E3). Any other value becomes an error with its properties, because frameworks read the message of nothing else.
 */
export const advisedError = (thrown: unknown, advice: string): Error => {
  const message = advisedText(thrown instanceof Error ? thrown.message : textOf(thrown), advice);
  const copied = () => (thrown instanceof Error ? copyOf(thrown, message) : errorOf(thrown, message));
  return orUndefined(copied) ?? new Error(message, { cause: thrown });
};

/** The text of a thrown value that is no error. */
const textOf = (thrown: unknown): string => {
  if (typeof thrown === 'string') return thrown;
  if (thrown === undefined || thrown === null) return 'unknown error';
  const json = orUndefined(() => JSON.stringify(isFailedResponse(thrown) ? membersOf(thrown) : thrown)) ?? '{}';
  return json === '{}' ? (orUndefined(() => String(read(thrown, 'message') ?? thrown)) ?? 'unknown error') : json;
};

const errorOf = (thrown: unknown, message: string): Error => {
  const { message: _, cause: __, ...members } = isObject(thrown) ? membersOf(thrown) : {};
  return Object.assign(new Error(message, { cause: thrown }), members);
};

/** Whether a value is a `Response` of fetch with a status that reports an error. */
const isFailedResponse = (value: unknown): value is Pick<Response, 'status' | 'statusText'> =>
  read(value, 'ok') === false && typeof read(value, 'bodyUsed') === 'boolean';

/** What an object says. JSON would leave out all that a `Response` and an error say. */
const membersOf = (value: object): Readonly<Record<string, unknown>> => {
  if (isFailedResponse(value)) return { ok: false, status: value.status, statusText: value.statusText };
  return value instanceof Error ? { ...value, name: value.name, message: value.message } : { ...value };
};

/** Objects whose JSON has their advice. */
const inJson = new WeakSet<object>();

/**
 * The same object, because a program reads it. Frameworks make JSON of it for the model: that has the advice, as long as the object has it
 * (tools may return it again). An object that cannot change is replaced by that JSON.
 */
const adviseJson = (value: object, advice: string): unknown => {
  notice(value, advice);
  if (inJson.has(value)) return value;
  const own = read(value, 'toJSON');
  const toJSON = (): unknown => {
    const now = notices.get(value);
    return now === undefined ? jsonOf(value, own) : advisedJson(jsonOf(value, own), now);
  };
  if (!Reflect.defineProperty(value, 'toJSON', { configurable: true, writable: true, value: toJSON })) return toJSON();
  inJson.add(value);
  return value;
};

const jsonOf = (value: object, own: unknown): unknown =>
  orUndefined<unknown>(() => (typeof own === 'function' ? Reflect.apply(own, value, ['']) : membersOf(value)));

const advisedJson = (json: unknown, advice: string): unknown => {
  if (typeof json === 'string') return advisedText(json, advice);
  return isPlain(json) ? advisedObject(json, advice) : { result: json, advice: blockOf(advice) };
};

/** What a copy has of its own. */
const OWN: ReadonlySet<PropertyKey> = new Set(['message', 'cause']);

const copyOf = (error: Error, message: string): Error => {
  // A real error, made without the class's own constructor, which may expect anything.
  const copy = Object.setPrototypeOf(new Error(message, { cause: error }), Object.getPrototypeOf(error)) as Error;
  const give = (key: PropertyKey, enumerable = false): void => {
    if (OWN.has(key)) return;
    Object.defineProperty(copy, key, {
      configurable: true,
      writable: true,
      enumerable,
      value: Reflect.get(error, key),
    });
  };
  give('name');
  for (const key of accessorsOf(error)) give(key);
  for (const key of Reflect.ownKeys(error)) give(key, Reflect.getOwnPropertyDescriptor(error, key)?.enumerable);
  return copy;
};

/** Accessors of its classes. Those of DOMException, and of classes with private fields, accept no other object. */
const accessorsOf = (error: Error): readonly PropertyKey[] => {
  const keys: PropertyKey[] = [];
  let owner: unknown = Object.getPrototypeOf(error);
  while (owner instanceof Error) {
    for (const key of Reflect.ownKeys(owner)) {
      if (Reflect.getOwnPropertyDescriptor(owner, key)?.get !== undefined) keys.push(key);
    }
    owner = Object.getPrototypeOf(owner);
  }
  return keys;
};

/** Where a plain result has the text of its error. */
const TEXTS = ['error', 'message', 'detail', 'errorMessage', 'error_message', 'Message', 'title'];

const inText = (result: Readonly<Record<string, unknown>>, advice: string): Record<string, unknown> | undefined => {
  const key = TEXTS.find((one) => typeof result[one] === 'string');
  return key === undefined ? undefined : { ...result, [key]: advisedText(String(result[key]), advice) };
};

/**
 * A result that reports an error, with the advice after its text. A plain object without a text gets it as `advice`. Any other object, such
 * as a `Response`, stays the same, and its JSON has the advice. Other values become `{ result, advice }`.
 */
export const advisedResult = (result: unknown, advice: string): unknown => {
  if (isContent(result) && result.length > 0) return advisedContent(result, advice);
  return isOther(result) ? adviseJson(result, advice) : advisedJson(result, advice);
};

/** The same for a framework that keeps results as data: it gets the JSON of an object that is not plain. */
export const advisedData = (result: unknown, advice: string): unknown =>
  isOther(result) ? advisedJson(jsonOf(result, read(result, 'toJSON')), advice) : advisedResult(result, advice);

const isOther = (result: unknown): result is object => isObject(result) && !Array.isArray(result) && !isPlain(result);

const advisedObject = (result: Readonly<Record<string, unknown>>, advice: string): unknown => {
  const { content, error } = result;
  if (isContent(content)) return { ...result, content: advisedContent(content, advice) };
  const within = isPlain(error) ? inText(error, advice) : undefined;
  return inText(result, advice) ?? { ...result, ...(within ? { error: within } : { advice: blockOf(advice) }) };
};

/** The advice that a result has, or an object beside it; undefined without any. */
export const adviceIn = (result: unknown, depth = 0): string | undefined => {
  const kept = unavailableNotice(result);
  if (kept !== undefined || depth > 3) return kept;
  if (typeof result === 'string')
    return result.endsWith(ENDS) ? result.slice(result.lastIndexOf(OPENS) + OPENS.length, -ENDS.length) : undefined;
  const places = isPlain(result) ? ['advice', 'content', ...TEXTS].map((key) => result[key]) : [];
  const parts = isContent(result) ? result.map(({ text }) => text) : places;
  return parts.map((part) => adviceIn(part, depth + 1)).find((advice) => advice !== undefined);
};

/**
 * D2: a result that is no error, with a note after its text. A plain object gets it as `advice`, so that its own texts stay as they are.
 * Other values stay as they are.
 */
export const notedResult = (result: unknown, note: string, { result: give }: Advise): unknown => {
  if (isPlain(result) && !isContent(result.content)) return { ...result, advice: blockOf(note) };
  if (give !== undefined) return give(result, note);
  return typeof result === 'string' || isPlain(result) || isContent(result) ? advisedResult(result, note) : result;
};

/** Content with the advice in its last text, so that it has as many parts as before. */
export const advisedContent = (
  content: readonly { readonly type: string; readonly text?: unknown }[],
  advice: string,
) => {
  const last = content.findLastIndex(({ type, text }) => type === 'text' && typeof text === 'string');
  if (last === -1) return [...content, { type: 'text', text: blockOf(advice) }];
  return content.map((part, at) => (at === last ? { ...part, text: advisedText(String(part.text), advice) } : part));
};

/**
 * An error, a result that reports an error, or the text of one, with the advice for the model after its text (R5): between
 * `<breakerbox>` tags, which other guards cut before they judge the error. An error is copied and stays its `cause`. A plain object without a
 * text gets it as `advice`. Any other object, such as a `Response`, stays the same, and its JSON has the advice. Other values become
 * `{ result, advice }`. For agents without an adapter.
 *
 * @param advice The `message` of a permit whose call has settled. Empty: the value itself.
 *
 * @example
 * ```ts
 * const permit = calls.settle(id, { result });
 * return withAdvice(result, permit?.message ?? '');
 * ```
 */
export const withAdvice = (value: unknown, advice: string): unknown => {
  if (advice === '') return value;
  return advisedResult(value instanceof Error ? advisedError(value, advice) : value, advice);
};

/** The advice of each error that `guard()` has thrown, and of each object that reports one. */
const notices = processWide('notices', () => new WeakMap<object, string>());

/** Keeps the advice of an error; an empty one removes it. */
export const notice = (error: unknown, advice: string): void => {
  if (typeof error !== 'object' || error === null) return;
  if (advice === '') notices.delete(error);
  else notices.set(error, advice);
};

/**
 * The advice for the model after an error that a guarded function threw, or an object such as a `Response` that it returned and that
 * reports an error: the call was made and failed, and its tool is unavailable now. Undefined if the tool may be called again at once. `guard()` throws the tool's own error, so the text is kept beside it (R5).
 *
 * @example
 * ```ts
 * try {
 *   return await search({ query });
 * } catch (error) {
 *   return [(error as Error).message, unavailableNotice(error)].filter(Boolean).join('\n'); // let the model read both
 * }
 * ```
 */
export const unavailableNotice = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null ? notices.get(error) : undefined;

/** An error with the advice, in the form that its reader needs. Without a form only its notice has the advice. */
export const adviseError = (error: unknown, advice: string, form: Advise | undefined): unknown => {
  notice(error, advice); // Tools may throw the same error again.
  if (advice === '' || form === undefined) return error;
  const advised = orUndefined(() => (form.error ?? advisedError)(error, advice)) ?? error;
  notice(advised, advice);
  return advised;
};

/** The same for a result that reports an error. */
export const adviseResult = <Value>(value: Value, advice: string, form: Advise | undefined): Value => {
  notice(value, advice);
  if (form === undefined) return value;
  return (orUndefined(() => (form.result ?? advisedResult)(value, advice)) ?? value) as Value;
};
