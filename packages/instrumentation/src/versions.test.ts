import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BreakerboxUsageError } from '@breakerbox/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { checkVersion, type Installed, installedVersions } from './versions.ts';

const WHERE = 'breakerHooks() of @breakerbox/instrumentation/mastra';

const found =
  (...versions: readonly string[]) =>
  (): readonly Installed[] =>
    versions.map((version) => ({ version, folder: '/app/node_modules/@mastra/core' }));

const check = (...versions: readonly string[]) => checkVersion('@mastra/core', WHERE, found(...versions));

describe('checkVersion', () => {
  test('if a framework is too old, the error names the needed and the installed version, its folder, and the fix', () => {
    expect(() => check('0.24.9')).toThrow(BreakerboxUsageError);
    expect(() => check('0.24.9')).toThrow(
      'breakerHooks() of @breakerbox/instrumentation/mastra needs @mastra/core 1.42.0 or later, but version 0.24.9 is installed ' +
        '(/app/node_modules/@mastra/core). Run `npm install @mastra/core@latest`, or guard the functions of your tools with guard() of ' +
        '@breakerbox/instrumentation, which needs no framework.',
    );
  });

  test.each(['0.24.9', '1.9.0', '1.41.99', '1.41.0-alpha.3'])('%s is too old', (version) => {
    expect(() => check(version)).toThrow(version);
  });

  test.each(['1.42.0', '1.42.0-alpha.1', '1.42.1', '1.100.0', '2.0.0', '10.0.0', 'next'])('%s passes', (version) => {
    expect(() => check(version)).not.toThrow();
  });

  test('of several versions, one that fits is enough, because it may be the one in use', () => {
    expect(() => check('0.24.9', '1.42.0')).not.toThrow();
    expect(() => check('0.24.9', '0.24.8')).toThrow('version 0.24.9 is installed');
  });

  test('a framework that is not found passes, as in a bundle', () => {
    expect(() => check()).not.toThrow();
  });
});

describe('installedVersions', () => {
  let app: string;
  beforeEach(async () => {
    app = await mkdtemp(join(tmpdir(), 'breakerbox-versions-'));
  });
  afterEach(async () => {
    vi.unstubAllGlobals();
    await rm(app, { recursive: true, force: true });
  });

  const install = async (folder: string, manifest: string): Promise<string> => {
    const at = join(app, folder, 'node_modules/@mastra/core');
    await mkdir(at, { recursive: true });
    await writeFile(join(at, 'package.json'), manifest);
    return at;
  };

  test('finds the nearest one above each starting point', async () => {
    const [root, nested] = [await install('', '{"version":"0.24.9"}'), await install('lib', '{"version":"1.42.0"}')];
    expect(installedVersions('@mastra/core', [join(app, 'src/main.js'), join(app, 'lib/dist/deep/index.js')])).toEqual([
      { version: '0.24.9', folder: root },
      { version: '1.42.0', folder: nested },
    ]);
  });

  test.each(['{', '{}', '{"version":5}'])('ignores a manifest that is %s', async (manifest) => {
    await install('', manifest);
    expect(installedVersions('@mastra/core', [join(app, 'main.js')])).toEqual([]);
  });

  test('finds nothing outside Node', () => {
    vi.stubGlobal('process', undefined);
    expect(installedVersions('@mastra/core')).toEqual([]);
  });

  test('finds the versions of this workspace', () => {
    expect(installedVersions('ai')[0]?.version).toMatch(/^7\./);
  });
});
