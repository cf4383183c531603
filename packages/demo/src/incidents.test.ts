import { expect, test } from 'vitest';
import { startServices } from './agents.ts';
import { CYCLE_MS, INCIDENTS, playIncidents } from './incidents.ts';
import { createJournal } from './journal.ts';
import type { McpServer } from './mcp-server.ts';

test('every incident ends before the script repeats', () => {
  for (const { beginMs, endMs } of INCIDENTS) {
    expect(beginMs).toBeLessThan(endMs);
    expect(endMs).toBeLessThan(CYCLE_MS);
  }
});

test('plays only the incidents of the chosen agents, slowed by the chosen pace', async () => {
  const services = await startServices();
  const stop = new AbortController();
  const own = INCIDENTS.filter(({ agent }) => agent === 'support-agent');
  let now = 0;
  const journal = createJournal(() => now);
  journal.begin();
  const fleet = { names: ['support-agent'] as const, pace: 10 };
  now = own[0]?.beginMs ?? 0;
  const early = playIncidents({ services, mcp: {} as McpServer }, fleet, journal, AbortSignal.timeout(50));
  await early;
  expect(journal.recorded.incidents).toEqual([]);

  now = CYCLE_MS * 10 - 1;
  const played = playIncidents({ services, mcp: {} as McpServer }, fleet, journal, stop.signal);
  await expect.poll(() => journal.recorded.incidents.length).toBe(own.length * 2);
  stop.abort();
  await played;
  expect(new Set(journal.recorded.incidents.map(({ title }) => title))).toEqual(new Set(own.map(({ title }) => title)));
  await Promise.all(Object.values(services).map((service) => service.close()));
});

test('scales the seconds of Retry-After by the pace', async () => {
  const [tickets] = INCIDENTS;
  const services = await startServices();
  await tickets?.begin({ services, mcp: {} as McpServer }, 10);
  const response = await fetch(services.tickets.url);
  expect(response.headers.get('retry-after')).toBe('90');
  await Promise.all(Object.values(services).map((service) => service.close()));
});
