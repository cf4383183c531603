/** The control API of a relay, with a real socket. Processes are in test/mcp-relay-services.test.ts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { CommandIo } from '../command-io.ts';
import { ctlCommand } from '../ctl/ctl-command.ts';
import { runCommand } from '../test-support-command.ts';
import { createRelay } from './relay.ts';
import { createRelayBox } from './relay-box.ts';
import { startRelayServices } from './relay-services.ts';

const REFUSED = { content: [{ type: 'text', text: 'connect ECONNREFUSED 127.0.0.1:5432' }], isError: true };

const started = (socket: string) => {
  let err = '';
  const io: CommandIo = {
    out: () => {},
    err: (text) => {
      err += text;
    },
    exitWith: () => {},
    columns: 120,
  };
  const exit = vi.fn();
  const relayBox = createRelayBox({
    agent: 'desk',
    budget: { rule: 'strict', failures: 2 },
    systemic: false,
    clock: { now: () => performance.now(), unixNow: () => Date.now() },
  });
  const services = startRelayServices({ telemetry: undefined, control: { listen: { socket } } }, relayBox, io, exit);
  onTestFinished(() => services.end());
  return { relayBox, services, exit, err: () => err };
};

const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'relay.sock');
};

test('M5, B6: a person finds a relay whose strict budget is spent, and resumes it', async () => {
  const socket = temporary();
  const { relayBox, services, exit, err } = started(socket);
  await expect.poll(err).toContain(`unix:${socket}`);
  const { session, ...rules } = relayBox;
  const relay = createRelay({ session, group: 'server', ...rules });
  const line = (message: object) => ({ bytes: Buffer.from(`${JSON.stringify(message)}\n`), whole: true });
  let id = 0;
  const call = (name: string): string | undefined => {
    id += 1;
    const request = { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: { id } } };
    const { toClient } = relay.fromClient(line(request));
    if (toClient !== undefined) return JSON.parse(toClient.toString()).result.content[0].text;
    relay.fromServer(line({ jsonrpc: '2.0', id, result: REFUSED }));
    return undefined;
  };
  call('a');
  call('b');
  expect(call('c')).toMatch(/a person must resume the run\./);
  const ctl = (...args: string[]) => runCommand((io) => ctlCommand(io, { BREAKERBOX_CONTROL: socket }), args);
  expect((await ctl('list')).out).toContain('paused_budget');
  expect(await ctl('resume', session.id)).toMatchObject({ code: 0 });
  expect(call('c')).toBeUndefined();
  await services.end();
  expect(exit).toHaveBeenCalledOnce();
  expect((await ctl('list')).code).not.toBe(0);
});

test('M5: a relay whose socket cannot be made says so and goes on', async () => {
  const socket = temporary();
  writeFileSync(socket, '');
  const { services, exit, err } = started(socket);
  await expect.poll(err).toMatch(/^breakerbox mcp: the control API could not be started: .*exists and is not a socket/);
  await services.end();
  expect(exit).toHaveBeenCalledOnce();
});

test('a relay without services ends by itself', async () => {
  const exit = vi.fn();
  const io = { out: () => {}, err: () => {}, exitWith: () => {}, columns: 120 };
  const none = { telemetry: undefined, control: undefined };
  await startRelayServices(none, createRelayBox({ agent: 'desk' }), io, exit).end();
  expect(exit).not.toHaveBeenCalled();
});
