import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { setup } from './temporary.ts';

const nameOf = (pid: number | string): RegExp => new RegExp(`^breakerbox-tests-${pid}-\\w{6}$`);

/** A folder for temporary folders, instead of the machine's. */
const newParent = (): string => {
  const parent = mkdtempSync(join(tmpdir(), 'parent-'));
  vi.stubEnv('TMPDIR', parent);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(parent, { recursive: true });
  });
  return parent;
};

test('every test and its child processes use the temporary folder of their run', () => {
  expect(basename(tmpdir())).toMatch(nameOf(process.ppid));
  const { stdout } = spawnSync(process.execPath, ['-p', 'os.tmpdir()'], { encoding: 'utf8' });
  expect(stdout.trim()).toBe(tmpdir());
});

test('removes the folder and its content after the run', () => {
  const parent = newParent();
  const tearDown = setup();
  expect(dirname(tmpdir())).toBe(parent);
  expect(basename(tmpdir())).toMatch(nameOf(process.pid));
  writeFileSync(join(mkdtempSync(join(tmpdir(), 'left-')), 'file'), '');
  tearDown();
  expect(readdirSync(parent)).toEqual([]);
  expect(tmpdir()).toBe(parent);
});

test('removes the folder of a killed run at the next run, and keeps the folders of others', () => {
  const parent = newParent();
  const { pid: gone } = spawnSync(process.execPath, ['-e', '']);
  const others = [`breakerbox-tests-${process.ppid}-living`, `breakerbox-${gone}-abcdef`, `breakerbox-tests-${gone}`];
  for (const name of [...others, `breakerbox-tests-${gone}-killed`])
    mkdirSync(join(parent, name, 'deep'), { recursive: true });
  setup()();
  expect(readdirSync(parent).toSorted()).toEqual(others.toSorted());
});
