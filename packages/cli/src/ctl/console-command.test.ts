import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../test-support-command.ts';
import { consoleCommand } from './console-command.ts';

const folderOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-console-command-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'index.html'), '<title>page</title>');
  return folder;
};

test('A8: the printed link signs in on a page over the agents, until the command is ended', async () => {
  const folder = folderOf();
  const box = createBreakerbox({ agent: 'research', tools: { search: {} } });
  const control = await startControl({ boxes: [box], listen: { socket: join(folder, 'a.sock') } });
  onTestFinished(() => control.close());
  let printed = '';
  let state: unknown;
  const ended = async (): Promise<void> => {
    const { origin, hash } = new URL(/http:\S+/.exec(printed)?.[0] ?? '');
    const token = new URLSearchParams(hash.slice(1)).get('token');
    const headers = { 'content-type': 'application/json' };
    const signedIn = await fetch(`${origin}/api/sign-in`, { method: 'POST', headers, body: JSON.stringify({ token }) });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    state = await (await fetch(`${origin}/api/state`, { headers: { cookie } })).json();
  };
  const { code, err } = await runCommand((io) => {
    const out = (text: string): void => {
      printed += text;
    };
    const wished = (listener: () => void) => {
      listener();
      return () => {};
    };
    return consoleCommand({ ...io, out }, { BREAKERBOX_CONTROL: control.url }, { ended, wished, page: folder });
  }, []);
  expect([code, err]).toEqual([0, '']);
  expect(printed).toMatch(/^Open this link\..*http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}\n/s);
  expect(new Set(printed.match(/#token=\S+/g)).size).toBe(2);
  expect(state).toMatchObject({ endpoints: [{ status: 'answers', state: { boxes: [{ agent: 'research' }] } }] });
  await expect(fetch(/http:[^#]+/.exec(printed)?.[0] ?? '')).rejects.toThrow('fetch failed');
});

test('A8: a port that is taken is an error with exit code 1', async () => {
  const page = folderOf();
  const control = await startControl({
    boxes: [createBreakerbox({ agent: 'a', tools: {} })],
    listen: { port: 0, tokens: join(page, 'tokens.json') },
    audit: join(page, 'audit.jsonl'),
  });
  onTestFinished(() => control.close());
  const { port } = new URL(control.url);
  const run = await runCommand((io) => consoleCommand(io, {}, { page }), ['--port', port]);
  expect(run).toMatchObject({ code: 1, out: '', err: expect.stringContaining('EADDRINUSE') });
});
