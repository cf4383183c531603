import { BreakerboxConfigError } from '@breakerbox/core';
import { createClient, createSentinel } from 'redis';
import { describe, expect, test } from 'vitest';
import { createFleet } from './fleet.ts';
import { memoryStore } from './memory-store.ts';
import type { FleetOptions } from './options.ts';

const faultsOf = (options: unknown): readonly string[] => {
  try {
    createFleet(options as FleetOptions);
  } catch (error) {
    if (error instanceof BreakerboxConfigError) return error.issues.map(({ path, message }) => `${path} ${message}`);
    throw error;
  }
  return [];
};

describe('G10: the options of createFleet', () => {
  test('G10, E6: one error names all faults, with what is wrong and how to fix it', () => {
    const options = { client: {}, prefix: '', name: 7, quorum: 17, windowMs: 1.5, commandTimeoutMs: 0, timeoutMs: 5 };
    expect(faultsOf(options)).toEqual([
      expect.stringMatching(/^client is .* createClient\(\{ url \}\) of the package redis/),
      expect.stringMatching(/^prefix is "".* 1 to 200 characters/),
      expect.stringMatching(/^name is 7\./),
      expect.stringMatching(/^quorum is 17\. Give a whole number from 1 to 16/),
      expect.stringMatching(/^windowMs is 1\.5\./),
      expect.stringMatching(/^commandTimeoutMs is 0\./),
      expect.stringMatching(/^timeoutMs is not an option of createFleet\. Remove it\./),
    ]);
  });

  test.each([undefined, null, 5, 'redis://localhost', { client: 'redis://localhost' }, { client: null }])(
    'G10, E6: %j is refused',
    (options) => {
      expect(faultsOf(options)).toEqual([expect.stringMatching(/^client is /)]);
    },
  );

  test('G10, E6: a promise, a sentinel of redis, and a client without destroy() are refused, and named', async () => {
    const connecting = createClient({ url: 'redis://127.0.0.1:1', socket: { reconnectStrategy: false } }).connect();
    expect(faultsOf({ client: connecting })).toEqual([
      expect.stringMatching(/^client is a promise \(await it first\)/),
    ]);
    await expect(connecting).rejects.toThrow();
    const sentinel = createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] });
    expect(faultsOf({ client: sentinel })).toEqual([
      expect.stringMatching(/^client is a sentinel of redis, .*sentinels/),
    ]);
    const { sSubscribe, sendCommand, duplicate } = createClient();
    expect(faultsOf({ client: { sSubscribe, sendCommand, duplicate } })).toHaveLength(1);
  });

  test('Q2, E6: the error does not show an address that was given as the client', () => {
    const [fault] = faultsOf({ client: 'redis://x:secretpw@db.internal' });
    expect(fault).toMatch(/^client is a string, which is not a client of redis 6 or ioredis 6\. Give /);
    expect(fault).not.toMatch(/secretpw|db\.internal/);
  });

  test('G10: a store is a client, and close may be called twice, also without a box', async () => {
    const fleet = createFleet({ client: memoryStore() });
    expect(fleet.status()).toMatchObject({ mode: 'starting', ageMs: undefined, circuits: [], actions: [] });
    await Promise.all([fleet.close(), fleet.close()]);
  });
});
