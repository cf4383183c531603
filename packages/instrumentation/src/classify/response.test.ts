import { fetch as undiciFetch } from 'undici';
import { describe, expect, it } from 'vitest';
import { failingUrl } from '../test-support/classify/failing.ts';
import { classifyResult } from '../test-support/classify/verdicts.ts';

const classify = (result: unknown) => classifyResult(result, { unixMs: 0 });

describe('O2, O9: a Response that is returned', () => {
  it('O2, O9: a Response that is not ok is classified by status and Retry-After, and its body is not read', async () => {
    const url = await failingUrl({ 'Retry-After': '7' });
    for (const get of [fetch, undiciFetch]) {
      const response = await get(`${url}/503`);
      expect(classify(response)).toEqual({ category: 'server', retryAfterMs: 7000 });
      expect(response.bodyUsed).toBe(false);
      expect(await response.json()).toEqual({ error: { message: 'no' } });
      expect(classify(response)).toEqual({ category: 'server', retryAfterMs: 7000 });
    }
    expect(classify(new Response('x', { status: 404 }))).toEqual({ category: 'invalid_input' });
    expect(classify(new Response('x', { status: 401 }))).toEqual({ category: 'permission' });
    expect(classify(Response.error())).toEqual({ category: 'network' });
  });

  it('O2: an ok response and an unfollowed redirect are successes', () => {
    expect(classify(new Response('HTTP 503'))).toBeUndefined();
    expect(classify(Response.redirect('http://127.0.0.1/', 302))).toBeUndefined();
  });
});
