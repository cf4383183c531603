import { isObject, read } from '@breakerbox/core/internal';
import {
  type Change,
  changeAll,
  copyWith,
  type HistoryFormat,
  type Part,
  UNSIGNED,
  without,
} from '../models/model-history.ts';

const CALLS: ReadonlySet<unknown> = new Set(['tool_call', 'tool_use', 'function']);
const THINKING: ReadonlySet<unknown> = new Set(['reasoning', 'reasoning_content', 'thinking', 'redacted_thinking']);

/** Of a message: what Responses gave whole, which has references and ids in it. */
const OWN_METADATA: ReadonlySet<string> = new Set(['output', 'id']);
/** Of a block: signatures, and the id of an item. */
const OWN_MARKS: ReadonlySet<string> = new Set(['signature', 'thoughtSignature', 'encrypted_content', 'extras']);
const ID: ReadonlySet<string> = new Set(['id']);
/** Of the arguments beyond LangChain's own: others are thinking, references and signatures. */
const KEPT: ReadonlySet<string> = new Set(['tool_calls', 'function_call', 'refusal', 'name']);

const ownClass = (message: Part): unknown => read(message, 'type');

/** A record with the list under a key changed. */
const changeAt = (record: unknown, key: string, message: Part, change: Change): unknown => {
  const list = read(record, key);
  const other = changeAll(list, message, change);
  return other === list ? record : copyWith(record as Part, { [key]: other });
};

/** The message with values in place of others. The same one if all are the same. */
const changed = (message: Part, values: Part): Part =>
  Object.entries(values).every(([key, value]) => message[key] === value) ? message : copyWith(message, values);

/** What a model of LangChain recognizes as its own, besides its content. */
const unmarkedMessage = (message: Part): Part => {
  if (ownClass(message) !== 'ai') return message;
  const { response_metadata: metadata, additional_kwargs: more, id } = message;
  const others = isObject(more) ? Object.keys(more).filter((key) => !KEPT.has(key)) : [];
  return changed(message, {
    response_metadata: isObject(metadata) ? without(metadata as Part, OWN_METADATA) : metadata,
    additional_kwargs: others.length > 0 ? without(more as Part, new Set(others)) : more,
    id: typeof id === 'string' && id.startsWith('msg_') ? undefined : id,
  });
};

/** A call of a tool as OpenAI's format has it. What the model has sent may have its signature. */
const rawCall = ({ id, name, args }: Part, sent: unknown, at: number): Part => {
  const own = Array.isArray(sent) ? (sent as Part[]).find((one) => one.id === id) : undefined;
  const call = own ?? { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
  if (at > 0 || call.extra_content !== undefined) return call;
  return { ...call, extra_content: { google: { thought_signature: UNSIGNED } } };
};

/** L9: messages of LangChain. A call of a tool is in up to four places of a message. */
export const CHAT: HistoryFormat = {
  onParts: (message, change) => {
    const own = change(message, message);
    if (own === undefined) return undefined;
    const { content, tool_calls: calls, additional_kwargs: more, response_metadata: metadata } = own;
    const other = changed(own, {
      content: changeAll(content, own, change),
      tool_calls: changeAll(calls, own, change),
      additional_kwargs: changeAt(more, 'tool_calls', own, change),
      response_metadata: changeAt(metadata, 'output', own, change),
    });
    const isEmptied = other.content !== content && (other.content as readonly unknown[]).length === 0;
    return isEmptied && !(Array.isArray(calls) && calls.length > 0) ? undefined : other;
  },
  idKey: (part) => {
    if (part.tool_call_id !== undefined) return 'tool_call_id';
    if (part.call_id !== undefined) return 'call_id';
    if (part.type === 'tool_result') return 'tool_use_id';
    return CALLS.has(part.type) || (part.type === undefined && part.args !== undefined) ? 'id' : undefined;
  },
  unmarked: (part, message) => {
    if (part === message) return unmarkedMessage(message);
    if (ownClass(message) !== 'ai') return part;
    if (THINKING.has(part.type)) return undefined;
    return without(part.type === 'text' ? without(part, ID) : part, OWN_MARKS);
  },
  // Models of OpenAI's format leave all but the arguments out of `tool_calls`, and send those of `additional_kwargs` as they are.
  signed: (messages) =>
    changeAll(messages, undefined, (message) => {
      const { tool_calls: calls, additional_kwargs: more } = message;
      if (ownClass(message) !== 'ai' || !Array.isArray(calls) || calls.length === 0) return message;
      const raw = (calls as Part[]).map((call, at) => rawCall(call, read(more, 'tool_calls'), at));
      return copyWith(message, { tool_calls: [], additional_kwargs: { ...(more as object), tool_calls: raw } });
    }),
};
