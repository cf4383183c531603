import { RuleOptionsError } from './check-settings.ts';

/**
 * A URL that links can begin with, without slashes at its end.
 * @throws RuleOptionsError that names `path` if it is not one
 * @example checkedUrl('https://console.example.com/', 'consoleUrl', 'https://console.example.com') // 'https://console.example.com'
 */
export const checkedUrl = (text: string, path: string, like: string): string => {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  const usable = parsed !== undefined && /^https?:$/.test(parsed.protocol) && !/[{}"`\s]/.test(text);
  if (usable) return text.replace(/\/+$/, '');
  throw new RuleOptionsError([
    {
      path,
      message: `is ${JSON.stringify(text)}, which cannot be the start of a link. Write a URL with http or https and without spaces, quotes or braces, such as ${like}.`,
    },
  ]);
};
