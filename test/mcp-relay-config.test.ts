/** `breakerbox mcp --config` as a process: SIGHUP and a change of the file. The rules are in packages/cli/src/mcp/relay-config.test.ts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url));
const PATIENT = { timeout: 20_000 };

/** Answers each call of a tool with an error of the network. */
const SERVER = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line);
  const result = { content: [{ type: 'text', text: 'connect ECONNREFUSED 127.0.0.1:5432' }], isError: true };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});`;

interface Relay {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  call(tool: string): Promise<string>;
  err(): string;
}

const started = (flags: readonly string[], env: Record<string, string> = {}): Relay => {
  const args = ['--conditions=breakerbox-source', MAIN, 'mcp', ...flags, '--', process.execPath, '-e', SERVER];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  let id = 0;
  const call = async (name: string): Promise<string> => {
    id += 1;
    const params = { name, arguments: { id } };
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`);
    await expect.poll(() => out.trim().split('\n').length === id && out.endsWith('\n'), PATIENT).toBe(true);
    return JSON.parse(out.trim().split('\n').at(-1) ?? '').result.content[0].text;
  };
  return { child, ended, call, err: () => err };
};

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'breakerbox-relay-config-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
};

test.each(['SIGHUP', 'a change of the file'])(
  'M8: settings are read again after %s, and what is open stays',
  async (by) => {
    const path = join(folder(), 'breakerbox.yaml');
    const write = (text: string): void => {
      writeFileSync(path, text);
      if (by === 'SIGHUP') child.kill('SIGHUP');
    };
    writeFileSync(path, 'tools: { query: { failureThreshold: 1, fallback: ask the user } }');
    const { child, call, err, ended } = started(by === 'SIGHUP' ? ['--config', path] : [], { BREAKERBOX_CONFIG: path });
    expect(await call('query')).toContain('ECONNREFUSED');
    expect(await call('query')).toContain('ask the user');

    write('tools: { query: { failureThreshold: 1, fallback: use the archive }, list: { failureThreshold: 2 } }');
    await expect.poll(err, PATIENT).toContain('are in use.');
    expect(await call('query')).toMatch(/is unavailable: .*use the archive/);
    expect(await call('list')).toContain('ECONNREFUSED');

    write('tools: { query: { failureThreshold: 0 } }');
    await expect
      .poll(err, PATIENT)
      .toMatch(/the settings stay as they were\. .+line 1, tools\.query\.failureThreshold: is 0/);
    expect(await call('query')).toContain('use the archive');

    child.stdin?.end();
    expect(await ended).toBe(0);
  },
);

test('M5, S5: a correlated event ends when the address of the health check answers, and not before', async () => {
  const health = createServer((_, response) => response.end());
  onTestFinished(() => void health.close());
  const listening = (port: number) => new Promise<void>((resolve) => health.listen(port, '127.0.0.1', resolve));
  await listening(0);
  const { port } = health.address() as AddressInfo;
  await new Promise((resolve) => health.close(resolve));

  const path = join(folder(), 'breakerbox.yaml');
  const recovery = `{ healthCheck: { url: 'http://127.0.0.1:${port}/health' }, everyMs: 50 }`;
  const tool = '{ group: false, failureThreshold: 1, cooldownMs: 100, maxCooldownMs: 100 }';
  writeFileSync(
    path,
    `systemic: { sameCategory: 2, recovery: ${recovery} }\ntools: { query: ${tool}, list: ${tool} }\n`,
  );
  const { call } = started(['--config', path]);
  for (const name of ['query', 'list']) expect(await call(name)).toMatch(/^connect ECONNREFUSED/);
  for (let n = 0; n < 10; n += 1) {
    expect(await call('query')).toMatch(/^Tool 'query' is unavailable/);
    await after(50);
  }
  await listening(port);
  await expect.poll(() => call('query'), { ...PATIENT, interval: 100 }).toMatch(/^connect ECONNREFUSED/);
});

test('M8: without a file, SIGHUP ends the relay', async () => {
  const { child, call, ended } = started([]);
  await call('query');
  child.kill('SIGHUP');
  await ended;
});

test('M8, E6: a file that cannot work ends the relay with 2 before the server starts', async () => {
  const path = join(folder(), 'breakerbox.yaml');
  writeFileSync(path, 'defaults:\n  failureTreshold: 2\n');
  const { ended, err } = started(['--config', path]);
  expect(await ended).toBe(2);
  expect(err()).toMatch(/line 2, defaults\.failureTreshold: is not a setting\. Did you mean 'failureThreshold'\?/);
});
