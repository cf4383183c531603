import { isObject, read } from '@breakerbox/core/internal';
import { readModelError } from '../models/model-error-facts.ts';

/* L9: what one model made in a history, and another one refuses. */

type Part = Readonly<Record<string, unknown>>;
interface Message {
  readonly role?: string;
  readonly content?: unknown;
}

/** What providers accept as the id of a tool call. */
const SOUND_ID = /^[a-zA-Z0-9_-]{1,40}$/;
const LONGEST_ID = 40;

/** What a provider recognizes as its own, in its options of a part: references to items that it stores, and signatures. */
const OWN_MARKS: ReadonlySet<string> = new Set([
  'itemId',
  'reasoningEncryptedContent',
  'encryptedContent',
  'signature',
  'redactedData',
  'thoughtSignature',
]);

/** Each id that some provider refuses, with one that all accept. Equal for each request of a history, so that calls and results match. */
const ids = (prompt: readonly Message[]): ReadonlyMap<string, string> => {
  const used = new Set(prompt.flatMap(partsOf).flatMap((part) => idOf(part) ?? []));
  const mapped = new Map<string, string>();
  for (const id of used) {
    if (SOUND_ID.test(id)) continue;
    const sound = id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(-LONGEST_ID);
    const taken = (one: string): boolean => used.has(one) || [...mapped.values()].includes(one);
    let found = sound;
    for (let count = 1; taken(found); count += 1) found = `${sound.slice(0, LONGEST_ID - 6)}_${count}`;
    mapped.set(id, found);
  }
  return mapped;
};

const isPart = (value: unknown): value is Part => isObject(value);
const partsOf = ({ content }: Message): readonly Part[] => (Array.isArray(content) ? content.filter(isPart) : []);
const idOf = (part: Part): string | undefined => {
  const id = read(part, 'toolCallId');
  return typeof id === 'string' ? id : undefined;
};

const onParts = (
  prompt: readonly Message[],
  change: (part: Part, message: Message) => Part | undefined,
): readonly Message[] =>
  prompt.flatMap((message) => {
    if (!Array.isArray(message.content)) return [message];
    const content = message.content.flatMap((part) => (isPart(part) ? (change(part, message) ?? []) : [part]));
    // A message without content is refused as well.
    return content.length === 0 && message.content.length > 0 ? [] : [{ ...message, content }];
  });

/** The prompt with ids of tool calls that every provider accepts. The same array if all are. */
export const withSoundIds = (prompt: unknown): unknown => {
  if (!Array.isArray(prompt)) return prompt;
  const sound = ids(prompt);
  if (sound.size === 0) return prompt;
  return onParts(prompt, (part) => {
    const found = sound.get(idOf(part) ?? '');
    return found === undefined ? part : { ...part, toolCallId: found };
  });
};

/** The prompt without thinking, signatures and references to stored items. Undefined if it has none. */
export const withoutMarks = (prompt: unknown): unknown => {
  if (!Array.isArray(prompt)) return undefined;
  let isChanged = false;
  const cleaned = onParts(prompt, (part, { role }) => {
    if (role !== 'assistant' && role !== 'tool') return part;
    if (part.type === 'reasoning') {
      isChanged = true;
      return undefined;
    }
    const { providerOptions } = part;
    if (!isObject(providerOptions)) return part;
    const own = Object.entries(providerOptions).map(([provider, options]) => [provider, unmarked(options)] as const);
    if (own.every(([provider, options]) => options === read(providerOptions, provider))) return part;
    isChanged = true;
    return { ...part, providerOptions: Object.fromEntries(own) };
  });
  return isChanged ? cleaned : undefined;
};

const unmarked = (options: unknown): unknown => {
  if (!isObject(options) || !Object.keys(options).some((key) => OWN_MARKS.has(key))) return options;
  return Object.fromEntries(Object.entries(options).filter(([key]) => !OWN_MARKS.has(key)));
};

/** What providers say of an item of the history that another model or key made. */
const ABOUT_HISTORY =
  /item (?:with id )?['"`]|reasoning['"`]? item|encrypted[_ ]content|thought[_ ]signature|invalid [`'"]?signature|(?:redacted_)?thinking[`'"]? blocks?|tool_(?:use|call)s?(?:\[\d+\])?\.?_?id/;

/** Whether an error is about such an item, so that the same model may accept the prompt without it. */
export const isAboutHistory = (error: unknown): boolean => {
  const { status, text, codes } = readModelError(error);
  if (status !== 400 && status !== 404 && status !== 422) return false;
  return codes.has('invalid_encrypted_content') || codes.has('item_not_found') || ABOUT_HISTORY.test(text);
};

/** Whether the provider keeps the history, or a part of it: another key or provider would answer without it. */
export const isKeptByProvider = (providerOptions: unknown): boolean =>
  isObject(providerOptions) &&
  Object.values(providerOptions).some((options) =>
    ['previousResponseId', 'conversation'].some((key) => {
      const value = read(options, key);
      return value !== undefined && value !== null;
    }),
  );
