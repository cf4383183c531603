/** Images under the names of `docker-compose.yml`, from the programs of this machine. */
import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, readCompose, readText } from '../../stack/files.ts';
import { ALERTMANAGER, requireProgram } from '../../stack/tools.ts';
import type { Engine } from './engine.ts';

const run = promisify(execFile);

const SUBSTITUTES = join(import.meta.dirname, 'substitutes');
const DOCKERFILE = 'stack/demo-agents/Dockerfile';
const TEMPLATES = '/usr/share/prometheus/alertmanager';
/** The npm that Node 24 brings. */
const NPM = 'npm@11.6.2';
/** Of the substitute for Node's image. npm and pnpm trust the certificates that this machine trusts. */
const VARIABLES = ['PATH=/usr/local/bin:/usr/bin:/bin', 'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt'];

/** Base of the demo agents' image. */
export const NODE_IMAGE = /^FROM (\S+)$/m.exec(readText(DOCKERFILE))?.[1] ?? '';
/** The demo agents and the pager. */
export const DEMO_IMAGE = readCompose().services.pager?.image ?? '';

/** Copies a program and its libraries into a root file system, where they have the same paths. */
const copyProgram = async (program: string, to: string, name = program): Promise<void> => {
  const { stdout } = await run('ldd', [program]).catch(() => ({ stdout: '' }));
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => [path, path]);
  for (const [from = '', path = ''] of [[program, name], ...libraries]) cpSync(realpathSync(from), join(to, path));
};

/** What the Dockerfile of the demo agents uses of Node's official image: sh, env, Node, npm, users, names and certificates. */
const makeNode = async (root: string): Promise<void> => {
  await copyProgram(process.execPath, root, '/usr/local/bin/node');
  await copyProgram(requireProgram(['sh']), root, '/bin/sh');
  await copyProgram(requireProgram(['env']), root, '/usr/bin/env');
  // pnpm's binary uses the parts of old C libraries, which Node does not.
  for (const file of globSync('/lib/*-linux-gnu/lib{rt,resolv,util}.so.*')) await copyProgram(file, root);
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  write('etc/passwd', 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n');
  write('etc/nsswitch.conf', 'hosts: files dns\n');
  write('etc/group', 'root:x:0:\nnode:x:1000:\n');
  cpSync('/etc/ssl/certs/ca-certificates.crt', join(root, 'etc/ssl/certs/ca-certificates.crt'), { dereference: true });
  mkdirSync(join(root, 'tmp'));
  chmodSync(join(root, 'tmp'), 0o1777);
  await run('npm', ['install', '--prefix', join(root, 'usr/local/lib'), '--no-save', '--no-package-lock', NPM]);
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
};

/** Builds the substitutes for every image that `docker-compose.yml` names. */
export const buildSubstitutes = async (engine: Engine, context: string): Promise<void> => {
  const node = join(context, 'node');
  await makeNode(node);
  await run('tar', ['--create', '--file', `${node}.tar`, '--directory', node, '.']);
  await engine.docker('import', ...VARIABLES.flatMap((one) => ['--change', `ENV ${one}`]), `${node}.tar`, NODE_IMAGE);
  for (const one of [node, `${node}.tar`]) rmSync(one, { recursive: true });
  cpSync(SUBSTITUTES, context, { recursive: true });
  for (const script of globSync('*.{sh,mjs}', { cwd: context })) chmodSync(join(context, script), 0o755);
  await copyProgram(requireProgram(['prometheus']), join(context, 'prometheus'), '/usr/bin/prometheus');
  const alertmanager = join(context, 'alertmanager');
  await copyProgram(requireProgram(ALERTMANAGER), alertmanager, '/usr/bin/prometheus-alertmanager');
  await copyProgram(requireProgram(['amtool']), alertmanager, '/usr/bin/amtool');
  for (const program of ['redis-server', 'redis-cli']) {
    await copyProgram(requireProgram([program]), join(context, 'redis'), `/usr/bin/${program}`);
  }
  // Debian's Alertmanager reads its own templates from there. Others contain them.
  if (existsSync(TEMPLATES)) cpSync(TEMPLATES, join(alertmanager, TEMPLATES), { recursive: true, dereference: true });
  const { services } = readCompose();
  const images = {
    prometheus: services.prometheus?.image,
    alertmanager: services.alertmanager?.image,
    grafana: services.grafana?.image,
    tempo: services.tempo?.image,
    collector: services['otel-collector']?.image,
    redis: services.redis?.image,
  };
  const build = ['build', '--quiet', '--build-arg', `NODE=${NODE_IMAGE}`];
  for (const [target, image = ''] of Object.entries(images)) {
    await engine.docker(...build, '--target', target, '--tag', image, context);
  }
};

/**
 * Builds the image of the demo agents with its own Dockerfile, which downloads packages from the npm registry. The registry's address is
 * looked up once: pnpm would ask for it on each of its many connections, and a slow name server makes that a minute.
 */
export const buildDemo = async (engine: Engine): Promise<void> => {
  const { hostname } = new URL((await run('npm', ['config', 'get', 'registry'])).stdout.trim());
  const { address } = await lookup(hostname);
  const host = ['--network', 'host', '--add-host', `${hostname}:${address}`];
  await engine.docker('build', '--quiet', ...host, '--file', join(ROOT, DOCKERFILE), '--tag', DEMO_IMAGE, ROOT);
};

/** Size of an image in bytes, with its base. */
export const sizeOf = async (engine: Engine, image: string): Promise<number> =>
  Number(await engine.docker('image', 'inspect', '--format', '{{.Size}}', image));
