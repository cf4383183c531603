/** What RE2, which Prometheus uses, has not, though JavaScript has. */
const NOT_IN_RE2 = [
  { pattern: /^\(\?<?[=!]/, what: 'looks ahead or behind, which Prometheus can not. Use =~ and !~ together instead' },
  { pattern: /^\\[1-9]/, what: 'refers back to a group, which Prometheus can not' },
  { pattern: /^\\k</, what: 'refers back to a group, which Prometheus can not' },
] as const;

/** What RE2 has and JavaScript has not, or spells differently. */
const IN_RE2_ALONE: readonly (readonly [RegExp, string])[] = [
  [/\(\?[imsU]+(?:-[imsU]+)?\)/g, ''],
  [/\(\?[imsU]*(?:-[imsU]+)?:/g, '(?:'],
  [/\(\?P</g, '(?<'],
  [/\\[AzQEC]/g, ''],
];

/** What is wrong with a regular expression of PromQL; undefined: nothing that can be told without Prometheus. */
export const regexFault = (expression: string): string | undefined => {
  for (let at = 0; at < expression.length; at += expression[at] === '\\' ? 2 : 1) {
    const rest = expression.slice(at);
    const found = NOT_IN_RE2.find(({ pattern }) => pattern.test(rest));
    if (found !== undefined) return found.what;
  }
  const readable = IN_RE2_ALONE.reduce((text, [pattern, instead]) => text.replace(pattern, instead), expression);
  try {
    new RegExp(readable);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*\/: /s, '') : String(error);
    return `can't be read: ${reason.toLowerCase()}`;
  }
};
