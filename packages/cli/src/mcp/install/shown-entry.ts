import jsonc, { type Node } from 'jsonc-parser';
import { propertiesOf, treeOf, wordsOf } from './server-entry.ts';

/** Shown in place of a secret. */
const HIDDEN = '…';

/** What is in the name of an option, a variable or a field that holds a secret. It hides too much rather than too little. */
const SECRET = /key|token|secret|pass|pwd|auth|credential|cookie|bearer|session/i;

/** Options whose value is a header. */
const HEADER = /^(?:-H|--?headers?)$/i;

/** Words after which a secret follows in the value of a header. */
const SCHEME = /^(?:bearer|basic)$/i;

/** The variable of a header, which `install` itself writes. It is a name and no secret. */
const OWN_VARIABLE = /^[^=]+=BREAKERBOX_HEADER_[A-Z\d_]+$/;

/** Members whose values are all hidden. */
const HIDDEN_MEMBERS = ['env', 'headers'];

/** The lines of an entry without the secrets in it, one for each line of the entry. */
export const shownLines = (entry: string): readonly string[] => {
  let shown = entry;
  const hidden = [...hiddenIn(treeOf(entry).tree, false), ...commentsIn(entry)];
  // The last one first, so that the places of the others stay.
  for (const { offset, length, text } of hidden.sort((one, other) => other.offset - one.offset))
    shown = `${shown.slice(0, offset)}${text}${shown.slice(offset + length)}`;
  return splitLines(shown);
};

export const splitLines = (text: string): readonly string[] => text.split(/\r\n|\n|\r/);

/** The text of comments without the secrets in it. */
export const withShownComments = (source: string): string => {
  let shown = source;
  for (const { offset, length, text } of commentsIn(source).toReversed())
    shown = `${shown.slice(0, offset)}${text}${shown.slice(offset + length)}`;
  return shown;
};

/** A part of an entry that is shown as another text. */
interface Hidden {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

const hiddenIn = (node: Node | undefined, isSecret: boolean): readonly Hidden[] => {
  if (node === undefined) return [];
  const members = propertiesOf(node);
  if (members !== undefined)
    return members.flatMap(({ key: { value: name }, value }) =>
      hiddenIn(value, isSecret || HIDDEN_MEMBERS.includes(name) || SECRET.test(name)),
    );
  const words = isSecret ? undefined : wordsOf(node);
  if (words !== undefined) {
    const shown = shownWords(words);
    return (node.children ?? []).flatMap((child, index) => literal(child, shown[index] ?? HIDDEN));
  }
  if (node.type === 'array') return (node.children ?? []).flatMap((child) => hiddenIn(child, isSecret));
  if (isSecret) return [{ ...placeOf(node), text: `"${HIDDEN}"` }];
  return node.type === 'string' ? literal(node, shownText(node.value)) : [];
};

/** Nothing if the value is shown as it is. */
const literal = (node: Node, shown: string): readonly Hidden[] =>
  shown === node.value ? [] : [{ ...placeOf(node), text: JSON.stringify(shown) }];

const placeOf = ({ offset, length }: Node) => ({ offset, length });

const commentsIn = (source: string): readonly Hidden[] => {
  const scanner = jsonc.createScanner(source, false);
  const comments: Hidden[] = [];
  for (let kind: number = scanner.scan(); kind !== END; kind = scanner.scan()) {
    if (kind !== LINE_COMMENT && kind !== BLOCK_COMMENT) continue;
    const [offset, length] = [scanner.getTokenOffset(), scanner.getTokenLength()];
    const lines = source.slice(offset, offset + length).split(/(\r\n|\n|\r)/);
    comments.push({ offset, length, text: lines.map(shownText).join('') });
  }
  return comments;
};

/** Of `jsonc.SyntaxKind`, a const enum, which a module that is compiled alone cannot read. */
const [LINE_COMMENT, BLOCK_COMMENT, END] = [12, 13, 17];

/** The words of a command line without the secrets in them. */
export const shownWords = (words: readonly string[]): readonly string[] =>
  words.map((word, index) => (takesSecret(words[index - 1] ?? '') ? HIDDEN : shownText(word)));

/** Whether the next word is the value of this option, and a secret. */
const takesSecret = (word: string): boolean =>
  HEADER.test(word) || SCHEME.test(word) || (word.startsWith('-') && !word.includes('=') && SECRET.test(word));

/** A text without the secrets in it: what follows the name of a secret, and parts of addresses. */
const shownText = (text: string): string => {
  const start = secretStart(text);
  const shown = text
    .slice(0, start)
    .split(/(\s+)/)
    .map((word) => shownAddress(word))
    .join('');
  return start < text.length ? `${shown}${HIDDEN}` : shown;
};

/** Where the first value begins whose name is that of a secret. The text's length if there is no such value. */
const secretStart = (text: string): number => {
  let before = '';
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    if (OWN_VARIABLE.test(word)) continue;
    if (/^-H./.test(word)) return index + 2; // As curl takes a header.
    let start = 0;
    for (const { index: at } of word.matchAll(/[:=]/g)) {
      const name = word.slice(start, at) || before;
      if (!name.startsWith('//') && (SECRET.test(name) || HEADER.test(name))) return index + at + 1;
      start = at + 1;
    }
    if (takesSecret(word)) return index + word.length;
    before = word;
  }
  return text.length;
};

/** An address of any scheme without its user, its password, its query and its fragment. */
const shownAddress = (word: string): string => {
  const scheme = word.indexOf('://');
  const at = word.lastIndexOf('@');
  if (scheme < 0) {
    const colon = word.indexOf(':');
    return colon >= 0 && colon < at ? `${HIDDEN}${word.slice(at)}` : word; // user:password@host
  }
  const start = scheme + '://'.length;
  const query = word.slice(start).search(/[?#]/) + start;
  if (query >= start && query < at) return `${word.slice(0, start)}${HIDDEN}`;
  const end = query < start ? word : `${word.slice(0, query)}?${HIDDEN}`;
  return at < start ? end : `${word.slice(0, start)}${HIDDEN}${end.slice(at)}`;
};
