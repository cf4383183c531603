import { expect, it } from 'vitest';
import { settingDocs } from './setting-docs.ts';
import { DEFAULT_SETTINGS } from './settings.ts';

const docs = settingDocs();

it('lists every setting, each with its own meaning', () => {
  expect(docs.map(({ name }) => name)).toEqual(Object.keys(DEFAULT_SETTINGS));
  expect(new Set(docs.map(({ meaning }) => meaning)).size).toBe(docs.length);
  for (const { meaning, name } of docs) expect(meaning, name).toMatch(/^[A-Z][^`{}*]{15,}\.$/);
});

it('gives the unit of each setting', () => {
  const unit = Object.fromEntries(docs.map((doc) => [doc.name, doc.unit]));
  expect(unit).toMatchObject({
    gap: 'duration',
    openShare: 'share',
    keyOpenShare: 'share',
    keyOpenLeastDecisions: 'number',
    burnFastRatio: 'share',
    burnSlowRatio: 'share',
    slowFloor: 'seconds',
    slowFactor: 'times',
    flappingOpenings: 'number',
  });
  const shares = docs.filter((doc) => /Ratio$|Share$/.test(doc.name));
  for (const doc of shares) expect(doc.unit, doc.name).toBe('share');
});
