import { expect, test } from 'vitest';
import { startServices } from './agents.ts';
import { CYCLE_MS, INCIDENTS, playIncidents } from './incidents.ts';
import { createJournal } from './journal.ts';
import type { McpServer } from './mcp-server.ts';

test('every incident is over before the script begins anew', () => {
  for (const { beginMs, endMs } of INCIDENTS) {
    expect(beginMs).toBeLessThan(endMs);
    expect(endMs).toBeLessThan(CYCLE_MS);
  }
});

test('a round breaks everything it means to, and mends all of it', async () => {
  const services = await startServices();
  const stop = new AbortController();
  const steps: string[] = [];
  const mcp: Pick<McpServer, 'kill' | 'restart'> = {
    kill: async () => void steps.push('kill'),
    restart: async () => void steps.push('restart'),
  };
  // A clock that has always just passed the next change; after one round the play is stopped.
  let now = 0;
  const journal = createJournal(() => now);
  journal.begin();
  now = CYCLE_MS - 1;
  const played = playIncidents({ services, mcp: mcp as McpServer }, journal, stop.signal);
  await expect.poll(() => journal.told.incidents.length).toBe(INCIDENTS.length * 2);
  stop.abort();
  await played;
  expect(steps).toEqual(['kill', 'restart']);
  for (const { title } of INCIDENTS) {
    const told = journal.told.incidents.filter((one) => one.title === title);
    expect(told.map(({ what }) => what)).toEqual(['begins', 'ends']);
  }
  const healthy = await Promise.all(Object.values(services).map((service) => service.healthy()));
  expect(healthy).not.toContain(false);
  await Promise.all(Object.values(services).map((service) => service.close()));
});
