/** Gateways of MCP from npm. Nothing else uses them, so they are no dependencies: npm installs them the first time, in half a minute. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { ON_LOOPBACK } from '../packages/instrumentation/src/test-support/mcp-servers.ts';
import { PATIENT } from './mcp-relay-pipes.ts';

const run = promisify(execFile);

/** Their versions and scripts. */
const GATEWAYS = {
  'mcp-remote': { version: '0.15.1', script: 'dist/proxy.js' },
  supergateway: { version: '4.0.0', script: 'dist/index.js' },
  'mcp-proxy': { version: '6.7.19', script: 'dist/bin/mcp-proxy.mjs' },
} as const;
export type Gateway = keyof typeof GATEWAYS;

const WANTED = Object.entries(GATEWAYS).map(([name, { version }]) => `${name}@${version}`);
const CACHE = join(import.meta.dirname, '../node_modules/.cache/breakerbox-gateways');
const FOLDER = join(CACHE, WANTED.join('+'));

/** Installs the gateways, or takes those that were installed before. @throws Error with the last words of npm */
export const installGateways = async (): Promise<void> => {
  if (existsSync(FOLDER)) return;
  await mkdir(CACHE, { recursive: true });
  const made = await mkdtemp(join(CACHE, 'new-'));
  try {
    await writeFile(join(made, 'package.json'), '{ "private": true }');
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await run('npm', ['install', ...flags, ...WANTED], { cwd: made, maxBuffer: 2 ** 24 });
    await rename(made, FOLDER);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
};

/** The arguments of Node for a gateway. It listens on loopback only, whatever it would do by itself. */
export const gateway = (name: Gateway, ...args: readonly string[]): string[] => [
  '--import',
  `data:text/javascript,${encodeURIComponent(ON_LOOPBACK)}`,
  join(FOLDER, 'node_modules', name, GATEWAYS[name].script),
  ...args,
];

/** Starts a gateway that listens, until the end of the test. Gives the address of its server. */
export const listeningGateway = async (name: Gateway, ...args: readonly string[]): Promise<string> => {
  const child = spawn(process.execPath, gateway(name, ...args), {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  // With the command that it has started.
  onTestFinished(() => void process.kill(-(child.pid ?? 0), 'SIGKILL'));
  let said = '';
  child.stderr.on('data', (part) => {
    said += part;
  });
  await expect.poll(() => said, PATIENT).toMatch(/^PORT \d+$/m);
  return `http://127.0.0.1:${/^PORT (\d+)$/m.exec(said)?.[1]}/mcp`;
};
