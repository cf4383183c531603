import { isObject, read, readItems, readKeys, readText, TEXT_LIMIT } from '@breakerbox/core/internal';

/**
 * The message of an error, or the text parts of an MCP result. `child_process`, execa and nano-spawn put the command line before
 * what the command wrote: a search for ECONNREFUSED that finds nothing is no outage.
 */
export const saidBy = (error: unknown): string => {
  if (typeof error === 'string') return error.slice(0, TEXT_LIMIT);
  const message = readText(error, 'message') ?? contentOf(read(error, 'content'));
  if (!message.startsWith('Command ')) return message;
  const command = ['escapedCommand', 'command', 'cmd'].map((key) => readText(error, key)).find(Boolean);
  if (command) return message.replace(command, () => '');
  // The synchronous calls keep the command nowhere else: it is what is before the first line break.
  return read(error, 'pid') === undefined ? message : message.slice(message.search(/\n|$/));
};

const joined = (texts: readonly unknown[]): string =>
  texts
    .filter((text) => typeof text === 'string' && text !== '')
    .join('\n')
    .slice(0, TEXT_LIMIT);

/** The text of content parts, at most 16. */
export const contentOf = (content: unknown): string =>
  joined(typeof content === 'string' ? [content] : readItems(content, 16).map((part) => readText(part, 'text')));

/** Where the body of an answer is kept: OpenAI, Anthropic; axios, gaxios, got; AI SDK; Stripe. */
const BODY = /^(?:errors?|response|data|body|responseBody|raw|details?|type|rawType|code|decline_code|reason|[0-3])$/;

/** All that an error says, the body of the answer included: at most 64 values. */
export const allSaidBy = (error: unknown): string => {
  const values: unknown[] = [error];
  for (let index = 0; index < values.length && values.length < 64; index += 1) {
    const keys = readKeys(values[index]).filter((key) => BODY.test(key));
    const found = ['message', 'name', ...keys.slice(0, 16)].map((key) => read(values[index], key));
    values.push(...found.filter((value) => isObject(value) || typeof value === 'string'));
  }
  return joined(values.map((value) => (typeof value === 'string' ? value.slice(0, TEXT_LIMIT) : undefined)));
};

/** The strings in the arguments of a call: 3 levels, at most 32. */
export const stringsIn = (input: unknown, depth = 3): readonly string[] => {
  if (typeof input === 'string') return input.length > 2 && input.length < TEXT_LIMIT ? [input] : [];
  const keys = isObject(input) && depth > 0 ? readKeys(input).slice(0, 32) : [];
  return keys.flatMap((key) => stringsIn(read(input, key), depth - 1)).slice(0, 32);
};

/** A text without what it quotes of the arguments, words such as 'failed' apart. */
export const withoutInput = (text: string, input: readonly string[]): string =>
  input
    .filter((value) => value.length > 3 && (value.length > 9 || /[^a-z]/i.test(value)))
    .reduce((left, value) => left.split(value).join('…'), text);

/** The host of the URL that the call chose, in lower case, with the port if it has one. */
export const hostIn = (input: readonly string[]): string | undefined =>
  input.map((value) => /^https?:\/\/(?:[^/@\s]*@)?([^/?#\s]+)/i.exec(value)?.[1]?.toLowerCase()).find(Boolean);
