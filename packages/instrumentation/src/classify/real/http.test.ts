import type { ErrorCategory } from '@breakerbox/core';
import { Agent, interceptors, RetryAgent, request, fetch as undiciFetch } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { axios, categoryOf, failingUrl, get, NOW, thrownBy } from '../../test-support/classify/failing.ts';
import { classifyError, classifyResult } from '../../test-support/classify/verdicts.ts';

const STATUSES: readonly (readonly [number, ErrorCategory])[] = [
  [400, 'invalid_input'],
  [401, 'permission'],
  [402, 'resource'],
  [403, 'permission'],
  [404, 'invalid_input'],
  [408, 'timeout'],
  [409, 'invalid_input'],
  [422, 'invalid_input'],
  [429, 'rate_limit'],
  [500, 'server'],
  [502, 'server'],
  [503, 'server'],
  [504, 'timeout'],
];

class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly response: Response;
  constructor(response: Response) {
    super(`Request failed: ${response.url}`);
    this.response = response;
  }
}

/** The ways in which people make errors of statuses, each as they write it. */
const WRAPPED: readonly (readonly [string, (url: string) => Promise<unknown>])[] = [
  [
    'fetch, throwing the response',
    async (url) => {
      const response = await fetch(url);
      if (!response.ok) throw response;
    },
  ],
  [
    'fetch, as an error with the response',
    async (url) => {
      const response = await fetch(url);
      if (!response.ok) throw new HttpError(response);
    },
  ],
  [
    'fetch, with the response as the cause',
    async (url) => {
      const response = await fetch(url);
      if (!response.ok) throw new Error('The search did not work', { cause: response });
    },
  ],
  [
    'fetch, with status and headers',
    async (url) => {
      const { ok, status, headers } = await fetch(url);
      if (!ok) throw Object.assign(new Error('Search failed'), { status, headers });
    },
  ],
  ['undici with responseError', (url) => request(url, { dispatcher: throwing() })],
  ['undici fetch with responseError', (url) => undiciFetch(url, { dispatcher: throwing() })],
  [
    'undici request, by hand',
    async (url) => {
      const { statusCode, headers } = await request(url);
      if (statusCode >= 400) throw Object.assign(new Error('Search failed'), { statusCode, headers });
    },
  ],
  [
    'node:http, throwing the answer',
    async (url) => {
      const response = await get(url);
      response.resume();
      throw response;
    },
  ],
  ['axios', (url) => axios.get(url)],
  ['axios over fetch', (url) => axios.get(url, { adapter: 'fetch' })],
];

/** People who keep nothing but the text of the status. */
const TEXTS: readonly (readonly [string, (response: Response) => string])[] = [
  ['HTTP 503', ({ status }) => `HTTP ${status}`],
  ['HTTP error! status: 503', ({ status }) => `HTTP error! status: ${status}`],
  ['Request failed with status code 503', ({ status }) => `Request failed with status code ${status}`],
  ['503 Service Unavailable', ({ status, statusText }) => `${status} ${statusText}`],
  ['API error (status 503)', ({ status, url }) => `Request to ${url} failed: status ${status}`],
];

function throwing() {
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  return agent.compose(interceptors.responseError());
}

describe.each(WRAPPED)('O2: real HTTP statuses by %s', (_, call) => {
  it.each(STATUSES)('O2: %i is %s', async (status, wanted) => {
    const url = await failingUrl();
    expect(classifyError(await thrownBy(() => call(`${url}/${status}`)), NOW)).toEqual({ category: wanted });
  });

  it('O3: Retry-After in seconds is the minimum wait', async () => {
    const url = await failingUrl({ 'Retry-After': '7' });
    const error = await thrownBy(() => call(`${url}/429`));
    expect(classifyError(error, NOW)).toEqual({ category: 'rate_limit', retryAfterMs: 7000 });
  });

  it('O3: Retry-After as a date is the minimum wait', async () => {
    const url = await failingUrl({ 'Retry-After': new Date(NOW.unixMs + 90_000).toUTCString() });
    const error = await thrownBy(() => call(`${url}/503`));
    expect(classifyError(error, NOW)).toEqual({ category: 'server', retryAfterMs: 90_000 });
  });
});

describe.each(TEXTS)('O2: real HTTP statuses as text: %s', (_, say) => {
  it.each(STATUSES)('O2: %i is %s', async (status, wanted) => {
    const response = await fetch(`${await failingUrl()}/${status}`);
    await response.body?.cancel();
    expect(classifyError(new Error(say(response)), NOW).category).toBe(wanted);
    const result = { isError: true, content: [{ type: 'text', text: say(response) }] };
    expect(classifyResult(result, NOW)?.category).toBe(wanted);
  });
});

describe('O2: errors without a status', () => {
  it('O2: undici gives up after its retries', async () => {
    const url = await failingUrl({ 'Retry-After': '7' });
    const agent = new Agent();
    onTestFinished(() => agent.destroy());
    const dispatcher = new RetryAgent(agent, { maxRetries: 1, minTimeout: 1, retryAfter: false });
    const error = await thrownBy(() => request(`${url}/503`, { dispatcher }));
    expect(error).toHaveProperty('code', 'UND_ERR_REQ_RETRY');
    expect(classifyError(error, NOW)).toEqual({ category: 'server', retryAfterMs: 7000 });
  });

  it('O2: an invalid URL, or an unsupported scheme, is a bad argument', async () => {
    for (const url of ['nonsense', 'gopher://127.0.0.1/']) {
      expect(await categoryOf(() => fetch(url))).toBe('invalid_input');
      expect(await categoryOf(() => request(url))).toBe('invalid_input');
      expect(await categoryOf(() => axios.get(url))).toBe('invalid_input');
    }
  });

  it('O2: HTML or an empty body instead of JSON is an error of the server, with fetch of Node and of undici', async () => {
    const url = await failingUrl();
    for (const get of [fetch, undiciFetch]) {
      expect(await categoryOf(async () => (await get(`${url}/html`)).json())).toBe('server');
      expect(await categoryOf(async () => (await get(`${url}/empty`)).json())).toBe('server');
    }
  });

  it("O2: an error of a tool's own JSON.parse is unknown, and so a failure; for HTML it is an error of the server", async () => {
    expect(await categoryOf(() => JSON.parse('{"city": '))).toBe('unknown');
    expect(await categoryOf(() => JSON.parse('<answer>'))).toBe('unknown');
    expect(await categoryOf(() => JSON.parse('<!DOCTYPE html><html></html>'))).toBe('server');
  });
});
