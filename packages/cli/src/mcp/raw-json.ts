/**
 * Reads parts of a JSON text as they are written. `JSON.parse` turns `1.0` into 1 and rounds 9007199254740993, but the id of an answer
 * must be the id of the request. The text must be valid JSON, because nothing is checked here.
 */

/** The text of a member of an object, such as `1.0`; undefined without such a member. Of two equal keys the last counts. */
export const rawMember = (object: string, key: string): string | undefined => {
  let found: string | undefined;
  let at = skipTo(object, object.indexOf('{') + 1);
  while (at < object.length && object[at] !== '}') {
    const keyEnd = valueEnd(object, at);
    const name: unknown = JSON.parse(object.slice(at, keyEnd));
    const start = skipTo(object, object.indexOf(':', keyEnd) + 1);
    const end = valueEnd(object, start);
    if (name === key) found = object.slice(start, end);
    at = skipTo(object, end);
  }
  return found;
};

/** The texts of the items of an array. */
export const rawItems = (array: string): readonly string[] => {
  const items: string[] = [];
  let at = skipTo(array, array.indexOf('[') + 1);
  while (at < array.length && array[at] !== ']') {
    const end = valueEnd(array, at);
    items.push(array.slice(at, end));
    at = skipTo(array, end);
  }
  return items;
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Valid JSON has no other characters up to the space between its tokens. */
const isSpace = (code: number): boolean => code <= 0x20;

/** Skips white space and commas. */
const skipTo = (text: string, from: number): number => {
  let at = from;
  while (at < text.length && (isSpace(text.charCodeAt(at)) || text.charCodeAt(at) === COMMA)) at += 1;
  return at;
};

/** Where the value ends that begins here. */
const valueEnd = (text: string, from: number): number => {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return stringEnd(text, from);
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) return scalarEnd(text, from);
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at) - 1;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) depth += 1;
    else if ((code === CLOSE_OBJECT || code === CLOSE_LIST) && --depth === 0) return at + 1;
  }
  return text.length;
};

const scalarEnd = (text: string, from: number): number => {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isSpace(code) || code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT) break;
  }
  return at;
};

const stringEnd = (text: string, from: number): number => {
  const first = text.indexOf('"', from + 1);
  if (text.charCodeAt(first - 1) !== BACKSLASH) return first < 0 ? text.length : first + 1;
  for (let at = from + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at + 1;
  }
  return text.length;
};
