import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_SETTINGS } from '@breakerbox/alerts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listedSettings, readSettings, renderSettings } from './settings.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-settings-'));
});
afterAll(() => rm(folder, { recursive: true }));

const file = async (text: string): Promise<string> => {
  const path = join(folder, 'settings.yml');
  await writeFile(path, text);
  return path;
};
const faults = async (path: string | undefined, ...set: readonly string[]): Promise<readonly string[]> => {
  const { issues } = await readSettings(path, set);
  return issues.map(({ path: where, message }) => `${where.replace(folder, '.')} ${message}`);
};

describe('settings', () => {
  it('are the defaults if none are given', async () => {
    expect(await readSettings(undefined, [])).toEqual({ settings: {}, issues: [] });
    expect(await readSettings(await file(''), [])).toEqual({ settings: {}, issues: [] });
  });

  it('come from --set, where the last value of a name counts, and are left out if they equal the default', async () => {
    const set = ['openFor=20m', 'openFor = 10m', 'errorRatio=0.5', `slowFactor=${DEFAULT_SETTINGS.slowFactor}`];
    expect(await readSettings(undefined, set)).toEqual({ settings: { openFor: '10m', errorRatio: 0.5 }, issues: [] });
    const turned = await readSettings(undefined, set.toReversed());
    expect(Object.keys(turned.settings), 'in a fixed order').toEqual(['openFor', 'errorRatio']);
  });

  it.each(['openFor: 10m\nerrorRatio: 0.5 # half\n', '{"openFor": "10m", "errorRatio": 0.5}'])(
    'are read from a file: %j',
    async (text) => {
      const { settings } = await readSettings(await file(text), ['errorRatio=0.6']);
      expect(settings).toEqual({ openFor: '10m', errorRatio: 0.6 });
    },
  );

  it('reads levels, as a list in a file or with commas, and rejects others', async () => {
    expect((await readSettings(undefined, ['levels=namespace, cluster'])).levels).toEqual(['cluster', 'namespace']);
    expect((await readSettings(await file('levels: [namespace]'), [])).levels).toEqual(['namespace']);
    expect((await readSettings(undefined, ['levels=region'])).issues).toEqual([
      { path: '--set levels', message: 'has "region", which is no level. The levels are cluster and namespace' },
    ]);
  });

  it('with an unknown name are an error that names the most similar setting first', async () => {
    expect(await faults(undefined, 'opnFor=1m')).toEqual([
      expect.stringMatching(/^--set opnFor there is no setting "opnFor"\. The settings are openFor, /),
    ]);
    expect(await faults(await file('openfor: 10m'))).toEqual([
      expect.stringMatching(/settings\.yml: openfor there is no setting "openfor"\. The settings are openFor, /),
    ]);
    expect(await faults(undefined, 'toString=1')).toEqual([expect.stringMatching(/no setting "toString"/)]);
  });

  it('that the rules reject are reported with the flag or file that set them', async () => {
    expect(await faults(await file('openFor: 5'), 'errorRatio=many')).toEqual([
      expect.stringMatching(/settings\.yml: openFor is 5, .*2m30s/),
      expect.stringMatching(/^--set errorRatio is 'many'/),
    ]);
    const gap = await faults(await file('gap: 1h'));
    expect(gap.length).toBeGreaterThan(1);
    for (const fault of gap) expect(fault, 'the written value, and its place').toMatch(/settings\.yml: gap is 1h, /);
    expect(await faults(undefined, 'openFor=1m')).toEqual([expect.stringMatching(/^--set openFor is 1m, not longer/)]);
  });

  it.each(['openFor', '=', 'openFor:10m'])('--set %s is an error', async (text) => {
    expect(await faults(undefined, text)).toHaveLength(1);
  });

  it.each([
    ['- a', /^--settings \.\/settings\.yml contains a list\..*as in openFor: 10m$/],
    ['just text', /contains only "just text"/],
    ['a: [', /can't be read in line 1: .*one setting per line/],
    ['openFor: { a: 1 }', /settings\.yml: openFor is a map of names and values/],
    ['openFor: [10m]', /settings\.yml: openFor is a list/],
    ['openFor:', /settings\.yml: openFor is nothing/],
    ['openFor: 10m\n---\nerrorRatio: 0.5', /has several YAML documents/],
    ['openFor: 10m\nopenFor: 20m', /has a setting twice in line 2/],
    ['openFor: *nowhere', /can't be read: .*nowhere/],
    ['openFor: !mine 10m', /can't be read in line 1: .*!mine/],
  ])('a file with %j is an error', async (text, reason) => {
    expect(await faults(await file(text))).toEqual([expect.stringMatching(reason)]);
  });

  it('of a file that does not exist are an error', async () => {
    expect(await faults(join(folder, 'nowhere.yml'))).toEqual([
      expect.stringMatching(/^--settings \.\/nowhere\.yml can't be read: ENOENT/),
    ]);
  });

  it('are listed in the columns of the terminal', () => {
    const text = renderSettings(100);
    expect(text).toMatch(/^name +default +unit +meaning\n─+\n/);
    for (const { name, default: value } of listedSettings())
      expect(text).toMatch(new RegExp(`^${name} +${value} `, 'm'));
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
  });
});
