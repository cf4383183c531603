import { RuleOptionsError } from './check-settings.ts';

const MATCHER = /^[A-Za-z_]\w*\s*(?:=~|!~|!=|=)\s*"(?:[^"\\\n]|\\.)*"\s*/;

/**
 * Matchers of one's own, such as `job=~"agents-.+"`, as they stand between the braces of every selector of the rules.
 *
 * @param path where they were given, for the error.
 * @throws RuleOptionsError where they are no list of matchers: the rules would be refused, or mean something else.
 * @example checkedSelector('{job="a", cluster!="test"}') // 'job="a", cluster!="test"'
 */
export const checkedSelector = (text: string, path = 'selector'): string => {
  const braced = /^\s*\{(?<inner>[\s\S]*)\}\s*$/.exec(text)?.groups?.inner ?? text;
  const matchers: string[] = [];
  let rest = braced.trim();
  while (rest !== '') {
    const found = MATCHER.exec(rest)?.[0];
    const next = found === undefined ? undefined : rest.slice(found.length);
    if (found === undefined || next === undefined || (next !== '' && !next.startsWith(','))) {
      throw new RuleOptionsError([
        {
          path,
          message: `${JSON.stringify(text)} is no list of matchers, at ${JSON.stringify(rest)}. It is written into every query, and Prometheus would refuse the rules. Write label="value" with double quotes, several with a comma between them, such as job=~"agents-.+", cluster="eu".`,
        },
      ]);
    }
    matchers.push(found.trim());
    rest = next.replace(/^,\s*/, '').trim();
  }
  return matchers.join(', ');
};

/**
 * The same matchers inside a Go template's raw string that `printf` formats: neither may end the string or be taken for a
 * verb.
 */
export const inTemplate = (selector: string): string => selector.replaceAll('%', '%%').replaceAll('`', '\\x60');
