import { type HistoryFormat, onContent } from '../models/model-history.ts';

const ID_KEYS: Readonly<Record<string, string>> = { tool_use: 'id', tool_result: 'tool_use_id' };
const THINKING: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

/** L9: messages of Anthropic's Messages format. */
export const MESSAGES: HistoryFormat = {
  onParts: onContent,
  idKey: ({ type }) => ID_KEYS[`${type}`],
  unmarked: (block) => (THINKING.has(block.type) ? undefined : block),
};
