import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startChain } from './chain.ts';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const RELAY = ['--conditions=breakerbox-source', path('../../../packages/cli/src/main.ts'), 'mcp', '--'];
const SERVER = [process.execPath, path('server.mjs')];
const MEGABYTES = 10;
const SIZE = MEGABYTES * 1024 * 1024;

const MESSAGES = [
  ['to the server', { text: 'x'.repeat(SIZE), size: 1 }],
  ['to the client', { text: '', size: SIZE }],
] as const;
/** Only Linux says how much memory a process has taken. */
const measured = existsSync('/proc/self/status') ? MESSAGES : [];

test.each(measured)('M10: a message of 10 MB %s takes at most three times its size', async (_, call) => {
  const chain = await startChain([...RELAY, ...SERVER]);
  try {
    for (let n = 0; n < 100; n += 1) await chain.call({ text: 'x' });
    const rest = chain.restMb();
    await chain.call(call);
    expect(chain.peakMb() - rest).toBeLessThan(3 * MEGABYTES);
  } finally {
    await chain.close();
  }
});

test('a call through the proxy with the SDK works too', async () => {
  const chain = await startChain([path('sdk-proxy.mjs'), ...SERVER]);
  expect(chain.startMs).toBeGreaterThan(0);
  expect(await chain.call({ text: 'x' })).toBeGreaterThan(0);
  await chain.close();
});
