import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Child, freePort } from '../../packages/demo/src/child.ts';
import { findRedis, redisListens, spawnRedis } from '../../packages/demo/src/redis-server.ts';
import { startWatchdog } from '../../packages/demo/src/watchdog.ts';

const run = promisify(execFile);

/** How a server differs from one without settings. */
export interface RedisOptions {
  /** Further arguments of redis-server. */
  readonly args?: readonly string[];
  readonly password?: string;
  /** It speaks TLS only, with a certificate that it signs itself. */
  readonly tls?: boolean;
  /** Whether MONITOR follows its writes, which makes it slower. Default true. */
  readonly isMonitored?: boolean;
}

/** One command that a script wrote data with, as MONITOR shows it. */
export interface Write {
  readonly command: string;
  readonly args: readonly string[];
}

/** A real redis-server on loopback, in a folder of its own. */
export interface Redis {
  readonly port: number;
  readonly pid: number;
  /** The certificate's file, if it speaks TLS. */
  readonly ca: string | undefined;
  /** Commands that changed data, in order, of all its lives. */
  readonly writes: readonly Write[];
  /** Runs a command with redis-cli. Rejects if the server refuses it, or after 10 s. */
  cli(...args: readonly string[]): Promise<string>;
  /** How often each command ran since the last `CONFIG RESETSTAT`, those of scripts included. */
  commands(): Promise<Readonly<Record<string, number>>>;
  /** SIGSTOP: it accepts connections, and answers nothing. */
  freeze(): void;
  thaw(): void;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with what its folder has. */
  start(): Promise<void>;
  /** Ends it, and removes its folder. */
  remove(): Promise<void>;
}

const CLI_LIMIT_MS = 10_000;

/** What MONITOR prints: `time [0 lua] "HSET" "key" "field" "value"`, with quotes and bytes escaped. */
const MONITORED = /^\d+\.\d+ \[\d+ (\S+?)\] (.*)$/;
const CHANGES = new Set([
  'hset',
  'hsetnx',
  'hmset',
  'hdel',
  'hincrby',
  'set',
  'del',
  'unlink',
  'incr',
  'publish',
  'spublish',
]);
const QUOTED = /"((?:[^"\\]|\\.)*)"/g;

const writeOf = (line: string): Write | undefined => {
  const [, , words = ''] = MONITORED.exec(line) ?? [];
  const [command = '', ...args] = [...words.matchAll(QUOTED)].map(([, word = '']) => word.replaceAll('\\"', '"'));
  return CHANGES.has(command.toLowerCase()) ? { command: command.toLowerCase(), args } : undefined;
};

const selfSigned = async (folder: string): Promise<{ readonly key: string; readonly cert: string }> => {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  await run('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', cert]);
  return { key, cert };
};

/** The bus of a cluster listens on the port above by 10,000. From 32,768 on, an outgoing connection may have it. */
const clusterPort = async (): Promise<number> => {
  const port = await freePort();
  return port + 10_000 < 32_768 ? port : clusterPort();
};

/**
 * Makes and starts a server.
 * @throws Error if redis-server is not installed, or does not start
 */
export const startRedis = async ({
  args = [],
  password,
  tls = false,
  isMonitored = true,
}: RedisOptions = {}): Promise<Redis> => {
  const program = findRedis();
  if (program === undefined)
    throw new Error('Redis is not installed: `npm test` installs it if you are root on Debian.');
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-redis-'));
  const watchdog = startWatchdog(folder);
  const port = args.includes('--cluster-enabled') ? await clusterPort() : await freePort();
  const files = tls ? await selfSigned(folder) : undefined;
  const all = [
    ...(files === undefined
      ? []
      : ['--port', '0', '--tls-port', `${port}`, '--tls-cert-file', files.cert, '--tls-key-file', files.key]),
    ...(files === undefined ? [] : ['--tls-ca-cert-file', files.cert, '--tls-auth-clients', 'no']),
    ...(password === undefined ? [] : ['--requirepass', password, '--masterauth', password]),
    ...['--enable-debug-command', 'yes'],
    ...args,
  ];
  const cliArgs = ['-p', `${port}`, ...(files === undefined ? [] : ['--tls', '--cacert', files.cert])];
  const env = { ...process.env, ...(password !== undefined && { REDISCLI_AUTH: password }) };
  const writes: Write[] = [];
  let child: Child | undefined;
  let monitor: ReturnType<typeof spawn> | undefined;

  const follow = async (): Promise<void> => {
    const process = spawn('redis-cli', [...cliArgs, 'MONITOR'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    monitor = process;
    const lines = createInterface({ input: process.stdout });
    lines.on('line', (line) => {
      const write = writeOf(line);
      if (write !== undefined) writes.push(write);
    });
    await once(lines, 'line'); // OK
  };
  const cli = async (...command: readonly string[]): Promise<string> => {
    const { stdout } = await run('redis-cli', ['-e', ...cliArgs, ...command], { env, timeout: CLI_LIMIT_MS });
    return stdout.trim();
  };
  const guardAll = (): void => watchdog.guard([child?.pid, monitor?.pid].filter((pid) => pid !== undefined));
  const kill = async (): Promise<void> => {
    const gone = new Promise<void>((resolve) => (child?.gone === false ? child.onExit(() => resolve()) : resolve()));
    child?.kill();
    await gone;
    monitor?.kill('SIGKILL');
  };
  const start = async (): Promise<void> => {
    child = spawnRedis(program, { port, folder, args: all });
    guardAll();
    if (!(await redisListens(child, port))) throw new Error(`Redis did not start: ${child.lastWords}`);
    while ((await cli('PING').catch(String)) !== 'PONG') await wait(20); // It still loads its file.
    if (isMonitored) await follow();
    guardAll();
  };
  const signal = (name: NodeJS.Signals): void => {
    if (child?.pid !== undefined && !child.gone) process.kill(child.pid, name);
  };
  await start();
  return {
    port,
    get pid() {
      return child?.pid ?? 0;
    },
    ca: files?.cert,
    writes,
    cli,
    commands: async () =>
      Object.fromEntries(
        [...(await cli('INFO', 'commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(
          ([, name = '', calls]) => [name, Number(calls)],
        ),
      ),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    kill,
    start,
    remove: async () => {
      signal('SIGCONT');
      await kill();
      await watchdog.close();
    },
  };
};

/** Three servers that are one cluster, each with a third of the slots. */
export const startCluster = async (password?: string): Promise<readonly Redis[]> => {
  const nodes: Redis[] = [];
  // Their bus listens on the port above by 10,000.
  for (let node = 0; node < 3; node += 1)
    nodes.push(
      await startRedis({
        args: ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000'],
        ...(password !== undefined && { password }),
      }),
    );
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  const env = { ...process.env, ...(password !== undefined && { REDISCLI_AUTH: password }) };
  await run('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-replicas', '0', '--cluster-yes'], { env });
  for (const node of nodes) while (!(await node.cli('CLUSTER', 'INFO')).includes('cluster_state:ok')) await wait(50);
  return nodes;
};
