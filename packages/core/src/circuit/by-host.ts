import { guarded, read } from '../classify/untrusted.ts';

/**
 * A tool's `key` (C14): the host of the URL in one field of the arguments, or of the argument itself if it is a URL, in lower case
 * and with its port. There is no key without a URL that has a host.
 *
 * @param field the field of the arguments. Default `url`.
 *
 * @example
 * ```ts
 * createBreakerbox({ agent: 'research-agent', tools: { fetch_page: { key: byHost() } } });
 * ```
 */
export const byHost =
  (field = 'url'): ((input: unknown) => string | undefined) =>
  (input) => {
    const url = typeof input === 'string' ? input : read(input, field);
    if (typeof url !== 'string') return undefined;
    return guarded(() => new URL(url).host.toLowerCase() || undefined, undefined);
  };
