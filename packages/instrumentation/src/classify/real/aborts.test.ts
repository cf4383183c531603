import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { request, fetch as undiciFetch } from 'undici';
import { describe, expect, it } from 'vitest';
import { axios, categoryOf, failingUrl, get, NOW, thrownBy } from '../../test-support/classify/failing.ts';
import { classifyError } from '../../test-support/classify/verdicts.ts';

/** Whatever takes a signal. Each would take for ever. */
const CALLS: readonly (readonly [string, (signal: AbortSignal, url: string) => unknown])[] = [
  ['fetch', (signal, url) => fetch(`${url}/hang`, { signal })],
  ['fetch, inside the body', async (signal, url) => (await fetch(`${url}/half`, { signal })).text()],
  ['undici fetch', (signal, url) => undiciFetch(`${url}/hang`, { signal })],
  ['undici request', (signal, url) => request(`${url}/hang`, { signal })],
  ['node:http', (signal, url) => get(`${url}/hang`, { signal })],
  ['axios', (signal, url) => axios.get(`${url}/hang`, { signal })],
  ['axios over fetch', (signal, url) => axios.get(`${url}/hang`, { signal, adapter: 'fetch' })],
  ['a timer', (signal) => delay(600_000, undefined, { signal, ref: false })],
  ['an event', (signal) => once(new EventTarget(), 'never', { signal })],
  ['a child process', (signal) => promisify(execFile)('sleep', ['600'], { signal })],
];

const never = () => new AbortController().signal;

describe.each(CALLS)('O2: real aborts and timeouts of %s', (_, call) => {
  it('O2: aborted while running is cancelled, with or without the signal', async () => {
    const url = await failingUrl();
    const controller = new AbortController();
    const failing = thrownBy(() => call(controller.signal, url));
    setImmediate(() => controller.abort());
    const error = await failing;
    expect(classifyError(error, NOW).category).toBe('cancelled');
    expect(classifyError(error, { ...NOW, signal: controller.signal }).category).toBe('cancelled');
  });

  it('O2: aborted before it started is cancelled', async () => {
    const url = await failingUrl();
    expect(await categoryOf(() => call(AbortSignal.abort(), url))).toBe('cancelled');
  });

  it('O2: aborted with a custom reason is cancelled if the signal is known', async () => {
    const url = await failingUrl();
    const signal = AbortSignal.abort(new Error('the user left'));
    const error = await thrownBy(() => call(signal, url));
    expect(classifyError(error, { ...NOW, signal }).category).toBe('cancelled');
  });

  it('O2: AbortSignal.timeout is a timeout, in every library', async () => {
    const url = await failingUrl();
    const signal = AbortSignal.timeout(20);
    const error = await thrownBy(() => call(signal, url));
    expect(classifyError(error, NOW).category).toBe('timeout');
    expect(classifyError(error, { ...NOW, signal }).category).toBe('timeout');
  });

  it('O2: AbortSignal.any is classified by the signal that fired', async () => {
    const url = await failingUrl();
    expect(await categoryOf(() => call(AbortSignal.any([never(), AbortSignal.timeout(20)]), url))).toBe('timeout');
    expect(await categoryOf(() => call(AbortSignal.any([never(), AbortSignal.abort()]), url))).toBe('cancelled');
  });
});

describe('O2: timeouts without an abort', () => {
  it('O2: a promise that lost a race against a timer', async () => {
    const late = async () => {
      await delay(1);
      throw new Error('The search timed out after 1 ms');
    };
    expect(await categoryOf(() => Promise.race([new Promise(() => undefined), late()]))).toBe('timeout');
  });

  it('O2: parallel calls that were cancelled because one failed outrank nothing', async () => {
    const url = await failingUrl();
    const controller = new AbortController();
    const calls = [
      fetch(`${url}/hang`, { signal: controller.signal }),
      fetch(`${url}/drop`).finally(() => controller.abort()),
    ];
    expect(await categoryOf(() => Promise.any(calls))).toBe('network');
  });
});
