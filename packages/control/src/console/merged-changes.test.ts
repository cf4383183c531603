import { createServer } from 'node:http';
import { closeServer, listening } from '@breakerbox/listen';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Change } from '../changes.ts';
import { mergeChanges } from './merged-changes.ts';

const NOW = 1e12;

/** An endpoint that tells of these changes, and stays connected. */
const telling = async (changes: readonly Change[]) => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(changes.map((change) => `data: ${JSON.stringify(change)}\n\n`).join(''));
  });
  onTestFinished(() => closeServer(server));
  const { port } = (await listening(server, { port: 0, host: '127.0.0.1' })) as { readonly port: number };
  return { url: `http://127.0.0.1:${port}` };
};

test('A8: an endpoint with many changes, or with times in the future, does not hide the changes of others', async () => {
  const hostile = Array.from({ length: 500 }, (_, index): Change => {
    return { kind: 'action', agent: `hostile-${index}`, reason: 'r'.repeat(900), unixMs: NOW + 1e9 + index };
  });
  const merged = mergeChanges(() => NOW);
  const stops = [
    merged.follow('hostile', await telling(hostile)),
    merged.follow('good', await telling([{ kind: 'action', agent: 'good', unixMs: NOW - 1_000 }])),
  ];
  onTestFinished(() => {
    for (const stop of stops) stop();
  });
  let told = 0;
  merged.listen(() => {
    told += 1;
  });
  await vi.waitFor(() => expect(told).toBe(501), { timeout: 10_000 });
  const recent = merged.recent();
  expect(recent.map(({ agent }) => agent)).toContain('good');
  expect(recent.length).toBeGreaterThan(50);
  expect(Math.max(...recent.map(({ unixMs }) => unixMs))).toBe(NOW);
  expect(JSON.stringify(recent).length).toBeLessThan(110_000);
});

test('A8: of changes that an endpoint repeats, none is told twice, also if not all of them are kept', async () => {
  const all = Array.from({ length: 300 }, (_, index): Change => {
    return { kind: 'action', agent: `a-${index}`, reason: 'r'.repeat(900), unixMs: NOW + index };
  });
  const merged = mergeChanges(() => NOW);
  const told: string[] = [];
  merged.listen(({ agent }) => told.push(agent));
  onTestFinished(merged.follow('a', await telling([...all, ...all, { kind: 'action', agent: 'last', unixMs: NOW }])));
  await vi.waitFor(() => expect(told).toContain('last'), { timeout: 10_000 });
  expect(told).toHaveLength(301);
  expect(merged.recent().length).toBeLessThan(150);
});
