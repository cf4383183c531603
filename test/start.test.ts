import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../packages/demo/src/child.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LOCK_FILES = ['pnpm-lock.yaml', 'pnpm-workspace.yaml'];
const PREVIEW = 'dashboards/preview';

/** The parts of a clone that starting needs, with nothing installed. */
const bareClone = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-start-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const path of ['scripts', 'package.json', ...LOCK_FILES, ...LOCK_FILES.map((file) => join(PREVIEW, file))]) {
    const filter = (from: string) => !from.endsWith('node_modules');
    cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter });
  }
  return folder;
};

const write = (path: string, text: string): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};

/** A clone in which everything is installed, and in which `npm test` runs this script instead of the tests. */
const installedClone = (tests: string): string => {
  const folder = bareClone();
  const modules = join(folder, 'node_modules');
  const digest = createHash('sha256');
  for (const file of LOCK_FILES) digest.update(readFileSync(join(folder, file)));
  write(join(modules, '.cache/breakerbox/installed'), digest.digest('hex'));
  mkdirSync(join(modules, 'node/bin'), { recursive: true });
  symlinkSync(process.execPath, join(modules, 'node/bin/node'));
  write(join(modules, 'vitest/vitest.mjs'), tests);
  return folder;
};

/** A folder for PATH with these programs as shell scripts. */
const programs = (folder: string, scripts: Readonly<Record<string, string>>): string => {
  for (const [name, script] of Object.entries(scripts)) {
    chmodSync(write(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`), 0o755);
  }
  return join(folder, 'bin');
};

const { packages } = JSON.parse(readFileSync(join(ROOT, 'scripts/pnpm/package-lock.json'), 'utf8'));

/** An npm that brings the pnpm that this command prints. */
const npmOf = (pnpm: string): string => `PATH=/usr/bin:/bin
  mkdir -p node_modules/pnpm/bin node_modules/@pnpm/exe.${process.platform}-${process.arch}
  echo '${JSON.stringify({ version: packages['node_modules/pnpm'].version })}' > node_modules/pnpm/package.json
  ${pnpm} > node_modules/pnpm/bin/pnpm.mjs`;

interface Start {
  /** Script that runs before everything else. */
  readonly preload?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Arguments after the task. */
  readonly args?: readonly string[];
  /** What the user types. */
  readonly input?: string;
}

const argsOf = (task: string, preload: string): string[] => [
  ...(preload ? ['--import', `data:text/javascript,${encodeURIComponent(preload)}`] : []),
  'scripts/start.cjs',
  task,
];

const start = (folder: string, task: string, { preload = '', env = {}, args = [], input = '' }: Start = {}) => {
  const { status, stderr } = spawnSync(process.execPath, [...argsOf(task, preload), ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    input,
  });
  return { status, stderr };
};

describe('a failed start says what to do', () => {
  test('without a network', async () => {
    const folder = bareClone();
    mkdirSync(join(folder, 'cache'));
    const { status, stderr } = start(folder, 'test', {
      env: {
        npm_config_registry: `http://127.0.0.1:${await freePort()}/`,
        npm_config_cache: join(folder, 'cache'),
        npm_config_fetch_retries: '0',
      },
    });
    expect(status).toBe(1);
    expect(stderr).toContain('npm could not install pnpm');
    expect(stderr).toContain('installing dependencies failed');
    expect(stderr).toContain('Check the network, and that `npm ping` succeeds.');
  });

  test('with a Node that is too old', () => {
    const preload = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } })`;
    const { status, stderr } = start(bareClone(), 'demo', { preload });
    expect(status).toBe(1);
    expect(stderr).toContain('this is Node 18.20.0, but this command needs at least Node 20. Install a newer Node');
  });

  test('with something that can not be started', () => {
    const { status, stderr } = start(bareClone(), 'dmeo');
    expect(status).toBe(1);
    expect(stderr).toContain(
      "there is no task 'dmeo'. The tasks are demo, bundle, breakerbox, example, test, test:all, preview, bench, fuzz, check, pack.",
    );
  });
});

describe('dependencies', () => {
  /** What was installed in which folder by these tasks, one after the other, each with its arguments. */
  const installedBy = (...tasks: readonly string[]): string => {
    const folder = bareClone();
    for (const program of ['packages/demo', PREVIEW]) write(join(folder, program, 'src/main.ts'), '');
    write(join(folder, 'node_modules/vitest/vitest.mjs'), '');
    const log = join(folder, 'pnpm.log');
    // Instead of pnpm: records its folder and arguments, and installs Node.
    const pnpm = `import fs from "node:fs";
      fs.appendFileSync("${log}", process.cwd().slice("${folder}".length) + ": " + process.argv.slice(2).join(" ") + "\\n");
      const bin = "${folder}/node_modules/node-${process.platform}-${process.arch}/bin";
      fs.mkdirSync(bin, { recursive: true });
      fs.rmSync(bin + "/node", { force: true });
      fs.symlinkSync(process.execPath, bin + "/node");`;
    const npm = npmOf(`printf %s '${pnpm}'`);
    const PATH = `${programs(folder, { npm })}:${process.env.PATH}`;
    const preload = 'process.getuid = () => 1000';
    for (const [task = '', ...args] of tasks.map((one) => one.split(' '))) {
      expect(start(folder, task, { preload, args, env: { PATH } }).status).toBe(0);
    }
    return readFileSync(log, 'utf8');
  };
  const INSTALL = 'install --frozen-lockfile\n';

  test('are installed once, by the first command that is started', () => {
    expect(installedBy('demo', 'demo', 'test', 'demo', 'test packages/core')).toBe(`: ${INSTALL}`);
  });

  test.each(['preview', 'test:all', 'test dashboards/preview'])('of the preview are installed once, by %s', (task) => {
    expect(installedBy(task, task)).toBe(`: ${INSTALL}/${PREVIEW}: ${INSTALL}`);
  });
});

test('pnpm does not run if its binary is missing, which it would download', () => {
  const folder = bareClone();
  const npm = npmOf(':').replace(/ \S+exe\.\S+/, '');
  const { status, stderr } = start(folder, 'demo', { env: { PATH: programs(folder, { npm }) } });
  expect(status).toBe(1);
  expect(stderr).toContain('the hashes of scripts/pnpm/package-lock.json');
});

test('every command runs from a clone, in the folder where npm was called', () => {
  const folder = installedClone('');
  write(join(folder, 'packages/cli/src/main.ts'), 'console.error(process.cwd(), ...process.argv.slice(2))');
  const elsewhere = mkdtempSync(join(tmpdir(), 'breakerbox-start-'));
  onTestFinished(() => rmSync(elsewhere, { recursive: true }));
  const started = start(folder, 'breakerbox', { args: ['ctl', 'list', '--json'], env: { INIT_CWD: elsewhere } });
  expect(started).toEqual({ status: 0, stderr: `${elsewhere} ctl list --json\n` });
});

describe('an example', () => {
  const withExample = (): string => {
    const folder = installedClone('');
    write(join(folder, 'examples/own.ts'), 'console.error("own ran with", ...process.argv.slice(2))');
    write(join(folder, 'examples/examples.test.ts'), '');
    write(join(folder, 'examples/sub-agents/own.ts'), '');
    return folder;
  };

  test('is started by its name', () => {
    const { status, stderr } = start(withExample(), 'example', { args: ['own', '--loud'] });
    expect({ status, stderr }).toEqual({ status: 0, stderr: 'own ran with --loud\n' });
  });

  test.each([[[]], [['onw']]])('is asked for if there is no such name: %j', (args) => {
    const { status, stderr } = start(withExample(), 'example', { args });
    expect(status).toBe(1);
    expect(stderr).toContain('Name one: npm run example -- NAME. The examples are own, sub-agents/own.');
  });
});

describe('Prometheus, Alertmanager, Chromium, PostgreSQL and Redis', () => {
  const as = (user: 'root' | 'user') => `process.getuid = () => ${user === 'root' ? 0 : 1000}`;
  const aptLog = 'echo "$@" >> apt.log';

  test('are installed for root on Debian, and their services do not run', () => {
    const folder = installedClone('console.error("tests ran")');
    const PATH = programs(folder, { 'apt-get': aptLog, systemctl: 'exit 0', service: 'echo "$@" >> service.log' });
    const { status, stderr } = start(folder, 'test', { preload: as('root'), env: { PATH } });
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /not on PATH: prometheus prometheus-alertmanager chromium postgresql redis-server\..*tests ran/s,
    );
    expect(stderr).toContain('To prevent this, set BREAKERBOX_INSTALL=0. Left out without them: alert rules');
    expect(readFileSync(join(folder, 'apt.log'), 'utf8')).toMatch(
      /^install --yes --no-remove --no-install-recommends .*prometheus prometheus-alertmanager chromium postgresql redis-server\n$/,
    );
  });

  test('are installed with Docker for test:all, whose service does not run either', () => {
    const folder = installedClone('');
    const systemctl = `[ "$1" = cat ] && exit 1; echo "$@" >> services.log`;
    const service = 'echo "$@" >> services.log';
    const npm = npmOf(':');
    const PATH = programs(folder, { 'apt-get': aptLog, npm, systemctl, service });
    const { stderr } = start(folder, 'test:all', { preload: as('root'), env: { PATH } });
    expect(stderr).toContain(
      '; docker-compose.yml in containers; MCP servers and clients in Python before and behind the relay.',
    );
    expect(readFileSync(join(folder, 'apt.log'), 'utf8')).toMatch(
      / postgresql redis-server openssl docker.io docker-compose python3-pip iproute2\n$/,
    );
    const stopped = readFileSync(join(folder, 'services.log'), 'utf8');
    for (const name of ['docker', 'docker.socket', 'containerd']) expect(stopped).toMatch(new RegExp(`\\b${name}\\b`));
  });

  test('are not installed with BREAKERBOX_INSTALL=0, and the output names the checks that are left out', () => {
    const folder = installedClone('console.error("tests ran")');
    const PATH = programs(folder, { 'apt-get': aptLog });
    const env = { PATH, BREAKERBOX_INSTALL: '0' };
    const { status, stderr } = start(folder, 'test', { preload: as('root'), env });
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /Left out without them: alert rules .*; a database tool; circuits that processes share through Redis\.\ntests ran/,
    );
    expect(existsSync(join(folder, 'apt.log'))).toBe(false);
  });

  test.each([
    ['n', false],
    ['', true],
  ])('asks in a terminal: %j', (answer, installs) => {
    const folder = installedClone('console.error("tests ran")');
    const PATH = programs(folder, { 'apt-get': aptLog, systemctl: 'exit 0', service: 'exit 0' });
    const terminal = `${as('root')}; process.stdin.isTTY = process.stderr.isTTY = true`;
    const env = { PATH, CI: '' };
    const { status, stderr } = start(folder, 'test', { preload: terminal, env, input: `${answer}\n` });
    expect(status).toBe(0);
    expect(stderr).toMatch(/install them now\? \[Y\/n\].*tests ran/s);
    expect(existsSync(join(folder, 'apt.log'))).toBe(installs);
  });

  test.each([true, false])('stops a service after its installation, unless it was installed before: %j', (wasThere) => {
    const folder = installedClone('');
    const PATH = programs(folder, { 'apt-get': aptLog, service: 'echo "$@" >> services.log' });
    const preload = `
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const { existsSync } = fs;
      fs.existsSync = (path) => String(path).startsWith('/etc/init.d/') ? ${wasThere} : existsSync(path) && path !== '/run/systemd/system';
      syncBuiltinESMExports();
      ${as('root')};`;
    expect(start(folder, 'test', { preload, env: { PATH } }).status).toBe(0);
    expect(existsSync(join(folder, 'apt.log'))).toBe(true);
    const log = join(folder, 'services.log');
    const said = existsSync(log) ? readFileSync(log, 'utf8') : '';
    expect(said).toBe(
      wasThere ? '' : 'prometheus stop\nprometheus-alertmanager stop\npostgresql stop\nredis-server stop\n',
    );
  });

  test.each([true, false])('with systemd, masks only services that were not there before: %j', (wasThere) => {
    const folder = installedClone('');
    const systemctl = `[ "$1" = cat ] && exit ${wasThere ? 0 : 1}; echo "$@" >> systemctl.log`;
    const PATH = programs(folder, { 'apt-get': aptLog, systemctl });
    const preload = `
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const { existsSync } = fs;
      fs.existsSync = (path) => path === '/run/systemd/system' || existsSync(path);
      syncBuiltinESMExports();
      ${as('root')};`;
    expect(start(folder, 'test', { preload, env: { PATH } }).status).toBe(0);
    expect(existsSync(join(folder, 'apt.log'))).toBe(true);
    const log = join(folder, 'systemctl.log');
    const services = 'prometheus prometheus-alertmanager postgresql redis-server';
    const managed = `mask ${services}\nunmask ${services}\ndisable ${services}\n`;
    expect(existsSync(log) ? readFileSync(log, 'utf8') : '').toBe(wasThere ? '' : managed);
  });

  test('are asked for on other systems, and the task still runs', () => {
    const folder = installedClone('console.error("tests ran")');
    const PATH = programs(folder, { 'apt-get': aptLog });
    const { status, stderr } = start(folder, 'test', { preload: as('user'), env: { PATH } });
    expect(status).toBe(0);
    expect(stderr).toContain(
      'Run `sudo apt-get install prometheus prometheus-alertmanager chromium postgresql redis-server`. Left',
    );
    expect(stderr).toContain('tests ran');
  });

  test('are not installed for the demo if only the browser and the database are missing', () => {
    const folder = installedClone('');
    write(join(folder, 'packages/demo/src/main.ts'), 'console.error("demo ran")');
    const PATH = programs(folder, { 'apt-get': aptLog, systemctl: 'exit 0', service: 'exit 0' });
    const { stderr } = start(folder, 'demo', { preload: as('root'), env: { PATH } });
    expect(stderr).toContain('demo ran');
    expect(readFileSync(join(folder, 'apt.log'), 'utf8')).toMatch(/prometheus prometheus-alertmanager redis-server\n$/);
  });

  test('are also found under their upstream names', () => {
    const folder = installedClone('console.error("tests ran")');
    const none = 'exit 0';
    const PATH = programs(folder, {
      prometheus: none,
      promtool: none,
      alertmanager: none,
      amtool: none,
      'chromium-browser': none,
      initdb: none,
      'redis-server': none,
      'redis-cli': none,
    });
    expect(start(folder, 'test', { preload: as('root'), env: { PATH } })).toEqual({ status: 0, stderr: 'tests ran\n' });
  });
});

describe('a task ends with its parent', () => {
  /** Records each signal that it gets, and runs until it gets one. */
  const LISTENER = `
    import { writeFileSync } from 'node:fs';
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.on(signal, () => { writeFileSync('told', signal); process.exit(7); });
    }
    setInterval(() => {}, 1000);
    writeFileSync('up', String(process.pid));
  `;

  const started = async (folder: string, child: ChildProcess): Promise<void> => {
    onTestFinished(() => void child.kill('SIGKILL'));
    await vi.waitFor(() => expect(readFileSync(join(folder, 'up'), 'utf8')).not.toBe(''), { timeout: 40_000 });
  };

  const launch = (folder: string, env: NodeJS.ProcessEnv = {}): ChildProcess =>
    spawn(process.execPath, argsOf('test', ''), {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...env },
    });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('passes on %s, and returns the exit code', async (signal) => {
    const folder = installedClone(LISTENER);
    const child = launch(folder);
    await started(folder, child);
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([7, null]);
    expect(readFileSync(join(folder, 'told'), 'utf8')).toBe(signal);
  });

  test('notices a killed npm, which cannot pass on signals', async () => {
    const folder = installedClone(LISTENER);
    // Instead of npm: starts the task, and is killed.
    const script = `import('node:child_process').then(({ spawn }) => spawn(process.execPath, ['scripts/start.cjs', 'test'], { stdio: 'ignore' }))`;
    const npm = spawn(process.execPath, ['-e', `${script}; setInterval(() => {}, 1000)`], {
      cwd: folder,
      stdio: 'ignore',
      env: { ...process.env, npm_lifecycle_event: 'test' },
    });
    await started(folder, npm);
    npm.kill('SIGKILL');
    await vi.waitFor(() => expect(readFileSync(join(folder, 'told'), 'utf8')).toBe('SIGTERM'), { timeout: 40_000 });
  });
});
