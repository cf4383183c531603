/** What docs/fleet.md and SECURITY.md say that Redis gets. */
import { createBreakerbox } from '@breakerbox/core';
import { operate } from '@breakerbox/core/control';
import { createClient } from 'redis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createFleet } from '../fleet.ts';
import { startRedis } from './test-support.redis-server.ts';

const SECRET = 'S3cret';

const started = async () => {
  const server = await startRedis();
  const url = server.url.replace('redis://', `redis://default:${SECRET}@`);
  const fleet = createFleet({ client: createClient({ url }) });
  const reader = createClient({ url: server.url });
  onTestFinished(async () => {
    await fleet.close();
    reader.destroy();
    await server.stop();
  });
  await reader.connect();
  const box = createBreakerbox({
    agent: 'research',
    scope: 'process',
    fleet,
    tools: { search: { share: 'fleet' } },
    groups: { github: { share: 'fleet' } },
  });
  return { box, fleet, reader };
};

test('Q2, G9: Redis gets names, categories, states and times, and for an action who and why', async () => {
  const { box, fleet, reader } = await started();
  await vi.waitFor(() => expect(fleet.status().processes).toBe(1), 10_000);
  const session = box.session({ id: `${SECRET}-session` });
  for (let call = 0; call < 3; call += 1) {
    const error = Object.assign(new Error(`${SECRET} in a text`, { cause: SECRET }), { code: 'ECONNREFUSED' });
    session.acquire('search', { input: { q: SECRET } }).settle({ error });
  }
  await vi.waitFor(() => expect(fleet.status().circuits).toMatchObject([{ name: 'search', state: 'open' }]), 10_000);
  operate(box).force('search', { mode: 'forced_open', owner: 'ada', reason: 'repair' });
  await vi.waitFor(() => expect(fleet.status().actions).toHaveLength(1), 10_000);

  const keys = await reader.keys('*');
  expect(keys).toEqual(['{breakerbox:1:research}']);
  const hash = Object.entries(await reader.hGetAll(keys[0] ?? ''));
  const written = JSON.stringify(hash);
  expect(written).not.toContain(SECRET);
  expect(hash.map(([field]) => field.replace(/:.*/, '')).sort()).toEqual(['a', 'c', 'e', 'v']);
  for (const word of ['search', 'network', 'ada', 'repair']) expect(written).toContain(word);
  expect(await reader.pTTL(keys[0] ?? '')).toBeGreaterThan(3_000_000);
});
