import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type Child, findProgram, startChild } from './child.ts';

/** On loopback, without a service, a password or a file of settings. It writes only into `folder`. */
const ownArgs = (port: number, folder: string): readonly string[] =>
  Object.entries({ bind: '127.0.0.1', port: `${port}`, dir: folder, save: '', daemonize: 'no' }).flatMap(
    ([name, value]) => [`--${name}`, value],
  );

/** The path of redis-server; undefined if it is not installed. */
export const findRedis = (): string | undefined => findProgram(['redis-server']);

/** Starts redis-server on a port of loopback. `args` are further settings, and override these. */
export const spawnRedis = (
  program: string,
  { port, folder, args = [] }: { readonly port: number; readonly folder: string; readonly args?: readonly string[] },
): Child => startChild(program, [...ownArgs(port, folder), ...args]);

const READY_LIMIT_MS = 15_000;

/** Whether something listens on the port of loopback now. */
const listens = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
};

/** Whether the server listens before it ends, or 15 s are over. */
export const redisListens = async (child: Child, port: number): Promise<boolean> => {
  const until = performance.now() + READY_LIMIT_MS;
  while (!child.gone && performance.now() < until) {
    if (await listens(port)) return true;
    await wait(20);
  }
  return false;
};
