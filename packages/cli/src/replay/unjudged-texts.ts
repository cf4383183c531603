import { isIgnoredError, type JudgedEnding } from './judged-ending.ts';
import type { Ending } from './recording.ts';

const MAX_TEXTS = 200;
const MAX_CHARS = 200;

/** Collects the texts of errors that gave the classifier no evidence, or that are not counted, each after the name of its tool. Numbers in them count as equal. */
export const collectTexts = (): {
  readonly add: (ending: Ending, judged: JudgedEnding, tool: string) => void;
  texts(): Readonly<Record<string, number>>;
} => {
  const found = new Map<string, number>();
  return {
    add: (ending, judged, tool) => {
      if (!judged.isUnjudged && !isIgnoredError(judged)) return;
      const text = `${tool}: ${textOf(ending).slice(0, MAX_CHARS).replace(/\d+/g, '0').trim() || '(no text)'}`;
      if (found.has(text) || found.size < MAX_TEXTS) found.set(text, (found.get(text) ?? 0) + 1);
    },
    texts: () => Object.fromEntries([...found].sort(([, one], [, other]) => other - one)),
  };
};

const textOf = (ending: Ending): string => {
  if ('outcome' in ending) return '';
  const value = 'error' in ending ? ending.error : ending.result;
  if (value instanceof Error) return value.message;
  if (typeof value === 'string') return value;
  const content = (value as { readonly content?: unknown } | null)?.content;
  if (!Array.isArray(content)) return JSON.stringify(value) ?? '';
  return content.map((part) => (typeof part?.text === 'string' ? part.text : '')).join(' ');
};
