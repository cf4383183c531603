import { ATTR, type ConfigIssue } from '@breakerbox/core';
import { regexFault } from './selector-regex.ts';

/*
 * Matchers of PromQL, as written between the braces of a selector. They are put into hundreds of queries, into the templates of
 * alerts, and into files in which Grafana replaces variables. So this parser rejects more than PromQL does.
 */

/** The flag that errors name. */
const FLAG = '--selector';

const LABEL = /[A-Za-z_][A-Za-z0-9_]*/y;
const OPERATOR = /=~|!~|!=|=/y;
const SPACE = /\s*/y;
/** A value in double or single quotes with escapes, or in backticks without. */
const VALUE = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`/y;

const labelOf = (attribute: string): string => attribute.replaceAll('.', '_');
/** Labels that say which agent a series belongs to. The other labels say what happened, and not every series has them. */
const AGENT = labelOf(ATTR.agent);
const OURS = new Set([...Object.values(ATTR).map(labelOf), 'le'].filter((name) => name !== AGENT));

/** Labels that rules put on alerts. No series has them, so a query with them finds nothing. */
const OF_ALERTS = new Set(['alertname', 'alertstate', 'severity', 'scope']);

class SelectorFault extends Error {
  override readonly name = 'SelectorFault';
}

/** The matchers in one form, or what is wrong with them. */
export type ParsedSelector = { readonly selector: string } | { readonly issue: ConfigIssue };

/**
 * Reads matchers such as `job=~"agents-.+", cluster="eu"`; braces around them are allowed.
 * @example parseSelector(`job=~'agents-.+'`) // { selector: 'job=~"agents-.+"' }
 */
export const parseSelector = (written: string): ParsedSelector => {
  try {
    return { selector: matchersOf(written).join(', ') };
  } catch (error) {
    if (!(error instanceof SelectorFault)) throw error;
    return { issue: { path: FLAG, message: error.message } };
  }
};

const matchersOf = (written: string): readonly string[] => {
  const text = /^\s*\{(.*)\}\s*$/s.exec(written)?.[1] ?? written;
  const offset = text === written ? 0 : written.indexOf('{') + 1;
  const reject = (at: number, what: string): never => {
    throw new SelectorFault(`${what}, at character ${at + offset + 1} of ${written}`);
  };
  if (text.trim() === '') {
    throw new SelectorFault('is empty. Write matchers such as job=~"agents-.+", or leave the flag out for all jobs');
  }
  const matchers: string[] = [];
  let at = 0;
  /** Reads the pattern at the current place; undefined if it does not match there. */
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  for (;;) {
    take(SPACE);
    const label = labelAt(take(LABEL), text, at, reject);
    take(SPACE);
    const operator = take(OPERATOR);
    if (operator === undefined) return reject(at, `the label ${label} must be followed by = != =~ or !~`);
    if (text[at] === '=') return reject(at, `PromQL compares labels with one =, as in ${label}="agents"`);
    take(SPACE);
    const start = at;
    const quoted = take(VALUE);
    if (quoted === undefined) return reject(at, valueFault(text[at], label, operator));
    matchers.push(`${label}${operator}${valueAt(quoted, operator, start, reject)}`);
    take(SPACE);
    if (at === text.length) return matchers;
    if (text[at] !== ',')
      return reject(at, 'two matchers must be separated by a comma; a series must match all of them');
    at += 1;
    take(SPACE);
    if (at === text.length) return matchers;
  }
};

type Reject = (at: number, what: string) => never;

const labelAt = (label: string | undefined, text: string, at: number, reject: Reject): string => {
  if (label === undefined) {
    const found = at === text.length ? 'nothing' : JSON.stringify(text[at]);
    return reject(at, `expected the name of a label, such as job, but found ${found}`);
  }
  const start = at - label.length;
  if (label === '__name__') {
    return reject(
      start,
      '__name__ is the name of the metric, which every query already has. Select by job or another label',
    );
  }
  if (OURS.has(label)) {
    return reject(
      start,
      `${label} says what happened, not to which agent: counts and alerts would be wrong. Select by job, ${AGENT}, or a label of your own such as cluster`,
    );
  }
  if (OF_ALERTS.has(label)) {
    return reject(
      start,
      `${label} is a label of alerts. No series of an agent has it, so nothing would be found. Select by job, ${AGENT}, or a label of your own such as cluster`,
    );
  }
  return label;
};

const valueFault = (found: string | undefined, label: string, operator: string): string =>
  found === '"' || found === "'" || found === '`'
    ? `the quote ${found} is never closed`
    : `a value must be in quotes, as in ${label}${operator}"agents". In a shell, put the whole selector in single quotes`;

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\', '"': '"', "'": "'", n: '\n', t: '\t' };

/** The value in double quotes, whichever quotes it was written in. */
const valueAt = (quoted: string, operator: string, start: number, reject: Reject): string => {
  const inside = quoted.slice(1, -1);
  const value = quoted.startsWith('`')
    ? inside
    : inside.replace(/\\(.)/gs, (written: string, one: string) => {
        const meant = ESCAPES[one];
        if (meant !== undefined) return meant;
        return reject(
          start,
          `PromQL has no escape ${written} in quotes. Write a backslash of a regular expression twice, as in "v1\\\\..+"`,
        );
      });
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(value))
    return reject(start, 'a value must not contain a line break, tab or other control character');
  if (value.includes('$')) {
    return reject(
      start,
      'a $ begins a variable in Grafana, so it is not allowed. You do not need it as an end anchor: regular expressions match the whole value. To match the character $, use =~ and write . for it',
    );
  }
  if (value.includes('`') || /\{\{|\}\}/.test(value)) {
    return reject(
      start,
      'a value must not contain a backtick or a double brace, because they have a meaning in templates of alerts',
    );
  }
  const fault = operator.endsWith('~') ? regexFault(value) : undefined;
  if (fault !== undefined) return reject(start, `the regular expression ${JSON.stringify(value)} ${fault}`);
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
};
