import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../packages/cli/src/demo/child.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A clone as far as starting needs it, with nothing installed. */
const bareClone = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-start-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const path of ['scripts', 'package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml']) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
  return folder;
};

const start = (folder: string, task: string, { preload = '', env = {} } = {}) => {
  const args = [...(preload ? ['--import', `data:text/javascript,${preload}`] : []), 'scripts/bring-up.mjs', task];
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, stderr };
};

describe('a wrong start says what to do', () => {
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
    expect(stderr).toContain('installing the dependencies failed');
    expect(stderr).toContain('is there a network, and does `npm ping` answer?');
  });

  test('with a Node that is too old', () => {
    const preload = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } })`;
    const { status, stderr } = start(bareClone(), 'demo', { preload: encodeURIComponent(preload) });
    expect(status).toBe(1);
    expect(stderr).toContain('this is Node 18.20.0, and starting takes Node 20 or later. Install a newer one');
  });

  test('with something that can not be started', () => {
    const { status, stderr } = start(bareClone(), 'dmeo');
    expect(status).toBe(1);
    expect(stderr).toContain("'dmeo' is nothing that can be started. Known: demo, test, check.");
  });
});
