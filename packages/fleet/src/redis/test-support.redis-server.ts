import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'redis';
import type { RedisConnection } from './connection.ts';
import { connectionOf } from './recognize.ts';

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

/** A real redis-server on loopback, which keeps nothing on disk unless `args` say so. */
export const startRedis = async (args: readonly string[] = [], wanted?: number): Promise<RedisServer> => {
  const port = wanted ?? (await freePort());
  const dir = mkdtempSync(join(tmpdir(), 'breakerbox-redis-'));
  const fixed = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dir, '--daemonize', 'no'];
  const child = spawn('redis-server', [...fixed, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${output}`)));
    child.stdout?.on('data', (part) => {
      output += part;
      if (output.includes('Ready to accept connections')) resolve();
    });
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    }
    rmSync(dir, { recursive: true, force: true });
  };
  return { port, url: `redis://127.0.0.1:${port}`, child, stop };
};

/** A connection with the options of a client, once Redis answers. */
export const openConnection = async (client: object): Promise<RedisConnection> => {
  const connection = connectionOf(client)?.();
  if (connection === undefined) throw new Error('the client is not recognized');
  for (let left = 1_000; ; left -= 1) {
    const isOpen = await connection.send(['PING'], 'key', 1_000).then(
      () => true,
      () => false,
    );
    if (isOpen) return connection;
    if (left === 0) throw new Error('Redis does not answer');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

/** A real redis-server, and a client that is connected to it. */
export const connectedRedis = async () => {
  const server = await startRedis();
  const client = createClient({ url: server.url });
  client.on('error', () => {});
  await client.connect();
  const connection = await openConnection(client);
  const stop = (): Promise<void> => {
    connection.close();
    client.destroy();
    return server.stop();
  };
  return { server, client, connection, stop };
};
