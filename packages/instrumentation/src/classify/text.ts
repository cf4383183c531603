import { DEFAULT_JUDGEMENT } from '@breakerbox/core';
import { grpcStatus, isError, type Meaning, namedCode, read, readText } from '@breakerbox/core/internal';
import { headingsOf } from './error-text.ts';
import type { ToolKind } from './kind.ts';
import { classMeaning, signsIn } from './signs.ts';
import { ABORTED, ANSWERS, FIRST, type Hint, OUTAGES } from './words.ts';

/** Prefixes that clients and servers put before a text. */
const WRAPPED =
  /\s*(?:(?:error|MCP error -32(?!60[0-2])\d{3}|error (?:executing|calling|invoking) (?:mcp )?tool '?[\w-]+'?|tool call failed|[\w-]{1,20}:(?:Client|Sender|Server|Receiver)): ?)*/i;

/** A quoted word before a verb is the name of an object, whatever the word means. */
const OBJECT =
  /(?<!\w)(?:(['"`])[\w ./():-]{1,80}\1|\[[\w ./-]{1,60}\])(?= (?:not|do|does|did|is|was|has|already|cannot|of|in)\b)/g;

/** Whether a category is an outage by default. */
export const isOutage = (category: Meaning['category']): boolean => DEFAULT_JUDGEMENT[category] === 'failure';

/**
 * The meaning of a text about a failed call; undefined if it has none. The order is: text that quotes the arguments, signs of
 * libraries, words of an outage, words about the requested object.
 */
export const readProse = (text: string, kind?: ToolKind): (Meaning & Pick<Hint, 'hard'>) | undefined => {
  const plainOf = (part: string): string =>
    part
      .replaceAll(/\\[nrt]/g, ' ')
      .replace(OBJECT, '…')
      .replace(WRAPPED, '');
  const plain = plainOf(text);
  const first = hintIn(FIRST, plain);
  if ((!first || first.category === 'cancelled') && ABORTED.some((pattern) => pattern.test(plain)))
    return { category: 'cancelled', sign: 'it was aborted', code: 'ABORTED', hard: true };
  if (first) return first;
  const stripped = plainOf(edgesOf(text));
  const unserved = kind === 'fetch' && /\b(?!https?:)[a-z]{2,10}:\/\/\S/i.test(stripped);
  if (unserved) return { category: 'tool_error', sign: 'a URL that is not fetched', hard: false };
  const outage = hintIn(OUTAGES, stripped);
  const sign = bestOf(signsIn(stripped), outage);
  // 'ConnectError: Name or service not known': the words show that it is about the host.
  const host = sign?.host || (sign?.code === 'class' ? outage?.host : undefined);
  if (sign) return { ...sign, hard: true, ...(host && { host }) };
  const last = outage ?? hintIn(ANSWERS, stripped);
  return last?.category === 'unknown' ? undefined : last;
};

const STACK = /^\s+at \S|^\s*File ".{1,200}", line \d|^Node\.js v/m;
/** A line that is no frame, place or bracket of a stack. */
const MESSAGE = /^(?!Node\.js v|\S+:\d+$)\S.*[a-z]/i;

/** O2: the evidence in a long text is at its ends. The rest is a listing, a log or a stack. */
const edgesOf = (text: string): string => {
  const page = headingsOf(text.slice(Math.max(0, text.search(/<(?:!doctype|html|head)\b/i))));
  if (page.length > 0) return page.join('\n');
  const all = text.split('\n');
  if (all.length <= 5 && text.length <= 1000) return text;
  const near = endsOf(all, 4).filter((line) => /[a-z]/i.test(line)); // Without a bracket or an empty line at the end.
  const lines = STACK.test(text) ? all.filter((line) => MESSAGE.test(line)) : near;
  return endsOf(/^[[{]/.test(text) ? all : lines, 2)
    .map((line) => line.slice(0, 500))
    .join('\n');
};
const endsOf = (lines: readonly string[], count: number): readonly string[] =>
  lines.length > 2 * count + 1 ? [...lines.slice(0, count), ...lines.slice(-count)] : lines;

/** Keys whose value names a kind of error, where the text does not say it: AWS, OpenAI, Google, Lambda. */
const LABELS = ['code', 'type', '__type', 'error_code', 'errorCode', 'errorType', 'status'];

/** The outage that an error's own label means, such as `ThrottlingException`, `server_error` or `SERVICE_UNAVAILABLE`. */
export const labelMeaning = (error: unknown): (Meaning & Pick<Hint, 'hard'>) | undefined =>
  LABELS.map((key) => {
    const named = readText(error, key, 100) ?? readText(read(error, 'extensions'), key, 100); // GraphQL's code.
    const label = `${!isError(error) && named}`.replace(/.*[#.]/, '');
    const google = key === 'status' && typeof read(error, 'code') === 'number' ? grpcStatus(label) : undefined;
    const found = google ?? namedCode(label) ?? classMeaning(label) ?? hintIn(OUTAGES, label.replaceAll('-', ' '));
    return found && isOutage(found.category) ? { category: found.category, sign: `its ${key}`, hard: true } : undefined;
  }).find((found) => found !== undefined);

/** Codes such as `channel_not_found` are words too. */
const hintIn = (hints: readonly Hint[], text: string): Hint | undefined =>
  hints.find(({ pattern }) => pattern.test(text.replaceAll('_', ' ')));

/** The most telling sign. If a status rejects the request, the words or a class may show that it is about the account. */
const bestOf = ([first, ...others]: readonly Meaning[], outage: Hint | undefined): Meaning | undefined => {
  if (first?.vague) return others[0] ?? outage ?? first;
  if (!first || !isRejectedRequest(first)) return first;
  const throttled = others.find(({ category }) => category === 'rate_limit' || category === 'resource');
  return throttled ?? (outage && isAccount(outage) ? outage : first);
};

/** HTTP 400, 402, 403, 422 and the 432 of a search API can be about the arguments or about the account. */
const isRejectedRequest = ({ code }: Meaning): boolean => /http:4(?:0[023]|22|3[23])/.test(`${code}`);
const isAccount = ({ category }: Meaning): boolean => ['rate_limit', 'resource', 'permission'].includes(category);
/** The meaning of a status that rejects the request if it is about a customer's payment, or about the account: 'your credit balance is too low'. */
export const readAccount = (status: Meaning, text: string): Meaning | undefined =>
  isRejectedRequest(status) ? hintIn([...FIRST.slice(0, 1), ...OUTAGES.filter(isAccount)], text) : undefined;

/** The wait in milliseconds that a text quotes, as in 'HTTP 429, Retry-After: 30'; at most 7 days (O3). */
export const retryAfterIn = (text: string): number | undefined => {
  const seconds =
    /\b(?:retry[- ]after["']?|expected available in)[ :=]{1,3}["']?(\d{1,6})\b(?! (?:ms|milli|min|hour|day))/i.exec(
      text,
    )?.[1];
  return Number(seconds) <= 7 * 24 * 3600 ? Number(seconds) * 1000 : undefined;
};
