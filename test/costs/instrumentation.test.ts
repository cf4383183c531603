import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import { loadCapabilities, parseCapabilitiesYaml } from '@breakerbox/instrumentation/capabilities';
import { readConfig } from '@breakerbox/instrumentation/config';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { capabilitiesCommand } from '../../packages/cli/src/capabilities/capabilities-command.ts';
import { classifyCommand } from '../../packages/cli/src/classify/classify-command.ts';
import { runCommand } from '../../packages/cli/src/test-support-command.ts';
import { apiFunctions } from './api-functions.ts';
import { growsTooFast } from './growth.ts';
import { fewValues, hostileTexts, hostileValues } from './hostile.ts';
import { ENTRIES, NO_OUTSIDE_INPUT } from './instrumentation-entries.ts';

/** 4 KB to 128 KB, the limit of a capability file. Quadratic work would take seconds. */
const FIRST = 4_000;

const OF_FILES = [
  'capabilities loadCapabilities',
  'capabilities parseCapabilitiesYaml',
  ...['loadConfig', 'readConfig', 'watchConfig'].map((name) => `config ${name}`),
];

const many = (size: number, each: number, make: (index: number) => string): string =>
  Array.from({ length: size / each }, (_, index) => make(index)).join('');

/** Files up to the limit of 128 KB, and beyond. */
const FILES: readonly ((size: number) => string)[] = [
  (size) => `tools:\n${many(size, 16, (index) => `  t${index}: {}\n`)}`,
  (size) => `tools:\n${many(size, 16, () => '  same: {}\n')}`,
  (size) =>
    JSON.stringify({
      tools: Object.fromEntries(Array.from({ length: size / 40 }, (_, n) => [`t${n}`, { dependsOn: [`t${n + 1}`] }])),
    }),
  (size) => `tools: { a: { dependsOn: [${many(size, 8, (index) => `d${index},`)}] } }`,
  (size) => `tools: { a: { fallback: "${'x'.repeat(size)}" } }`,
  (size) => `tools: { a: ${'['.repeat(size)}`,
  (size) => '- '.repeat(size / 2),
  (size) => '? '.repeat(size / 2),
  (size) => '&a '.repeat(size / 3),
  (size) => many(size, 60, (index) => `${' '.repeat(index % 100)}- \n`),
  ...hostileTexts,
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-costs-'));
});
afterAll(() => rm(folder, { recursive: true }));

const quiet = async (work: () => unknown): Promise<void> => {
  try {
    await work();
  } catch {
    // An error is as good as a result: only its cost counts.
  }
};

describe('E2: the cost of what comes from outside grows no faster than its size', () => {
  test('every exported function of instrumentation has a cost test, or reads nothing from outside', () => {
    const known = [...Object.keys(ENTRIES), ...Object.keys(NO_OUTSIDE_INPUT), ...OF_FILES];
    expect(apiFunctions('instrumentation').toSorted()).toEqual(known.toSorted());
  });

  test.each(Object.entries(ENTRIES))('%s', async (name, call) => {
    const values = name.startsWith('index classify') ? [...fewValues, ...hostileValues] : fewValues;
    for (const [index, make] of values.entries()) {
      const prepare = (size: number) => {
        const value = make(size);
        return () => quiet(() => call(value, () => Promise.reject(value)));
      };
      expect(await growsTooFast(prepare, FIRST), `value ${index}`).toBeUndefined();
    }
  });

  test('a stream of a guarded tool', async () => {
    const prepare = (size: number) => async () => {
      const { session } = { session: createBreakerbox({ agent: 'costs' }).session() };
      const stream = guard(session, 'search', async function* () {
        for (let piece = 0; piece < size / 16; piece += 1) yield 'HTTP 503 ';
      });
      for await (const _ of (await stream({})) as AsyncIterable<string>);
    };
    expect(await growsTooFast(prepare, FIRST)).toBeUndefined();
  });

  test.each(FILES.map((make, index) => [index, make] as const))('capability file %i', async (_, make) => {
    const parse = (size: number) => {
      const text = make(size);
      return () => quiet(() => parseCapabilitiesYaml(text));
    };
    expect(await growsTooFast(parse, FIRST)).toBeUndefined();
  });

  test.each(FILES.map((make, index) => [index, make] as const))('configuration file %i', async (index, make) => {
    const path = join(folder, `config-${index}.yaml`);
    const parse = (size: number) => {
      writeFileSync(path, make(size));
      return () => quiet(() => readConfig(path));
    };
    expect(await growsTooFast(parse, FIRST)).toBeUndefined();
  });

  test('capability files in JSON', async () => {
    const path = join(folder, 'map.json');
    for (const make of FILES.slice(2, 6)) {
      await writeFile(path, make(200_000));
      const start = process.cpuUsage();
      await quiet(() => loadCapabilities(path));
      expect(process.cpuUsage(start).user / 1_000).toBeLessThan(2_000);
    }
  });

  test('breakerbox classify and breakerbox capabilities', async () => {
    const classify = (size: number) => {
      const text = hostileTexts.map((make) => make(size / 12)).join('\n');
      return () => runCommand((io) => classifyCommand(io, Readable.from([text])), ['-']);
    };
    expect(await growsTooFast(classify, FIRST)).toBeUndefined();
    const path = join(folder, 'map.yaml');
    const capabilities = (size: number) => async () => {
      await writeFile(path, `tools:\n${many(size, 40, (index) => `  t${index}: { fallback: ask the user }\n`)}`);
      await runCommand(capabilitiesCommand, [path]);
    };
    expect(await growsTooFast(capabilities, 1_000)).toBeUndefined();
  });

  test('objects without an end do not hang a process', async () => {
    const script = fileURLToPath(new URL('endless.child.ts', import.meta.url));
    const args = ['--conditions=breakerbox-source', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      timeout: 30_000,
      killSignal: 'SIGKILL',
    }).catch((error: { stdout: string }) => error);
    expect(stdout.trim().split('\n').at(-1)).toBe('all done');
  });
});
