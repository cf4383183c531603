/** Runs `docker-compose.yml` in an engine. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, readText } from '../../stack/files.ts';
import { childrenOf, commandOf } from '../processes.ts';
import { type Engine, NoEngineError } from './engine.ts';

const run = promisify(execFile);

/** Name of the project, which is the name of `docker-compose.yml`. */
const PROJECT = 'breakerbox';

/** Compose with `docker-compose.yml`. */
export interface Compose {
  /** What it runs: the version, and how the file was changed if it was. */
  readonly about: string;
  /** Runs a command of it and returns what it printed. @throws Error if it fails, with what it printed. */
  run(...args: readonly string[]): Promise<string>;
}

/**
 * Version 2 as a plugin, or else `docker-compose`. Version 1, which Debian 12 has, rejects the line `name:`, so it reads a copy without it.
 *
 * @param folder for the copy.
 * @throws NoEngineError if neither is on PATH.
 */
export const findCompose = async (engine: Engine, folder: string): Promise<Compose> => {
  for (const [program = '', ...first] of [['docker', 'compose'], ['docker-compose']]) {
    const call = async (...args: readonly string[]): Promise<string> => {
      const { stdout, stderr } = await run(program, [...first, ...args], { cwd: ROOT, env: engine.env });
      return `${stdout}${stderr}`;
    };
    const version = await call('version', '--short').catch(() => undefined);
    if (version === undefined) continue;
    const about = `${[program, ...first].join(' ')} ${version.trim()}`;
    if (!version.startsWith('1.')) return { about, run: call };
    const copy = join(folder, 'docker-compose.yml');
    writeFileSync(copy, readText('docker-compose.yml').replace(`\nname: ${PROJECT}\n`, '\n'));
    const options = ['--project-name', PROJECT, '--project-directory', ROOT, '--file', copy];
    return { about: `${about}, with a copy without the line name:`, run: (...args) => call(...options, ...args) };
  }
  throw new NoEngineError('neither `docker compose` nor `docker-compose` is on PATH (apt-get install docker-compose)');
};

/** What `down` must remove: containers, networks and volumes, and the processes, mounts and network devices in the engine's namespaces. */
export const tracesOf = async ({ docker, pid }: Engine): Promise<readonly string[]> => {
  const lists = [
    await docker('ps', '--all', '--format', 'container {{.Names}}'),
    await docker('network', 'ls', '--format', 'network {{.Name}}'),
    await docker('volume', 'ls', '--format', 'volume {{.Name}}'),
    readFileSync(`/proc/${pid}/mounts`, 'utf8'),
    // The first two lines are headings. The figures count packets.
    readFileSync(`/proc/${pid}/net/dev`, 'utf8').replaceAll(/:.*/g, ''),
  ];
  return [
    ...lists.flatMap((text) => text.trim().split('\n')),
    ...childrenOf(pid).map((one) => commandOf(one) ?? ''),
  ].sort();
};

/** The state of each service: `healthy`, another state of its health check, or `running` without one; and how often it was restarted. */
export const statesOf = async ({ docker }: Engine): Promise<Readonly<Record<string, string>>> => {
  const ids = (await docker('ps', '--all', '--quiet')).split('\n');
  const health = '{{if .State.Health}}{{.State.Health.Status}}{{else}}{{.State.Status}}{{end}}';
  const restarts = '{{if .RestartCount}}, restarted {{.RestartCount}} times{{end}}';
  const label = '{{index .Config.Labels "com.docker.compose.service"}}';
  const text = await docker('inspect', '--format', `${label} ${health}${restarts}`, ...ids);
  return Object.fromEntries(text.split('\n').map((line) => [line.split(' ')[0], line.slice(line.indexOf(' ') + 1)]));
};
