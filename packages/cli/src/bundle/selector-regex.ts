/*
 * Regular expressions of PromQL, which are RE2's and not JavaScript's. What is read here, Prometheus 2.42 and later read too; a
 * few things that only newer ones read, or that nobody needs for a label, are refused with what to write instead.
 */

/** RE2 goes to 1000, counting every part of an expression and not only its brackets. */
const MOST_NESTED = 200;
const MOST_REPEATS = 1000;

const UNICODE = new Set(
  'Any C L M N P S Z Cc Cf Co Cs Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs Arabic Cyrillic Devanagari Greek Han Hangul Hebrew Hiragana Katakana Latin Thai'.split(
    ' ',
  ),
);
const POSIX = /\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]/y;
/** A single character, written with a backslash. */
const CHARACTER = /\\(?:[afnrtv]|x[0-9A-Fa-f]{2}|x\{([0-9A-Fa-f]{1,6})\}|0[0-7]{0,2}|[1-7][0-7]{1,2}|[!-/:-@[-`{-~ ])/y;
const MANY = /\\(?:[dDsSwW]|[pP](?:([A-Z])|\{\^?(\w+)\}))/y;
const PLACE = /\\[AbBz]/y;
const QUOTED = /\\Q.+?\\E/y;
const OPENING = /\((?:(?!\?)|\?(?:P<\w+>|[imsU]*(?:-[imsU]+)?:))/y;
const FLAGS = /\(\?(?:[imsU]+(?:-[imsU]+)?|-[imsU]+)\)/y;
const REPEAT = /(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/y;

class RegexFault extends Error {
  override readonly name = 'RegexFault';
}

const refuse = (what: string): never => {
  throw new RegexFault(what);
};

/** What is wrong with a regular expression of PromQL; undefined where nothing is. */
export const regexFault = (expression: string): string | undefined => {
  try {
    readRegex(expression);
    return undefined;
  } catch (error) {
    if (!(error instanceof RegexFault)) throw error;
    return error.message;
  }
};

const readRegex = (text: string): void => {
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text) ?? undefined;
    at += found?.[0].length ?? 0;
    return found;
  };

  /** Alternatives up to a bracket or the end. Gives the most repeats that are within one another. */
  const alternatives = (depth: number): number => {
    if (depth > MOST_NESTED) refuse(`has more than ${MOST_NESTED} brackets within one another. Write it flatter`);
    let most = 1;
    /** How often the atom before is repeated; undefined where there is none, or one with a repeat already. */
    let atom: number | undefined;
    let repeated = false;
    while (at < text.length && text[at] !== ')') {
      if (text[at] === '|') {
        at += 1;
        atom = undefined;
        repeated = false;
        continue;
      }
      const repeat = take(REPEAT);
      if (repeat === undefined) {
        if (take(FLAGS) !== undefined) continue;
        atom = part(depth);
        repeated = false;
      } else {
        if (atom === undefined || repeated) refuse(`can't be read: nothing to repeat before ${repeat[0]}`);
        atom = timesOf(repeat) * (atom ?? 1);
        if (atom > MOST_REPEATS) refuse(`repeats something more than ${MOST_REPEATS} times, which Prometheus refuses`);
        repeated = true;
      }
      most = Math.max(most, atom ?? 1);
    }
    return most;
  };

  const part = (depth: number): number => {
    if (text[at] === '(') return group(depth);
    if (text[at] === '[') set();
    else if (text[at] === '\\') {
      if ((take(QUOTED) ?? take(PLACE) ?? many()) === undefined) one();
    } else at += 1;
    return 1;
  };

  const group = (depth: number): number => {
    if (take(OPENING) === undefined) refuse(groupFault(text.slice(at, at + MOST_NESTED)));
    const most = alternatives(depth + 1);
    if (text[at] !== ')') refuse("can't be read: unterminated group");
    at += 1;
    return most;
  };

  const many = (): RegExpExecArray | undefined => {
    const found = take(MANY);
    const name = found?.[1] ?? found?.[2];
    if (name !== undefined && !UNICODE.has(name)) {
      refuse(`has ${found?.[0]}: no such class is known here. Write the characters themselves in [ ]`);
    }
    return found;
  };

  /** `[…]`; a `]` that comes first is a character. */
  const set = (): void => {
    take(/\[\^?/y);
    for (let first = true; first || text[at] !== ']'; first = false) {
      if (at >= text.length) refuse("can't be read: [ is never closed, and a ] that comes first in it is a character");
      if (take(POSIX) !== undefined || many() !== undefined) continue;
      if (text.startsWith('[:', at) && text.includes(':]', at)) refuse('has a [:class:] that Prometheus knows not');
      const low = one();
      if (text[at] !== '-' || at + 1 >= text.length || text[at + 1] === ']') continue;
      at += 1;
      if (one() < low) refuse("can't be read: a range in [ ] goes from the higher to the lower character");
    }
    at += 1;
  };

  /** One character, by its number. */
  const one = (): number => {
    if (text[at] === '\\') {
      const found = take(CHARACTER) ?? refuse(escapeFault(text.slice(at)));
      return characterOf(found);
    }
    const code = text.codePointAt(at) ?? 0;
    at += code > 0xffff ? 2 : 1;
    return code;
  };

  alternatives(0);
  if (at < text.length) refuse("can't be read: unmatched )");
};

const timesOf = ([written, least = '', most = '']: RegExpExecArray): number => {
  if (!written.startsWith('{')) return 1;
  const times = Math.max(Number(least), Number(most), 1);
  if (most !== '' && Number(most) < Number(least)) refuse(`can't be read: ${written} has its numbers out of order`);
  return times;
};

const CONTROL: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

const characterOf = ([written, braced]: RegExpExecArray): number => {
  const rest = written.slice(1);
  const code = braced ?? (/^x/.test(rest) ? rest.slice(1) : undefined);
  if (code !== undefined) {
    const point = Number.parseInt(code, 16);
    return point > 0x10ffff ? refuse(`has ${written}, and no character has that number`) : point;
  }
  if (/^\d/.test(rest)) return Number.parseInt(rest, 8);
  return CONTROL[rest] ?? rest.codePointAt(0) ?? 0;
};

const groupFault = (rest: string): string => {
  if (/^\(\?<?[=!]/.test(rest)) {
    return 'looks ahead or behind, which Prometheus can not. Use =~ and !~ together instead';
  }
  if (/^\(\?<\w+>/.test(rest))
    return 'names a group by (?<name>, which older Prometheus refuses. Write (?P<name> or ( alone';
  return `can't be read: ${rest.slice(0, 4)} begins no group that Prometheus has`;
};

const escapeFault = (rest: string): string => {
  if (/^\\(?:[1-9]|k<)/.test(rest)) return 'refers back to a group, which Prometheus can not';
  if (rest.startsWith('\\Q')) return 'has a \\Q without its \\E, or nothing between them';
  if (rest === '\\') return "can't be read: it ends with a \\";
  return `has ${rest.slice(0, 2)}, which Prometheus has not, or not there. Write the character without the \\`;
};
