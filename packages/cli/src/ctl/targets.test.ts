import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../test-support-command.ts';
import { ctlCommand } from './ctl-command.ts';
import { targetsOf } from './targets.ts';

const env = { BREAKERBOX_CONTROL_TOKEN: 'bbx_secret' };
const tokensFor = (...endpoint: string[]) => targetsOf({ endpoint }, env).map(({ token }) => token);

test('A7: a token goes to https and to this machine, and to no socket', () => {
  const here = ['http://127.0.0.1:9470', 'http://[::1]:9470', 'http://localhost:9470'];
  expect(tokensFor('https://agents.example:9470', ...here)).toEqual(Array.from({ length: 4 }, () => 'bbx_secret'));
  expect(tokensFor('/run/a.sock')).toEqual([undefined]);
});

test('A7: an endpoint with a token of its own gets no other, and is shown without it', () => {
  expect(targetsOf({ endpoint: ['https://bbx_own@a.example:9470', 'https://b.example'] }, env)).toMatchObject([
    { url: 'https://a.example:9470', token: 'bbx_own' },
    { url: 'https://b.example', token: 'bbx_secret' },
  ]);
  expect(() => targetsOf({ endpoint: ['ftp://bbx_own@a.example'] }, {})).toThrow("endpoint 'ftp://a.example'");
  expect(() => targetsOf({ endpoint: ['http://bbx_own@a.example'] }, {})).toThrow(
    /endpoint 'http:\/\/a\.example' .*unencrypted/,
  );
});

test('A7: a token does not cross a network unencrypted, unless --plain-http says so', () => {
  const http = 'http://agents.example:9470';
  const fault = /agents\.example.*unencrypted\. Write https:\/\/, or give --plain-http/;
  expect(() => tokensFor('https://b.example', http)).toThrow(fault);
  expect(targetsOf({ endpoint: [http], plainHttp: true }, env)).toMatchObject([{ token: 'bbx_secret' }]);
  expect(targetsOf({ endpoint: [http] }, {})).toMatchObject([{ token: undefined }]);
});

/** `ctl` at an endpoint that answers what it is given. */
const answering = async (state: unknown, stream = '') => {
  const server = createServer(({ url = '' }, response) => {
    if (url !== '/v1/changes')
      return void response.end(JSON.stringify(url.startsWith('/v1/report') ? { text: 'a report' } : state));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(stream);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return (...args: string[]) =>
    runCommand((io) => ctlCommand(io, { BREAKERBOX_CONTROL: `http://127.0.0.1:${port}` }), args);
};

const budget = { limit: 3, remaining: 3, cycle: 0 };
const SESSION = { id: 'run-1', ageMs: 1, state: 'active', step: 0, budget, circuits: [] };
const stateWith = (...sessions: readonly unknown[]) => ({
  pid: 1,
  startedUnixMs: 0,
  role: 'operate',
  boxes: [{ agent: 'a', version: 0, tools: [], modes: [], sessions, sessionsLeftOut: 0 }],
});

test('A7: values that cannot be are left out, and the rest is listed', async () => {
  const ctl = await answering(stateWith(SESSION, { ...SESSION, id: 'run-2', ageMs: 1e308 }, 'x', { id: 'run-3' }));
  const { code, out } = await ctl('list');
  expect([code, out]).toEqual([0, expect.stringMatching(/run-1/)]);
  expect(out).not.toMatch(/run-[23]/);
});

test('A7: a change with an impossible time does not end the watch', async () => {
  const change = { kind: 'action', agent: 'a', tool: 'search', to: 'disable', who: 'ada', unixMs: 0 };
  const changes = [{ ...change, unixMs: 1e308 }, { ...change, unixMs: 'now' }, change];
  const lines = ['{not json', ...changes.map((one) => JSON.stringify(one))].map((line) => `data: ${line}\n\n`);
  const ctl = await answering(stateWith(), lines.join(''));
  const { code, out } = await ctl('watch');
  expect([code, out.trim().split('\n')]).toEqual([0, [expect.stringMatching(/^1970-01-01T00:00:00.000Z {2}a/)]]);
});

test('A7: the command to paste quotes an event with letters that a shell reads', async () => {
  const event = { id: '$(touch x)', layer: 'network', tools: [] };
  const ctl = await answering(stateWith({ ...SESSION, state: 'paused_systemic', event }));
  expect((await ctl('show', 'run-1')).out).toContain("breakerbox ctl confirm --event='$(touch x)' run-1\n");
});

test('A5: a file of tokens that is a device is an error, and is not read', async () => {
  const { code, err } = await runCommand((io) => ctlCommand(io, {}), ['token', 'list', '--file', '/dev/zero']);
  expect([code, err]).toEqual([1, expect.stringContaining('/dev/zero is not a file')]);
});
