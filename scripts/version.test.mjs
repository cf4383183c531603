import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ownVersion } from './build/version.mjs';

const source = readFileSync(new URL('../packages/core/src/telemetry/semconv.ts', import.meta.url), 'utf8');

test('a build writes the version of the package into the scope of its telemetry', () => {
  const { code } = ownVersion('1.2.3').transform(source);
  expect(code).toContain("SCOPE_VERSION: string = '1.2.3';");
  expect(code.split('\n')).toHaveLength(source.split('\n').length);
  expect(ownVersion('1.2.3').transform("export const A = '0.0.0';")).toBe(null);
});
