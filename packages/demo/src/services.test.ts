import { afterEach, beforeEach, expect, test } from 'vitest';
import { getJson, HttpError } from './http-get.ts';
import { type Service, startService } from './services.ts';

let service: Service;
beforeEach(async () => {
  service = await startService('search', (query) => ({ hits: [query.get('q')] }));
});
afterEach(() => service.close());

const ask = (signal?: AbortSignal) => getJson(service.url, { q: 'a & b' }, signal);

test('answers', async () => {
  expect(await ask()).toEqual({ hits: ['a & b'] });
  expect(await service.healthy()).toBe(true);
});

test('refuses connections, and works again at the same address', async () => {
  await ask();
  await service.break({ kind: 'refuse' });
  await expect(ask()).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  expect(await service.healthy()).toBe(false);
  await service.repair();
  expect(await ask()).toEqual({ hits: ['a & b'] });
});

test('hangs until the caller gives up', async () => {
  await service.break({ kind: 'hang' });
  await expect(ask(AbortSignal.timeout(50))).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(await service.healthy()).toBe(false);
});

test('closes hanging connections when it works again', async () => {
  await service.break({ kind: 'hang' });
  const hanging = ask();
  const dropped = expect(hanging).rejects.toThrow('fetch failed');
  // A health check that times out was accepted after the request before it.
  await service.healthy();
  await service.repair();
  await dropped;
  expect(await ask()).toEqual({ hits: ['a & b'] });
});

test('takes its usual time, sometimes five times as long, and answers 400 to a query that it does not understand', async () => {
  const slow = await startService('orders', () => ({ fine: true }), {
    usualMs: 10,
    understands: (query) => query.get('q') !== 'gibberish',
  });
  const took: number[] = [];
  for (let n = 1; n <= 20; n += 1) {
    const begin = performance.now();
    expect(await getJson(slow.url, { q: 'order 1' }, undefined)).toEqual({ fine: true });
    took.push(performance.now() - begin);
  }
  expect(Math.min(...took)).toBeGreaterThanOrEqual(4);
  expect(took[19]).toBeGreaterThanOrEqual(49);
  await expect(getJson(slow.url, { q: 'gibberish' }, undefined)).rejects.toMatchObject({ status: 400 });
  await slow.close();
});

test('answers 503', async () => {
  await service.break({ kind: 'unavailable' });
  const error = await ask().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HttpError);
  expect(error).toMatchObject({ status: 503 });
  expect(await service.healthy()).toBe(false);
});

test('answers 429 with the seconds that are left', async () => {
  await service.break({ kind: 'rate_limit', forMs: 8500 });
  const error = await ask().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: 429 });
  expect((error as HttpError).headers.get('retry-after')).toBe('9');
});
