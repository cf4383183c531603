import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AlertWatch, startAlertWatch } from './alert-watch.ts';
import { createJournal, type Journal } from './journal.ts';

const labels = { alertname: 'BreakerboxCircuitOpen', gen_ai_agent_name: 'agent', gen_ai_tool_name: 'a' };
const startsAt = '2026-11-20T18:00:00Z';

let journal: Journal;
let watch: AlertWatch;
const servers: Server[] = [];

beforeEach(async () => {
  journal = createJournal();
  watch = await startAlertWatch(journal);
});
afterEach(async () => {
  await watch.close();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

const notify = async (status: 'firing' | 'resolved'): Promise<number> => {
  const body = JSON.stringify({ alerts: [{ status, labels, startsAt }] });
  return (await fetch(watch.webhookUrl, { method: 'POST', body })).status;
};

const answering = async (body: unknown): Promise<string> => {
  const server = createServer((_, response) => response.end(JSON.stringify(body)));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const look = async (state: 'pending' | 'firing', inhibitedBy: readonly string[]): Promise<void> => {
  const prometheus = await answering({ data: { alerts: [{ labels, state }] } });
  const status = { state: inhibitedBy.length > 0 ? 'suppressed' : 'active', inhibitedBy };
  const alertmanager = await answering(state === 'pending' ? [] : [{ labels, startsAt, status }]);
  await watch.look({ prometheus: () => prometheus, alertmanager: () => alertmanager });
};

test('records a delivery once, even if Alertmanager repeats it', async () => {
  await notify('firing');
  await notify('firing');
  await notify('resolved');
  expect(watch.delivered.map(({ status }) => status)).toEqual(['firing', 'resolved']);
  expect(journal.entries.map(({ text }) => text)).toEqual([
    'delivered, firing: BreakerboxCircuitOpen agent a',
    'delivered, resolved: BreakerboxCircuitOpen agent a',
  ]);
});

test('follows an alert from pending to firing to delivered', async () => {
  await look('pending', []);
  expect(watch.rows).toEqual([{ labels, state: 'pending', delivered: false }]);
  await notify('firing');
  await look('firing', []);
  expect(watch.rows).toEqual([{ labels, state: 'firing', delivered: true }]);
});

test('shows an inhibited alert as inhibited, and records it once', async () => {
  await look('firing', ['another']);
  await look('firing', ['another']);
  expect(watch.rows).toEqual([{ labels, state: 'inhibited', delivered: false }]);
  expect(watch.inhibited).toMatchObject([{ labels }]);
});

test('shows no alerts of a program that is down', async () => {
  await look('firing', []);
  await watch.look({ prometheus: () => undefined, alertmanager: () => 'http://127.0.0.1:1' });
  expect(watch.rows).toEqual([]);
});

test.each([null, 'no', {}, { data: { alerts: 3 } }])(
  'shows no alerts for an answer that is not a list of alerts (%j)',
  async (body) => {
    const url = await answering(body);
    await watch.look({ prometheus: () => url, alertmanager: () => url });
    expect(watch.rows).toEqual([]);
  },
);

test('rejects a request that is not a notification', async () => {
  expect((await fetch(watch.webhookUrl, { method: 'POST', body: 'hello' })).status).toBe(400);
});

test('keeps each message for people as it was sent, repeats included, and changes nothing else', async () => {
  const attachments = [
    { title: 'Warning: a is out', text: '1 firing', title_link: 'http://g.example', color: '#E69F00' },
  ];
  const send = (body: unknown) => fetch(watch.messageUrl, { method: 'POST', body: JSON.stringify(body) });
  expect((await send({ attachments })).status).toBe(200);
  expect((await send({ attachments })).status).toBe(200);
  const message = { title: 'Warning: a is out', text: '1 firing', link: 'http://g.example', color: '#E69F00' };
  expect(watch.messages).toMatchObject([message, message]);
  expect(watch.delivered).toEqual([]);
  expect((await send({ text: 'hello' })).status).toBe(400);
});
