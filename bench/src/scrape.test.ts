import { expect, test } from 'vitest';
import { measureScrapes } from './scrape.ts';

/** It was 0.13 when the text was written at once. The agent and the client share two cores with other tests. */
const LEAST_TICKS = 0.7;

test('a client that reads 92,000 series of /metrics in a loop leaves the agent its timers', async () => {
  const { series, quiet, loop } = await measureScrapes();
  expect(series).toBeGreaterThan(88_000);
  expect(loop.answers).toBeGreaterThan(5);
  expect(loop.ticks).toBeGreaterThan(LEAST_TICKS * quiet.ticks);
});
