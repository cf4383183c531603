import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { METRIC } from './semconv.ts';

const folder = join(import.meta.dirname, '..');
const sources = globSync('**/*.ts', { cwd: folder })
  .filter((path) => !/\.test\.ts$|test-support|^(?:proof|rules)\//.test(path))
  .map((path) => readFileSync(join(folder, path), 'utf8'))
  .join('\n');

/** The keys of metrics that code makes series of: a histogram has its own, the others have `seriesOf`. */
const counted = new Set([...sources.matchAll(/\bseriesOf\(\s*[^;()]+?,\s*'(\w+)'/g)].map(([, key]) => key));

test.each(Object.entries(METRIC))('the metric %s is counted somewhere', (key, { kind }) => {
  if (kind === 'histogram') expect(sources).toContain(`METRIC.${key}`);
  else expect(counted).toContain(key);
});
