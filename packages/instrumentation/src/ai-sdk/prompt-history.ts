import { isObject, read } from '@breakerbox/core/internal';
import { copyWith, type HistoryFormat, onContent, type Part, without } from '../models/model-history.ts';

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
