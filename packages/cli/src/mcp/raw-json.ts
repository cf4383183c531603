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

/** Skips white space and commas. */
const skipTo = (text: string, from: number): number => {
  let at = from;
  while (at < text.length && ' \t\r\n,'.includes(text[at] ?? '')) at += 1;
  return at;
};

/** Where the value ends that begins here. */
const valueEnd = (text: string, from: number): number => {
  const first = text[from];
  if (first === '"') return stringEnd(text, from);
  if (first !== '{' && first !== '[') {
    let at = from;
    while (at < text.length && !',]} \t\r\n'.includes(text[at] ?? '')) at += 1;
    return at;
  }
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const one = text[at];
    if (one === '"') at = stringEnd(text, at) - 1;
    else if (one === '{' || one === '[') depth += 1;
    else if ((one === '}' || one === ']') && --depth === 0) return at + 1;
  }
  return text.length;
};

const stringEnd = (text: string, from: number): number => {
  let end = text.indexOf('"', from + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end + 1;
};

const isEscaped = (text: string, at: number): boolean => {
  let slashes = 0;
  while (text[at - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
};
