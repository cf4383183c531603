/** A container engine for a test: `dockerd` in namespaces of its own, with all of its files in one folder. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findProgram } from '../../packages/demo/src/child.ts';
import { childrenOf, isAlive } from '../processes.ts';

const run = promisify(execFile);

const READY_MS = 30_000;
const STOP_MS = 20_000;
const MOST_OUTPUT = 64 * 1024 * 1024;

/** Debian's packages have these. The network namespace needs `ip`, to turn its loopback on. */
const PROGRAMS = ['dockerd', 'docker', 'ip', 'setpriv', 'unshare', 'nsenter'];

/** What dockerd writes outside of its folders. */
const OUTSIDE = ['/etc/docker', '/run/docker', '/run/containerd'];

/** A running engine. */
export interface Engine {
  /** The process of dockerd. Its namespaces contain all containers. */
  readonly pid: number;
  /** For programs that talk to the engine. */
  readonly env: NodeJS.ProcessEnv;
  /** Runs `docker` and returns its standard output without the space around it. @throws Error if it fails, with what it printed. */
  docker(...args: readonly string[]): Promise<string>;
  /** Stops dockerd, and removes its cgroups. Its images stay in the folder, for another engine there. */
  stop(): Promise<void>;
  /** What there is of it on the machine: after its end nothing. */
  left(): readonly string[];
}

/** This machine has no container engine, or does not allow one. The message is the reason. */
export class NoEngineError extends Error {}

/** @throws NoEngineError if this user or this machine cannot start an engine. */
const checkMachine = (): void => {
  if (process.getuid?.() !== 0) throw new NoEngineError('dockerd needs root');
  const missing = PROGRAMS.filter((name) => findProgram([name]) === undefined);
  if (missing.length === 0) return;
  throw new NoEngineError(`not on PATH: ${missing.join(', ')} (apt-get install docker.io docker-compose iproute2)`);
};

/**
 * Starts dockerd. Its mounts and processes have a namespace of their own, which ends with it, and it ends with this process. It changes
 * neither firewall nor routes.
 *
 * @param network `own`: containers reach each other, and ports are published in the engine's own network, so no port of this machine is
 * taken. `host`: a build can download.
 * @throws NoEngineError if dockerd cannot be started, or is not ready within 30 s, with the end of its log.
 */
export const startEngine = async (folder: string, network: 'own' | 'host'): Promise<Engine> => {
  checkMachine();
  const socket = `unix://${join(folder, 'socket')}`;
  const cgroup = `breakerbox-${process.pid}`;
  const added = OUTSIDE.filter((path) => !existsSync(path));
  const config = join(folder, 'daemon.json');
  writeFileSync(config, '{}'); // Instead of the machine's own.
  const dockerd = [
    `dockerd --config-file=${config} --host=${socket} --data-root=${folder}/data --exec-root=${folder}/run --pidfile=${folder}/pid`,
    '--bridge=none --iptables=false --ip6tables=false --ip-forward=false',
    `--exec-opt=native.cgroupdriver=cgroupfs --cgroup-parent=/${cgroup}`,
  ].join(' ');
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const [own, first] = network === 'own' ? [['--net'], 'ip link set lo up && '] : [[], ''];
  const args = ['--pdeathsig=KILL', 'unshare', ...namespaces, ...own, 'sh', '-c', `${first}exec ${dockerd}`];
  const child = spawn('setpriv', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    log = (log + part).slice(-2000);
  });
  await once(child, 'spawn');
  const exit = once(child, 'exit');
  /** The child of unshare. */
  const dockerdPid = (): number | undefined => childrenOf(child.pid ?? Number.NaN)[0];
  // The classic builder, which needs no plugin. A configuration of its own: a user's may name another engine.
  const env = { ...process.env, DOCKER_HOST: socket, DOCKER_BUILDKIT: '0', DOCKER_CONFIG: join(folder, 'config') };
  const docker = async (...rest: readonly string[]): Promise<string> =>
    (await run('docker', rest, { env, maxBuffer: MOST_OUTPUT })).stdout.trim();

  const stop = async (): Promise<void> => {
    const pid = dockerdPid();
    if (pid !== undefined) process.kill(pid, 'SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exit;
    clearTimeout(late);
    removeCgroups(cgroup);
    for (const path of [join(folder, 'run'), ...added]) rmSync(path, { recursive: true, force: true });
  };
  const version = ['version', '--format', '{{.Server.Version}}'];
  const isReady = (): Promise<boolean> => docker(...version).then(Boolean, () => false);
  const deadline = Date.now() + READY_MS;
  while (!(await isReady())) {
    if (child.exitCode === null && Date.now() < deadline) await wait(100);
    else {
      await stop();
      throw new NoEngineError(`dockerd did not start:\n${log}`);
    }
  }
  const pid = dockerdPid() ?? Number.NaN;
  const left = (): readonly string[] => [
    ...(isAlive(pid) ? [`process ${pid}`] : []),
    ...readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.includes(folder)),
    ...globSync(`/sys/fs/cgroup/{,*/}${cgroup}`),
    ...added.filter(existsSync),
  ];
  return { pid, env, docker, stop, left };
};

/** In version 1 every controller has a tree of its own. A cgroup without processes is removed like an empty folder. */
const removeCgroups = (name: string): void => {
  const trees = globSync(`/sys/fs/cgroup/{,*/}${name}`);
  const inside = trees.flatMap((tree) => globSync(`${tree}/**/`));
  for (const one of [...new Set([...trees, ...inside])].sort().reverse()) rmdirSync(one);
};

/** @throws NoEngineError if the engine cannot run a container of this image, with a limit, in this network. */
export const checkContainers = async ({ docker }: Engine, image: string, network: string): Promise<void> => {
  const program = ['node', '--version'];
  await docker('run', '--rm', '--init', '--memory', '64m', '--network', network, image, ...program).catch(
    (error: Error) => {
      throw new NoEngineError(`dockerd cannot run a container: ${error.message}`);
    },
  );
};

/** The answer to a GET request in the engine's network. @throws Error for any status but 2xx. */
export const ask = (engine: Engine, url: string): Promise<string> =>
  runBeside(
    engine,
    `const r = await fetch(${JSON.stringify(url)}, { signal: AbortSignal.timeout(5000) });
    if (!r.ok) throw new Error(r.status + ' ' + r.url);
    process.stdout.write(await r.text());`,
  );

/** What a script prints in the network of the engine. */
export const runBeside = async (engine: Engine, script: string): Promise<string> => {
  const args = ['--net', `--target=${engine.pid}`, process.execPath, '--input-type=module', '-e', script];
  return (await run('nsenter', args, { maxBuffer: MOST_OUTPUT })).stdout;
};
