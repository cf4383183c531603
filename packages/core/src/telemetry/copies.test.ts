import { describe, expect, test } from 'vitest';
import { homeIn } from './copies.ts';

describe('where a copy is installed', () => {
  test.each([
    [
      'at home (file:///app/node_modules/@breakerbox/core/dist/telemetry/copies.js:110:20)',
      '/app/node_modules/@breakerbox/core',
    ],
    [
      'at home (file:///app/node_modules/plugin/node_modules/@breakerbox/core/dist/index.js:1:1)',
      '/app/node_modules/plugin/node_modules/@breakerbox/core',
    ],
    [
      'at file:///app/node_modules/.pnpm/@breakerbox+core@1.0.0/node_modules/@breakerbox/core/dist/index.js:1:1',
      '/app/node_modules/.pnpm/@breakerbox+core@1.0.0/node_modules/@breakerbox/core',
    ],
    ['at home (/repository/packages/core/src/telemetry/copies.ts:110:20)', undefined],
    ['at home (file:///app/dist/bundle.js:1:1)', undefined],
  ])('%s', (line, home) => {
    const found = homeIn(`Error\n    ${line}\n    at run (file:///x/node_modules/@breakerbox/core/dist/other.js:1:1)`);
    expect(found?.replace(/^file:\/\//, '')).toBe(home);
  });
});
