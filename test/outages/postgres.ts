/** A PostgreSQL server from Debian's package, for one test file: on loopback, in a temporary folder, with start and stop. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { findProgram, freePort } from '../../packages/demo/src/child.ts';
import { startWatchdog } from '../../packages/demo/src/watchdog.ts';

export interface Postgres {
  /** The password of the agent's server. Default: the agent's own password. */
  url(password?: string): string;
  /** Starts it, unless it already runs. */
  start(): Promise<void>;
  /** Disconnects its clients and stops it. */
  stop(): Promise<void>;
  /** Kills it, as the system does when memory runs out. */
  kill(): Promise<void>;
  /** Runs SQL as the owner of the database. */
  run(sql: string): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

/** Debian has a folder for each version. */
const DEBIAN = '/usr/lib/postgresql';
const PASSWORD = 'correct-horse';
const run = promisify(execFile);

/** The folder of PostgreSQL's programs; undefined if it is not installed. */
export const findPostgres = (): string | undefined => {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((one, other) => Number(other) - Number(one)) : [];
  const debian = versions.map((version) => join(DEBIAN, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
  const onPath = findProgram(['initdb']);
  return debian ?? (onPath && dirname(onPath));
};

/** PostgreSQL does not run as root. */
const unprivileged = (): { readonly uid?: number; readonly gid?: number } => {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { stdio: 'pipe' }));
  try {
    return { uid: idOf('-u'), gid: idOf('-g') };
  } catch (cause) {
    throw new Error('PostgreSQL does not run as root. Create a user "postgres" to run it.', { cause });
  }
};

/** Nothing is lost if the machine stops during a test. */
const FAST = ['fsync', 'synchronous_commit', 'full_page_writes', 'autovacuum'].flatMap((name) => ['-c', `${name}=off`]);

/**
 * Makes and starts a database with the role `agent` and the table `customers`.
 * @throws Error if PostgreSQL is not installed
 */
export const startPostgres = async (): Promise<Postgres> => {
  const bin = findPostgres();
  if (bin === undefined)
    throw new Error('PostgreSQL is not installed: `npm test` installs it if you are root on Debian.');
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-postgres-'));
  const watchdog = startWatchdog(folder);
  const user = unprivileged();
  const own = { ...user, cwd: folder, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } };
  const port = await freePort();
  const data = join(folder, 'data');
  const secret = join(folder, 'password');
  writeFileSync(secret, PASSWORD);
  for (const path of [folder, secret]) if (user.uid !== undefined) chownSync(path, user.uid, user.gid ?? user.uid);
  const auth = ['--username=owner', `--pwfile=${secret}`, '--auth=scram-sha-256'];
  await run(join(bin, 'initdb'), ['-D', data, ...auth, '--locale=C', '--encoding=UTF8', '--no-sync'], own);

  const urlFor = (role: string, password: string) => `postgresql://${role}:${password}@127.0.0.1:${port}/postgres`;
  let child: ChildProcess | undefined;

  const running = (): ChildProcess | undefined =>
    child?.exitCode === null && child.signalCode === null ? child : undefined;

  const start = async (): Promise<void> => {
    if (running() !== undefined) return;
    const where = ['-p', `${port}`, '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
    const server = spawn(join(bin, 'postgres'), ['-D', data, ...where, ...FAST], {
      ...own,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = server;
    watchdog.guard(server.pid === undefined ? [] : [server.pid]);
    const said: string[] = [];
    await new Promise<void>((resolve, reject) => {
      createInterface(server.stderr).on('line', (line) => {
        said.push(line);
        if (line.endsWith('ready to accept connections')) resolve();
      });
      server.once('error', reject);
      server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said.join('\n')}`)));
    });
  };

  const stop = async (signal: NodeJS.Signals = 'SIGINT'): Promise<void> => {
    const server = running();
    if (server === undefined) return;
    const exit = once(server, 'exit');
    server.kill(signal);
    await exit;
    watchdog.guard([]);
  };

  const postgres: Postgres = {
    url: (password = PASSWORD) => urlFor('agent', password),
    start,
    stop: () => stop(),
    kill: () => stop('SIGKILL'),
    run: async (sql) => {
      await run(join(bin, 'psql'), ['-Xq', '-v', 'ON_ERROR_STOP=1', '-c', sql, urlFor('owner', PASSWORD)], own);
    },
    remove: async () => {
      await stop();
      await watchdog.close();
    },
  };
  await start();
  await postgres.run(`CREATE ROLE agent LOGIN PASSWORD '${PASSWORD}';
    CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE orders (id integer PRIMARY KEY, customer integer REFERENCES customers);
    CREATE TABLE salaries (id integer);
    INSERT INTO customers VALUES (1, 'Ada'), (2, 'Grace');
    GRANT SELECT, INSERT ON customers, orders TO agent`);
  return postgres;
};
