import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WARNING_CODES, type WarningCode } from '../packages/core/src/warnings/warnings.ts';
import { COMPILE_CACHE } from './compile-cache.ts';

const FOLDER = join(import.meta.dirname, 'warnings');
const CORE = join(import.meta.dirname, '../packages/core/src/index.ts');

let home: string;
let copies: readonly string[];
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'breakerbox-warnings-'));
  const folders = ['node_modules', 'node_modules/plugin/node_modules'];
  copies = folders.map((folder) => join(home, folder, '@breakerbox/core/index.mjs'));
  for (const outfile of copies) {
    await build({ entryPoints: [CORE], outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'silent' });
  }
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** What a program prints to stderr, in an environment with nothing but these variables. */
const stderrOf = async (name: string, variables: Readonly<Record<string, string>> = {}): Promise<string> => {
  const given = name === 'two-copies' ? copies : [];
  const child = spawn(process.execPath, ['--conditions=breakerbox-source', join(FOLDER, `${name}.ts`), ...given], {
    cwd: home,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH ?? '', HOME: home, ...COMPILE_CACHE, ...variables },
  });
  const code = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  const stderr = await text(child.stderr);
  expect({ code: await code, stderr }).toMatchObject({ code: 0 });
  return stderr;
};

const nameOf = (code: string): string => code.replace('BREAKERBOX_', '').toLowerCase().replaceAll('_', '-');

const NAMES = WARNING_CODES.map(nameOf);

/** Warnings that the same program has given by then: so many tools share series long before they share no circuit. */
const BEFORE: Partial<Record<string, readonly string[]>> = {
  BREAKERBOX_TOO_MANY_TOOLS: ['BREAKERBOX_TOO_MANY_SERIES'],
};

test('there is a program for each warning', async () => {
  expect((await readdir(FOLDER)).sort()).toEqual([...NAMES, 'none'].map((name) => `${name}.ts`).sort());
});

describe('a program with a mistake prints its warning, once', () => {
  const once = async (code: WarningCode): Promise<void> => {
    const stderr = await stderrOf(nameOf(code));
    const expected = [...(BEFORE[code] ?? []), code];
    expect(stderr.match(/\[BREAKERBOX_\w+\] BreakerboxWarning: /g)).toEqual(
      expected.map((one) => `[${one}] BreakerboxWarning: `),
    );
    expect(stderr.trimEnd().split('\n')).toHaveLength(expected.length + 1); // Node says after the first warning how to trace it.
  };
  const isOfModels = (code: WarningCode): boolean => code.startsWith('BREAKERBOX_MODEL_');
  test.concurrent.each(WARNING_CODES.filter((code) => !isOfModels(code)))('%s', once);
  test.concurrent.each(WARNING_CODES.filter(isOfModels))('L1, L4, L6: %s', once);
});

test('the warning of two copies says where they are', async () => {
  const both = 'node_modules/@breakerbox/core and node_modules/plugin/node_modules/@breakerbox/core';
  expect(await stderrOf('two-copies')).toContain(`has 2 copies of @breakerbox/core: ${both}.`);
});

test('BREAKERBOX_WARNINGS=off: it prints nothing', async () => {
  expect(await stderrOf('undeclared-tool', { BREAKERBOX_WARNINGS: 'off' })).toBe('');
});

test('a program without a mistake prints nothing', async () => {
  expect(await stderrOf('none')).toBe('');
});
