import { isObject, read, readItems, readKeys, readText, TEXT_LIMIT } from '@breakerbox/core/internal';
import { withoutAdvice } from '../advice.ts';

/** The message of an error, or the text of an MCP result, without the command line that `child_process` and execa quote. */
export const textOf = (error: unknown): string => {
  const message = typeof error === 'string' ? error : readText(error, 'message', ALL);
  if (typeof error !== 'string' && message?.startsWith('Command ')) return endsOf(withoutCommand(error, message));
  const said =
    message === undefined
      ? contentOf(read(error, 'content')) || joined(SAID.flatMap((key) => readText(error, key, ALL) || []))
      : endsOf(message);
  const errors = read(error, 'errors');
  const text = errors ? joined([said, ...textsOf(errors)].filter(Boolean)) : said;
  return faultIn(text) ?? text;
};

/** The texts of `errors` that is no list: one string, or lists of strings by field, as of Rails. Core reads the errors of a list. */
const textsOf = (errors: unknown): readonly string[] => {
  if (Array.isArray(errors)) return [];
  const fields = readKeys(errors).slice(0, 8);
  const texts = [errors, ...fields.flatMap((key) => [read(errors, key), ...readItems(read(errors, key), 4)])];
  return texts.filter((text) => typeof text === 'string');
};

const withoutCommand = (error: unknown, message: string): string => {
  const command = ['escapedCommand', 'command', 'cmd'].map((key) => readText(error, key, ALL)).find(Boolean);
  if (command) return message.replace(command, () => '');
  // The synchronous functions quote the command only here, before the first line break.
  return read(error, 'pid') === undefined ? message : message.slice(message.search(/\n|$/));
};

/** Characters that are read of a text: it is cut later. */
const ALL = Number.POSITIVE_INFINITY;

/** Characters that are kept of the end of a long text. */
const END = 1024;

/** A text without advice. A long one is cut in the middle, because the evidence is at its ends (O2). Advice is at the end. */
const endsOf = (text: string): string => {
  if (text.length <= TEXT_LIMIT) return withoutAdvice(text);
  const end = withoutAdvice(text.slice(-2 * TEXT_LIMIT)).slice(-END);
  return `${withoutAdvice(text.slice(0, TEXT_LIMIT - END - 1))}\n${end}`;
};

/** What a SOAP fault says: its code and its reason. */
export const faultIn = (text: string): string | undefined => {
  if (!/<(?:[\w-]{1,20}:)?Fault\b/.test(text)) return undefined;
  const [code, reason] = [
    /(?:faultcode|Value)\b[^<>]{0,200}>\s*([^<\s]{1,60})/,
    /(?:faultstring|Text)\b[^<>]{0,200}>\s*([^<]{1,1000})/,
  ].map((pattern) => pattern.exec(text)?.[1]);
  return code && reason && `${code}: ${reason}`;
};

const joined = (texts: readonly string[]): string => endsOf(texts.map(endsOf).join('\n'));

/** Keys that say what happened, where there is no `message`: RFC 9457, OAuth, Lambda. */
const SAID = 'error_description error_message errorMessage msg errmsg detail title description reason statusText'.split(
  ' ',
);

/** The text of content parts, at most 16. */
export const contentOf = (content: unknown): string =>
  joined(
    typeof content === 'string'
      ? [content]
      : readItems(content, 16).flatMap((part) => readText(part, 'text', ALL) || []),
  );

/** Keys that hold the text of an answer: OpenAI, Anthropic; axios, gaxios, got; AI SDK; Stripe. Others are not listed: there may be millions. */
const TEXTS =
  'message name error errors response data body responseBody raw detail details type rawType code decline_code reason 0 1 2 3'.split(
    ' ',
  );

/** All text of an error, with the body of the answer: at most 64 values. */
export const allTextOf = (error: unknown): string => {
  const values: unknown[] = [error];
  for (const one of values) {
    if (values.length >= 64) break;
    for (const key of TEXTS) {
      const value = read(one, key);
      if (isObject(value) || typeof value === 'string') values.push(value);
    }
  }
  return joined(values.filter((value) => typeof value === 'string' && value !== '') as string[]);
};

/** Whether a text contains one of the words, as a whole word. */
export const quotes = (text: string, words: readonly string[]): boolean =>
  words.some((word) => {
    const at = text.indexOf(word);
    return at >= 0 && !/\w/.test(`${text[at - 1] ?? ''}`) && !/\w/.test(text[at + word.length] ?? '');
  });

/** The headings of a page that has little else on it, as a proxy gives it in place of an answer (O9). */
export const headingsOf = (text: string): readonly string[] => {
  if (!/^<(?:!doctype|html|head)/i.test(text)) return [];
  const shown = text.replace(/(?:<(style|script)\b[\s\S]*?<\/\1>|<[^>]*>|\s)+/gi, ' ');
  const headings = [...text.matchAll(/<(?:title|h1|pre)>\s*([^<]{3,90}?)\s*</gi)].map(([, heading = '']) => heading);
  return shown.length < 300 || CLOUDFLARE.test(text) ? headings : [];
};
const CLOUDFLARE = /\bid="cf-error-details"/;
/** Whether a long text is Cloudflare's own page, or the answer of a SOAP service. */
export const isOwnPage = (text: string): boolean =>
  text.startsWith('<') && (CLOUDFLARE.test(text) || text.includes(':Fault>'));

/** A text without its quotes of the arguments. Plain words such as 'failed' stay. */
export const withoutInput = (text: string, input: readonly string[]): string =>
  input
    .filter((value) => value.length > 3 && (value.length > 9 || /[^a-z]/i.test(value)))
    .reduce((left, value) => left.split(value).join('…'), text);

/** A host that an error names: in a URL, except of documentation or a redirect, or as Node, Go, Python and curl do. */
const NAMED =
  /(?:\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|lookup|host|connect to|dial tcp(?!: lookup)|resolve)[ :='"[]{1,3}|(?<!\b(?:see|check|visit|docs|documentation|information|redirect\w*)\b[^\n]{0,12}|=["'])\bhttps?:\/\/|\b(?=127\.0\.0\.1|localhost)|\[(?=::1\]))([\w.:-]*\w)\]?'?(?:(?:,? port[ =]|:)(\d+))?/g;
const isAddress = (name: string): boolean => /^[\d.]+$|:/.test(name);

/** Whether a text names a host of the web, and not only an address. */
export const namesHost = (text: string): boolean =>
  [...text.matchAll(NAMED)].some(([, name]) => /\.[a-z]/i.test(`${name}`));

const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'ws:': '80', 'https:': '443', 'wss:': '443' };

/**
 * Whether a text names another host or port than those of a URL, such as a proxy or a server that the tool depends on. An address
 * without a name belongs to the URL's host if the port is the same.
 */
export const isElsewhere = (text: string, url: URL): boolean => {
  const own = url.hostname.replace(/[[\]]/g, '');
  const ownPort = url.port || (PORTS[url.protocol] ?? '');
  const isNamed = text.toLowerCase().includes(own);
  return [...text.matchAll(NAMED)].some(([match, named = '', apart]) => {
    const [, found = named, port = apart] = /(.*[^:]):(\d+)$/.exec(named) ?? [];
    const name = found.toLowerCase();
    const isOther = !`.${name}`.endsWith(`.${own}`) && !own.endsWith(`.${name}`);
    if (isOther && isNamed && match.startsWith('http')) return false; // A link in the answer of the URL's own host.
    if (port !== undefined && ownPort !== '' && port !== ownPort) return true;
    return isOther && /[.:]|localhost/.test(name) && (isAddress(own) || !isAddress(name));
  });
};
