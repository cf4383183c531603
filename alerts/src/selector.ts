import { RuleOptionsError } from './check-settings.ts';

const MATCHER = /^[A-Za-z_]\w*\s*(?:=~|!~|!=|=)\s*"(?:[^"\\\n]|\\.)*"\s*/;

/**
 * Your own matchers, such as `job=~"agents-.+"`, in the form that goes between the braces of every selector.
 *
 * @param path where they were given, for the error message.
 * @throws RuleOptionsError if they are not a list of matchers: Prometheus would reject the rules or read other series.
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
          message: `${JSON.stringify(text)} is not a list of matchers, at ${JSON.stringify(rest)}. It goes into every query, and Prometheus would reject the rules. Write label="value" with double quotes, separated by commas, such as job=~"agents-.+", cluster="eu".`,
        },
      ]);
    }
    matchers.push(found.trim());
    rest = next.replace(/^,\s*/, '').trim();
  }
  return matchers.join(', ');
};

/**
 * The same matchers inside the raw string of a Go template that `printf` formats. Escapes characters that would end the string
 * or that `printf` would read as a verb.
 */
export const inTemplate = (selector: string): string => selector.replaceAll('%', '%%').replaceAll('`', '\\x60');
