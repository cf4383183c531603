import type { ConfigIssue } from '@breakerbox/core';
import { Lexer } from 'yaml';

/** Largest file in bytes. A thousand tools with their texts fit in. */
export const MOST_BYTES = 128_000;

/** Most tools of a file. */
const MOST_TOOLS = 1_000;

/** Most levels of lists and objects. Settings need 6, and each level that a parser reads takes stack and memory. */
const MOST_LEVELS = 32;

/** Most characters of a text in a file. The model reads it in the prompt. */
const LONGEST_TEXT = 1_000;

/** yaml's token before the text of a scalar. */
const SCALAR = '\u001f';

/** Where the text nests too deep, before a parser reads it. The lexer keeps no levels, so it needs neither stack nor memory. */
export const tooDeep = (text: string): ConfigIssue | undefined => {
  let offset = 0;
  let brackets = 0;
  let onLine = 0;
  let isText = false;
  for (const token of new Lexer().lex(text)) {
    if (token === SCALAR) {
      isText = true;
      continue;
    }
    if (!isText) {
      if (token === '[' || token === '{') brackets += 1;
      else if (token === ']' || token === '}') brackets = Math.max(0, brackets - 1);
      else if (token.endsWith('\n')) onLine = 0;
      else if (brackets === 0 && /^[-?:]$/.test(token)) onLine += 1;
    }
    if (brackets + onLine > MOST_LEVELS) {
      const line = text.slice(0, offset).split('\n').length;
      return {
        path: `line ${line}`,
        message: `has more than ${MOST_LEVELS} levels of lists and objects. Settings need 6 at most. Correct the text.`,
      };
    }
    if (!isControl(token)) offset += token.length;
    isText = false;
  }
  return undefined;
};

/** yaml's tokens that are no part of the text: the start of a document, and the end of a broken list. */
const isControl = (token: string): boolean => token === '\u0002' || token === '\u0018';

/** What a file has too much of. Anything else that is wrong with it is for core to say. */
export const tooMuch = (map: unknown): readonly ConfigIssue[] => {
  const tools = (map as { tools?: unknown } | null | undefined)?.tools;
  if (typeof tools !== 'object' || tools === null) return [];
  const count = Object.keys(tools).length;
  if (count > MOST_TOOLS) {
    const message = `has ${count} tools, but at most ${MOST_TOOLS} can be in one file. Leave out tools that the agent does not have.`;
    return [{ path: 'tools', message }];
  }
  return longTexts('tools', tools);
};

const longTexts = (path: string, value: unknown): readonly ConfigIssue[] => {
  if (typeof value === 'string' && value.length > LONGEST_TEXT) {
    const message = `has ${value.length} characters, but the model reads it in the prompt. Shorten it to ${LONGEST_TEXT} at most.`;
    return [{ path, message }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    longTexts(Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`, part),
  );
};
