#!/usr/bin/env node
// What `npm run demo`, `npm test` and CI begin with: on a machine with nothing but Node and npm, brings pnpm, the workspace's
// dependencies, a current Node, and where it can Debian's Prometheus and Alertmanager; then starts what was asked for.
// Plain JavaScript without dependencies, because nothing is installed yet when it runs.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PNPM = 'pnpm@12.21.0';
const LEAST_NODE = 20;
/** Debian's packages by the command that shows they are there. */
const DEBIAN = {
  prometheus: 'prometheus',
  promtool: 'prometheus',
  'prometheus-alertmanager': 'prometheus-alertmanager',
  amtool: 'prometheus-alertmanager',
};

/** In the order in which they are built: each sees the types of those before it. */
const PACKAGES = ['core', 'telemetry', 'instrumentation', 'cli'];

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'breakerbox');
const node = join(root, 'node_modules', 'node', 'bin', 'node');
const source = '--conditions=breakerbox-source';

/** What can be started, as arguments for the workspace's own Node. */
const tasks = {
  demo: (args) => [[source, join(root, 'packages/cli/src/main.ts'), 'demo', ...args]],
  test: (args) => [[join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...args]],
  check: () => [
    [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'check', '.'],
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'],
    ...PACKAGES.map((name) => [
      join(root, 'node_modules/typescript/bin/tsc'),
      '-p',
      join('packages', name, 'tsconfig.build.json'),
    ]),
  ],
};

const say = (text) => process.stderr.write(`breakerbox: ${text}\n`);

const giveUp = (text) => {
  say(text);
  process.exit(1);
};

const path = () => [join(root, 'node_modules/.bin'), process.env.PATH ?? ''].join(delimiter);

const found = (command) =>
  path()
    .split(delimiter)
    .some((folder) => folder !== '' && existsSync(join(folder, command)));

const checkNode = () => {
  if (Number(process.versions.node.split('.')[0]) >= LEAST_NODE) return;
  giveUp(
    `this is Node ${process.versions.node}, and starting takes Node ${LEAST_NODE} or later. Install a newer one and run the same command again; the workspace brings its own Node 24 for everything else.`,
  );
};

/** Installs the workspace's dependencies, unless the lockfile is the one that they came from. */
const install = () => {
  const stamp = join(cache, 'installed');
  const wanted = createHash('sha256');
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) wanted.update(readFileSync(join(root, file)));
  const digest = wanted.digest('hex');
  if (existsSync(stamp) && existsSync(node) && readFileSync(stamp, 'utf8') === digest) return;
  say('installing dependencies (once; about a minute) …');
  const { status, error, stdout, stderr } = spawnSync('npx', ['--yes', PNPM, 'install', '--frozen-lockfile'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, CI: 'true' },
  });
  if (status !== 0) {
    process.stderr.write(`${stdout ?? ''}${stderr ?? ''}`);
    giveUp(
      error?.code === 'ENOENT'
        ? 'npx was not found. It comes with npm: install npm, then run the same command again.'
        : `installing the dependencies failed, see above. They come from the npm registry: is there a network, and does \`npm ping\` answer? Behind a proxy, set it with \`npm config set proxy\`. Then run the same command again.`,
    );
  }
  if (!existsSync(node))
    giveUp(
      'the npm package `node` brought no binary for this machine. Remove node_modules and run the same command again.',
    );
  mkdirSync(cache, { recursive: true });
  writeFileSync(stamp, digest);
};

/**
 * Installs Debian's Prometheus and Alertmanager where this is root on Debian, and says what to do where it isn't. Only the programs
 * are wanted: their services are neither started nor enabled, for they would listen on all interfaces.
 */
const debianPackages = () => {
  const missing = [
    ...new Set(
      Object.entries(DEBIAN)
        .filter(([command]) => !found(command))
        .map(([, name]) => name),
    ),
  ];
  if (missing.length === 0) return;
  const names = missing.join(' ');
  if (!found('apt-get') || process.getuid?.() !== 0) {
    const how = found('apt-get')
      ? `Run \`sudo apt-get install ${names}\``
      : 'Put prometheus, promtool, alertmanager and amtool from https://prometheus.io/download on PATH';
    say(`${missing.join(' and ')} not found. ${how} to see alerts and to pass all tests; the demo works without.`);
    return;
  }
  say(`installing Debian's ${missing.join(' and ')} …`);
  const apt = (...args) =>
    spawnSync('apt-get', args, { encoding: 'utf8', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
  const installed = withoutServices(() => {
    const install = () => apt('install', '--yes', '--no-install-recommends', ...missing);
    const first = install();
    if (first.status === 0) return first;
    apt('update'); // A fresh machine has no lists yet.
    return install();
  });
  if (installed.status !== 0) {
    process.stderr.write(`${installed.stdout}${installed.stderr}`);
    say(`apt-get could not install ${names}, see above. The demo works without; tests that need them will fail.`);
    return;
  }
  // On a machine that runs systemd, they would start with the next boot.
  if (existsSync('/run/systemd/system')) spawnSync('systemctl', ['disable', '--now', ...missing]);
};

/** Debian starts the services of what it installs, unless this file says no. One that is there already is left alone. */
const withoutServices = (install) => {
  const policy = '/usr/sbin/policy-rc.d';
  if (existsSync(policy)) return install();
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return install();
  } finally {
    rmSync(policy);
  }
};

/** Runs the workspace's Node to its end. Signals are its own to handle: it has things to put away. */
const run = (args) =>
  new Promise((resolve) => {
    const child = spawn(node, args, { cwd: root, stdio: 'inherit', env: { ...process.env, PATH: path() } });
    const forward = (signal) => child.kill(signal);
    const ignore = () => {}; // A terminal's Ctrl-C reaches the child by itself.
    process.on('SIGTERM', forward).on('SIGINT', ignore);
    child.on('exit', (code, signal) => {
      process.off('SIGTERM', forward).off('SIGINT', ignore);
      resolve(code ?? (signal === 'SIGINT' ? 130 : 143));
    });
  });

const [task = '', ...args] = process.argv.slice(2);
if (!Object.hasOwn(tasks, task))
  giveUp(`'${task}' is nothing that can be started. Known: ${Object.keys(tasks).join(', ')}.`);
checkNode();
install();
if (task !== 'check') debianPackages();
for (const command of tasks[task](args)) {
  const code = await run(command);
  if (code !== 0) process.exit(code);
}
