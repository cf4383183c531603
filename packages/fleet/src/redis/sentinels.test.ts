/** Real sentinels, and those that do not answer. */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createBreakerbox } from '@breakerbox/core';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, onTestFinished, test, vi } from 'vitest';
import { createFleet } from '../fleet.ts';
import { freePort, type RedisServer, startRedis } from './test-support.redis-server.ts';

const run = promisify(execFile);

const startSentinel = async (watchedPort: number) => {
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'breakerbox-sentinel-'));
  const file = join(dir, 'sentinel.conf');
  writeFileSync(file, `port ${port}\nbind 127.0.0.1\nsentinel monitor m 127.0.0.1 ${watchedPort} 2\n`);
  const child = spawn('redis-server', [file, '--sentinel', '--dir', dir], { stdio: 'ignore' });
  const stop = async (): Promise<void> => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    rmSync(dir, { recursive: true });
  };
  return { port, host: '127.0.0.1', stop };
};

let main: RedisServer;
let sentinels: readonly Awaited<ReturnType<typeof startSentinel>>[] = [];
beforeAll(async () => {
  main = await startRedis();
  sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(main.port)));
  const knowEachOther = async ({ port }: { readonly port: number }): Promise<boolean> => {
    const asked = run('redis-cli', ['-p', `${port}`, 'SENTINEL', 'SENTINELS', 'm']).catch(() => ({ stdout: '' }));
    return (await asked).stdout.split('last-hello-message').length === 3;
  };
  await vi.waitUntil(async () => (await Promise.all(sentinels.map(knowEachOther))).every(Boolean), 15_000);
}, 20_000);
afterAll(async () => {
  for (const { stop } of [...sentinels, main]) await stop();
});

test('G7: three sentinels that know each other lead ioredis to their main', { timeout: 15_000 }, async () => {
  const fleet = createFleet({ client: new Redis({ sentinels: [...sentinels], name: 'm', lazyConnect: true }) });
  onTestFinished(() => fleet.close());
  createBreakerbox({ agent: 'watched', scope: 'process', fleet, tools: { search: { share: 'fleet' } } });
  await vi.waitUntil(() => fleet.status().mode === 'up', 10_000);
});

/** Takes connections, and answers with what `answerTo` gives. */
const startServer = async (answerTo: (name: string) => string): Promise<number> => {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => {}));
    socket.on('data', (data) => {
      for (const [, name = ''] of String(data).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g))
        socket.write(answerTo(name.toLowerCase()));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
};

const LOADING: Readonly<Record<string, string>> = {
  hello: '-ERR unknown command HELLO\r\n',
  client: '+OK\r\n',
  info: '$34\r\nloading:1\r\nloading_eta_seconds:9\r\n\r\n',
};
const AGENT = `
import { createBreakerbox } from '@breakerbox/core';
import { createFleet } from '@breakerbox/fleet';
import { Redis } from 'ioredis';
const fleet = createFleet({ client: new Redis({ ...JSON.parse(process.argv[1]), name: 'm', lazyConnect: true }) });
createBreakerbox({ agent: 'finished', scope: 'process', fleet, tools: { search: { share: 'fleet' } } });
setTimeout(() => {}, 2_500);
`;
const ofSentinel = (port: number) => ({ sentinels: [{ host: '127.0.0.1', port }] });

test.each([
  ['sentinels are dead', async () => ofSentinel(await freePort())],
  ['sentinel hangs', async () => ofSentinel(await startServer(() => ''))],
  ['client listens to sentinels', () => ({ sentinels: [...sentinels], failoverDetector: true })],
  ['Redis loads its data', async () => ({ port: await startServer((name) => LOADING[name] ?? '-LOADING x\r\n') })],
])('G7: an agent whose %s ends when its work is done', { timeout: 20_000 }, async (_, options) => {
  const given = ['--conditions=breakerbox-source', '--no-warnings', '--input-type=module', '-e', AGENT];
  const limits = { cwd: import.meta.dirname, timeout: 12_000, killSignal: 'SIGKILL' } as const;
  await run(process.execPath, [...given, JSON.stringify(await options())], limits);
});
