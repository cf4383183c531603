import { expect, test } from 'vitest';
import { AGENT_NAMES, startServices } from './agents.ts';
import { CYCLE_MS, INCIDENTS, playIncidents } from './incidents.ts';
import { createJournal } from './journal.ts';
import type { McpServer } from './mcp-server.ts';

test('every incident ends before the script repeats', () => {
  for (const { beginMs, endMs } of INCIDENTS) {
    expect(beginMs).toBeLessThan(endMs);
    expect(endMs).toBeLessThan(CYCLE_MS);
  }
});

test('a round begins every incident, ends it, and leaves all services healthy', async () => {
  const services = await startServices();
  const stop = new AbortController();
  const steps: string[] = [];
  const mcp: Pick<McpServer, 'kill' | 'restart'> = {
    kill: async () => void steps.push('kill'),
    restart: async () => void steps.push('restart'),
  };
  // A clock that is always just after the next change. The test stops the script after one round.
  let now = 0;
  const journal = createJournal(() => now);
  journal.begin();
  now = CYCLE_MS - 1;
  const fleet = { names: AGENT_NAMES, pace: 1 };
  const played = playIncidents({ services, mcp: mcp as McpServer }, fleet, journal, stop.signal);
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
  expect(journal.told.incidents).toEqual([]);

  now = CYCLE_MS * 10 - 1;
  const played = playIncidents({ services, mcp: {} as McpServer }, fleet, journal, stop.signal);
  await expect.poll(() => journal.told.incidents.length).toBe(own.length * 2);
  stop.abort();
  await played;
  expect(new Set(journal.told.incidents.map(({ title }) => title))).toEqual(new Set(own.map(({ title }) => title)));
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
