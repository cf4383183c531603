import { isObject, read, readText } from '@breakerbox/core/internal';
import { withoutLongTexts } from './long-texts.ts';
import { rawItems, rawMember } from './raw-json.ts';

/** A JSON-RPC message as the relay looks at it. The bytes that are forwarded are those of the line. */
export interface RpcMessage {
  /** The text of the message. Long strings in it may be cut, but not in a batch. */
  readonly text: string;
  /** Whether long strings in it were cut. */
  readonly isCut: boolean;
  readonly method: string | undefined;
  /** The id as JSON: equal for a request and its answer, also where JavaScript's numbers are not exact. Undefined without one. */
  readonly id: string | undefined;
  readonly params: unknown;
  readonly result: unknown;
  readonly error: unknown;
}

/** The messages of a line: one, or those of a batch (revision 2025-03-26). */
export interface RpcLine {
  readonly messages: readonly RpcMessage[];
  readonly isBatch: boolean;
}

/** Longest line that is read as a whole, in bytes: a peak of memory stays for long (M10). */
const MOST_BYTES = 1024 * 1024;
const OPEN_BRACE = 0x7b;

/** Undefined if the line is not JSON-RPC. */
export const readLine = (bytes: Buffer): RpcLine | undefined => {
  const isLong = bytes.length > MOST_BYTES && bytes[0] === OPEN_BRACE;
  const text = (isLong ? withoutLongTexts(bytes) : bytes).toString('utf8');
  const value = parsedOrUndefined(text);
  if (!Array.isArray(value))
    return isObject(value) ? { messages: [messageOf(text, value, isLong)], isBatch: false } : undefined;
  const messages = rawItems(text).map((item, index) => messageOf(item, value[index]));
  return { messages, isBatch: true };
};

/** Objects and lists. Others are not given to the parser, whose errors are slow: a server may print millions of empty lines. */
const parsedOrUndefined = (text: string): unknown => {
  if (!/^\s*[{[]/.test(text) || !/[}\]]\s*$/.test(text.slice(-16))) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const messageOf = (text: string, value: unknown, isCut = false): RpcMessage => ({
  text,
  isCut,
  method: readText(value, 'method', MOST_METHOD),
  id: idOf(read(value, 'id'), () => text),
  params: read(value, 'params'),
  result: read(value, 'result'),
  error: read(value, 'error'),
});

/** The tool that one of the messages calls. */
export const calledTool = (messages: readonly RpcMessage[]): string | undefined => {
  const call = messages.find(({ method }) => method === 'tools/call');
  return call && (readText(call.params, 'name') ?? '');
};

/** Characters of a method's name that are read. */
const MOST_METHOD = 128;

/** The id of a request that another message names, as {@link RpcMessage.id}. */
export const idIn = (params: unknown, key: string, message: RpcMessage): string | undefined =>
  isObject(params) ? idOf(read(params, key), () => rawMember(message.text, 'params') ?? '{}', key) : undefined;

/** Characters of an id. A message with a longer one is forwarded, and not followed. */
const MOST_ID = 1_024;

const idOf = (id: unknown, text: () => string, key = 'id'): string | undefined => {
  if (typeof id === 'string') return id.length <= MOST_ID ? JSON.stringify(id) : undefined;
  if (typeof id !== 'number') return undefined;
  if (Number.isSafeInteger(id)) return String(id);
  const raw = rawMember(text(), key);
  return raw !== undefined && raw.length <= MOST_ID ? copied(raw) : undefined;
};

/** An id as the receiver may write it: some servers echo the number 3 as "3", and the SDKs accept that. The exact one comes first. */
export const sameIds = (id: string): readonly string[] => {
  if (/^-?\d{1,15}$/.test(id)) return [id, `"${id}"`];
  return /^"-?\d{1,15}"$/.test(id) ? [id, id.slice(1, -1)] : [id];
};

/** Whether an answer is for a request with this id. */
export const isSameId = (id: string | undefined, other: string | undefined): boolean =>
  id !== undefined && other !== undefined && sameIds(id).includes(other);

/** Characters at the beginning and at the end of a message that hold its id, in most clients. */
const EDGE = 200;

/**
 * The id of a request as its bytes are. To read each character of a long message takes as long as to parse it. So the usual form of the id is
 * looked for first.
 */
export const rawId = ({ text, id }: RpcMessage): string => {
  const edges = text.length <= 2 * EDGE ? text : `${text.slice(0, EDGE)} ${text.slice(-EDGE)}`;
  if (id !== undefined && ['"id":', '"id": '].some((key) => isMember(edges, `${key}${id}`))) return id;
  return copied(rawMember(text, 'id')) ?? 'null';
};

/** Whether a text has a member that ends there. */
const isMember = (text: string, member: string): boolean => {
  const at = text.indexOf(member);
  return at >= 0 && ',} \t\r\n'.includes(text[at + member.length] ?? '?');
};

/** A part of a text holds all of the text in memory. A copy does not. */
const copied = (part: string | undefined): string | undefined => part && Buffer.from(part).toString();
