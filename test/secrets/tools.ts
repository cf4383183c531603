import type { ToolBody } from '../frameworks/harness.ts';
import type { Garden } from './plants.ts';

/** The parts of an agent of one kind. */
export interface Work {
  readonly tools: Readonly<Record<'search' | 'read' | 'lookup', ToolBody>>;
  /** A secret argument. */
  readonly argument: () => { readonly q: string };
  readonly plant: (what: string) => string;
}

/**
 * Three tools: `search` throws an error with secrets in all its parts, `read` returns one, and `lookup` reports an error in its
 * result.
 */
export const workOf = (kind: string, { plant }: Garden): Work => {
  const planted = (what: string): string => plant(`${kind}: ${what}`);
  let asked = 0;
  return {
    plant: planted,
    argument: () => {
      asked += 1;
      return { q: `${planted('argument')} ${asked}` };
    },
    tools: {
      search: () => {
        throw failureWith(planted);
      },
      read: () => `the page says ${planted('result')}`,
      lookup: () => ({ error: `no order ${planted('error in a result')}` }),
    },
  };
};

/** An error in the form of HTTP clients, with request and response beside the message. */
export const failureWith = (planted: (what: string) => string): Error => {
  const cause = new Error(`connect ECONNREFUSED ${planted('message of a cause')}`);
  const error = new Error(`${planted('message')} answered HTTP 503 Service Unavailable`, { cause });
  error.name = planted('name of an error');
  error.stack = `Error: ${planted('stack')}\n    at ${planted('line of a stack')}:1:1`;
  return Object.assign(error, {
    code: planted('code'),
    status: 503,
    headers: { authorization: `Bearer ${planted('header of a request')}`, 'retry-after': planted('retry-after') },
    config: { url: `https://api.example/?key=${planted('URL')}`, auth: { password: planted('password') } },
    response: { status: 503, statusText: planted('status text'), data: { detail: planted('body') } },
  });
};
