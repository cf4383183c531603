import { isObject, read } from '@breakerbox/core/internal';
import {
  changeAll,
  copyWith,
  type HistoryFormat,
  onContent,
  type Part,
  UNSIGNED,
  without,
} from '../models/model-history.ts';

/** What a provider recognizes as its own, in its options of a part: references to items that it stores, and signatures. */
const OWN_MARKS: ReadonlySet<string> = new Set([
  'itemId',
  'reasoningEncryptedContent',
  'encryptedContent',
  'signature',
  'redactedData',
  'thoughtSignature',
]);

/** L9: prompts of the AI SDK. */
export const PROMPT: HistoryFormat = {
  onParts: onContent,
  idKey: () => 'toolCallId',
  unmarked: (part, { role }) => {
    if (role !== 'assistant' && role !== 'tool') return part;
    if (part.type === 'reasoning') return undefined;
    const { providerOptions } = part;
    if (!isObject(providerOptions)) return part;
    const own = Object.entries(providerOptions).map(
      ([provider, options]) =>
        [provider, isObject(options) ? without(options as Part, OWN_MARKS) : (options as unknown)] as const,
    );
    if (own.every(([provider, options]) => options === read(providerOptions, provider))) return part;
    return copyWith(part, { providerOptions: Object.fromEntries(own) });
  },
  signed: (prompt) =>
    changeAll(prompt, undefined, (message) => {
      const { content } = message;
      const first = Array.isArray(content) ? (content as Part[]).find(({ type }) => type === 'tool-call') : undefined;
      const google = read(first?.providerOptions, 'google') as Part | undefined;
      if (first === undefined || read(google, 'thoughtSignature') !== undefined) return message;
      const providerOptions = {
        ...(first.providerOptions as object),
        google: { ...google, thoughtSignature: UNSIGNED },
      };
      const signed = changeAll(content, message, (part) =>
        part === first ? copyWith(part, { providerOptions }) : part,
      );
      return copyWith(message, { content: signed });
    }),
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

/** L9: options of a provider without thinking, which the history does not have. */
export const withoutThinking = (
  providerOptions: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => {
  const { anthropic } = providerOptions;
  return isObject(anthropic)
    ? { ...providerOptions, anthropic: without(anthropic as Part, THINKING) }
    : providerOptions;
};

const THINKING: ReadonlySet<string> = new Set(['thinking']);
