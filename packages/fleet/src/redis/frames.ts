const LINE_FEED = 0x0a;

/** Characters of a line that is no text, and of a text that are looked at. */
const SHORT = 32;

/** Characters of an error or a status. A client copies them again and again until the line ends. */
const MOST_TEXT = 64 * 1024;

/** A client makes an `Error` of it, which takes as long as twenty other parts. */
const ERROR_PARTS = 20;

/** The lines that Redis answers a fleet with. Numbers of any length (`(`), fractions (`,`) and attributes (`|`) are not among them. */
const LINE = /^(?:[+-].*|[:$=!*%~>]([+-]?\d{1,20})\r|_\r|#[tf]\r)$/s;

/** What a message on a channel begins with, and what confirms a subscription. */
const KIND = /^[sp]?(?:message|(?:un)?subscribe)$/;
const LONGEST_KIND = 12;

/** In all ranges of slots together. A client of a cluster counts from the first to the last one, which may take for ever. A cluster has 16,384. */
const MOST_SLOTS = 100_000;

/**
 * What a client may get. `ioredis` throws where no other code can catch it, which ends the process, if a message has no name, or comes on
 * a connection that has no subscription (`answers`), or if an answer on one that subscribes is neither a text nor a list that begins with
 * two (`messages`).
 */
export type Fit = 'any' | 'answers' | 'messages';

/** What some bytes had. */
export interface Frames {
  /** Values and lists. A list of a million empty lists has few bytes, and a client takes a second for it. */
  readonly parts: number;
  /** Whole answers, without messages. */
  readonly answers: number;
  /** Whether an answer or a message became whole. */
  readonly isWhole: boolean;
}

const unfit = (what: string): Error => new Error(`Redis sent ${what}.`);

/**
 * Checks what Redis sends (RESP) before a client reads it, however it is cut. With `hasSlots` the slots of a cluster may come, whose lists
 * look like those of other answers, such as of a sentinel.
 *
 * @throws Error if it does not fit.
 */
export const frameChecker = (fit: Fit = 'any', hasSlots = false): ((bytes: Buffer) => Frames) => {
  /** Bytes of a string that have not come yet. */
  let content = 0;
  let head = '';
  let length = 0;
  /** Parts that each open list still lacks. */
  const open: number[] = [];
  let outer = '';
  let size = 0;
  let isMessage = false;
  /** Of the outer list. */
  let index = 0;
  /** The first string of the outer list, while it comes. */
  let word: string | undefined;
  let parts = 0;
  let answers = 0;
  let isWhole = false;
  /** Of the slots of a cluster: the index in a range, its first one, the number in all ranges, and the index in a node. */
  let place = 0;
  let from = 0;
  let slots = 0;
  let node = 0;

  /** The second part of a list in a list is the last slot of a range, or how many processes listen on a channel. A node begins with host and port. */
  const checkSlots = (sign: string, number: number, isList: boolean): void => {
    if (open.length === 3) {
      node += 1;
      if (node < 3 && isList && number >= 0) throw unfit('a node of a cluster without an address');
    }
    if (open.length !== 2) return;
    place += 1;
    if (place === 1) from = sign === ':' ? number : 0; // Null counts as 0 too.
    if (place !== 2) return;
    if (sign !== ':') throw unfit('a range of slots that is no number');
    slots += Math.max(0, number - from);
    if (slots > MOST_SLOTS) throw unfit('more slots than a cluster has');
  };

  const begins = (text: string): void => {
    word = undefined;
    isMessage = KIND.test(text);
    if (!isMessage) return;
    if (fit === 'answers' && outer === '>') throw unfit('a message without a subscription');
    if (fit === 'messages' && (size < 3 || size > 4)) throw unfit('a message without its parts');
  };

  const check = (sign: string, isList: boolean, count: number, isString: boolean): void => {
    const named = fit === 'messages' ? 2 : Number(fit === 'answers' && outer === '>');
    if (open.length === 0) {
      const least = sign === '=' ? 6 : 2; // `=` has a format of four characters, which a client cuts off.
      if (fit === 'messages' && !'-!'.includes(sign) && !((isList || isString || sign === '=') && count >= least))
        throw unfit('an answer that is no text');
    } else if (open.length === 1) {
      if (index < named && !isString) throw unfit('a message without a name');
      if (isList && isMessage && fit !== 'any') throw unfit('a message with a list');
    }
  };

  const done = (): void => {
    for (let left = open.pop(); left !== undefined; left = open.pop()) {
      if (left > 1) return void open.push(left - 1);
    }
    isWhole = true;
    if (outer !== '>' && !isMessage) answers += 1;
  };

  const line = (): void => {
    const sign = head.charAt(0);
    const found = LINE.exec(head);
    if (found === null) throw unfit('a line that does not fit');
    const isError = sign === '-' || sign === '!';
    const isList = '*%~>'.includes(sign);
    const given = Number(found[1] ?? length - 2) * (sign === '%' ? 2 : 1);
    const isString = sign === '+' || (sign === '$' && given >= 0);
    if (sign === '!' && given > MOST_TEXT) throw unfit('a long error');
    parts += isError ? ERROR_PARTS : 1;
    if (open.length === 0) {
      outer = sign;
      size = given;
      index = 0;
      isMessage = false;
      slots = 0;
    }
    if (open.length === 1) place = 0;
    if (open.length === 2) node = 0;
    if (hasSlots && open.length > 1 && '*~'.includes(outer)) checkSlots(sign, given, isList);
    check(sign, isList, given, isString);
    const isFirst = open.length === 1 && index === 0 && isString && '*>'.includes(outer);
    if (open.length === 1) index += 1;
    if ('$=!'.includes(sign) && given >= 0) {
      content = given + 2;
      if (isFirst && given <= LONGEST_KIND) word = '';
    } else if (isFirst) begins(head.slice(1, -1));
    if (isList && given > 0) open.push(given);
    else done();
  };

  return (bytes) => {
    parts = 0;
    answers = 0;
    isWhole = false;
    let at = 0;
    while (at < bytes.length) {
      const skipped = Math.min(content, bytes.length - at);
      if (word !== undefined) word += bytes.toString('latin1', at, at + skipped);
      content -= skipped;
      at += skipped;
      if (content === 0 && word !== undefined) begins(word.slice(0, -2));
      if (at === bytes.length) break;
      const end = bytes.indexOf(LINE_FEED, at);
      const to = end === -1 ? bytes.length : end;
      head += bytes.toString('latin1', at, Math.min(to, at + SHORT - head.length));
      length += to - at;
      at = to + 1;
      if (length > (head.startsWith('+') || head.startsWith('-') ? MOST_TEXT : SHORT)) throw unfit('a long line');
      if (end === -1) break;
      line();
      head = '';
      length = 0;
    }
    return { parts, answers, isWhole };
  };
};
