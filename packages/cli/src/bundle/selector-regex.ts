/*
 * Regular expressions of PromQL, which are RE2's and not JavaScript's. Prometheus 2.42 and later accept everything that this parser
 * accepts. A few things that only newer versions accept, or that no label needs, are refused with an alternative.
 */

/** RE2 allows 1000, but it counts every part of an expression and not only its brackets. */
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

/** What is wrong with a regular expression of PromQL; undefined if it is valid. */
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

  /** Reads alternatives up to a closing bracket or the end. Returns the largest product of nested repeats. */
  const alternatives = (depth: number): number => {
    if (depth > MOST_NESTED) refuse(`has more than ${MOST_NESTED} nested brackets. Use fewer levels`);
    let most = 1;
    /** Repeats of the atom before; undefined if there is no atom. */
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
        if (atom === undefined || repeated) refuse(`is invalid: nothing to repeat before ${repeat[0]}`);
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
    if (text[at] !== ')') refuse('is invalid: unterminated group');
    at += 1;
    return most;
  };

  const many = (): RegExpExecArray | undefined => {
    const found = take(MANY);
    const name = found?.[1] ?? found?.[2];
    if (name !== undefined && !UNICODE.has(name)) {
      refuse(`has ${found?.[0]}: an unknown character class. Write the characters themselves in [ ]`);
    }
    return found;
  };

  /** `[…]`; a `]` in the first place is a character. */
  const set = (): void => {
    take(/\[\^?/y);
    for (let first = true; first || text[at] !== ']'; first = false) {
      if (at >= text.length) refuse('is invalid: [ is never closed. A ] directly after [ is a character');
      if (take(POSIX) !== undefined || many() !== undefined) continue;
      if (text.startsWith('[:', at) && text.includes(':]', at)) refuse('has a [:class:] that Prometheus does not know');
      const low = one();
      if (text[at] !== '-' || at + 1 >= text.length || text[at + 1] === ']') continue;
      at += 1;
      if (one() < low) refuse('is invalid: a range in [ ] goes from a higher to a lower character');
    }
    at += 1;
  };

  /** Reads one character, and returns its code point. */
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
  if (at < text.length) refuse('is invalid: unmatched )');
};

const timesOf = ([written, least = '', most = '']: RegExpExecArray): number => {
  if (!written.startsWith('{')) return 1;
  const times = Math.max(Number(least), Number(most), 1);
  if (most !== '' && Number(most) < Number(least)) refuse(`is invalid: the numbers of ${written} are out of order`);
  return times;
};

const CONTROL: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

const characterOf = ([written, braced]: RegExpExecArray): number => {
  const rest = written.slice(1);
  const code = braced ?? (/^x/.test(rest) ? rest.slice(1) : undefined);
  if (code !== undefined) {
    const point = Number.parseInt(code, 16);
    return point > 0x10ffff ? refuse(`has ${written}, which is not a character`) : point;
  }
  if (/^\d/.test(rest)) return Number.parseInt(rest, 8);
  return CONTROL[rest] ?? rest.codePointAt(0) ?? 0;
};

const groupFault = (rest: string): string => {
  if (/^\(\?<?[=!]/.test(rest)) {
    return 'has a lookahead or lookbehind, which Prometheus does not support. Use =~ and !~ together instead';
  }
  if (/^\(\?<\w+>/.test(rest))
    return 'names a group with (?<name>, which older Prometheus versions refuse. Write (?P<name> or just (';
  return `is invalid: Prometheus has no group that begins with ${rest.slice(0, 4)}`;
};

const escapeFault = (rest: string): string => {
  if (/^\\(?:[1-9]|k<)/.test(rest)) return 'has a backreference, which Prometheus does not support';
  if (rest.startsWith('\\Q')) return 'has a \\Q without its \\E, or nothing between them';
  if (rest === '\\') return 'is invalid: it ends with a \\';
  return `has ${rest.slice(0, 2)}, which Prometheus does not support there. Write the character without the \\`;
};
