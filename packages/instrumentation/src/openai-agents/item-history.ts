import { read } from '@breakerbox/core/internal';
import { changeAll, copyWith, type HistoryFormat, type Part, UNSIGNED, without } from '../models/model-history.ts';

const MARKS: ReadonlySet<string> = new Set(['id', 'providerData']);
const PROVIDER_DATA: ReadonlySet<string> = new Set(['providerData']);

/** Items that only the model reads that made them. A call that its provider has run is one, because its result is in the answer. */
const OWN_ITEMS: ReadonlySet<unknown> = new Set(['reasoning', 'hosted_tool_call']);

/** Where the compatible endpoint of Gemini reads a signature. */
const EXTRA: Part = { extra_content: { google: { thought_signature: UNSIGNED } } };

const isOfModel = ({ type, role }: Part): boolean => role === 'assistant' || /_(?:call|result|output)$/.test(`${type}`);

/** L9: items of OpenAI Agents. */
export const ITEMS: HistoryFormat = {
  onParts: (item, change) => change(item, item),
  idKey: () => 'callId',
  unmarked: (item) => {
    if (OWN_ITEMS.has(item.type)) return undefined;
    if (!isOfModel(item)) return item;
    const content = changeAll(item.content, item, (part) => without(part, PROVIDER_DATA));
    const own = content === item.content ? item : copyWith(item, { content });
    return without(own, MARKS);
  },
  signed: (input) => {
    let isOfStep = false;
    return changeAll(input, undefined, (item) => {
      const isFirst = item.type === 'function_call' && !isOfStep;
      isOfStep = item.type === 'function_call';
      const data = item.providerData as Part | undefined;
      if (!isFirst || read(data, 'extra_content') !== undefined) return item;
      return copyWith(item, { providerData: { ...data, ...EXTRA } });
    });
  },
};

/** What OpenAI's Responses accept as the id of an item. Chat models give the id of the whole answer. */
const PREFIXES: Readonly<Record<string, string>> = { message: 'msg', function_call: 'fc', function_call_result: 'fc' };

const ID: ReadonlySet<string> = new Set(['id']);

/** L9: the input without ids of items that Responses refuse. Other models do not read them. */
export const withoutForeignIds = (input: unknown): unknown =>
  changeAll(input, undefined, (item) => {
    const prefix = PREFIXES[`${item.type ?? 'message'}`];
    const isForeign = prefix !== undefined && item.id !== undefined && !`${item.id}`.startsWith(prefix);
    return isForeign ? without(item, ID) : item;
  });
