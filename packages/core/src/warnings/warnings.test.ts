import { readFileSync } from 'node:fs';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { watchDiag, watchWarnings } from '../test-support.ts';
import { homeIn, WARNING_CODES, warnOnce } from './warnings.ts';

afterEach(() => {
  diag.disable();
  vi.unstubAllGlobals();
});

const CODE = 'BREAKERBOX_SETTLEMENT';

test('a warning is given once for each code and subject', () => {
  const warnings = watchWarnings();
  for (const subject of ['a', 'b', 'a']) warnOnce(CODE, subject, () => `of ${subject}`);
  warnOnce('BREAKERBOX_NO_STEPS', 'a', () => 'of a');
  expect(warnings()).toEqual([`${CODE}: of a`, `${CODE}: of b`, 'BREAKERBOX_NO_STEPS: of a']);
});

test('after twenty subjects a code is silent, and no text is built', () => {
  const warnings = watchWarnings();
  const text = vi.fn(() => 'no');
  for (let n = 0; n < 1_000; n += 1) warnOnce(CODE, `made-up-${n}`, text);
  expect([warnings().length, text.mock.calls.length]).toEqual([20, 20]);
});

test.each(['off', ' OFF '])('BREAKERBOX_WARNINGS=%j: there is no warning until it is changed', (off) => {
  const warnings = watchWarnings();
  vi.stubEnv('BREAKERBOX_WARNINGS', off);
  warnOnce(CODE, 'a', () => 'no');
  expect(warnings()).toEqual([]);
  vi.stubEnv('BREAKERBOX_WARNINGS', 'on');
  warnOnce(CODE, 'a', () => 'yes');
  expect(warnings()).toEqual([`${CODE}: yes`]);
});

test('names in a warning add no lines to a log, and a very long one is cut', () => {
  const warnings = watchWarnings();
  warnOnce(CODE, 'a', () => `tool 'a\n\u001b[31mERROR'`);
  warnOnce(CODE, 'b', () => 'x'.repeat(100_000));
  expect(warnings()[0]).toBe(`${CODE}: tool 'a\\n\\x1b[31mERROR'`);
  expect(warnings()[1]?.length).toBeLessThan(2_100);
});

describe('E5: a warning that cannot be delivered does no harm', () => {
  const broken = (): never => {
    throw new Error('broken');
  };

  test.each<[string, unknown]>([
    ['a browser has no process', undefined],
    ['an edge platform has only its variables', { env: {} }],
    ['emitWarning is no function', { env: {}, emitWarning: 'no' }],
  ])('%s: it goes to diag', (_, host) => {
    watchWarnings();
    const warn = vi.fn();
    const silent = () => {};
    const logger = { error: silent, warn, info: silent, debug: silent, verbose: silent };
    diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    vi.stubGlobal('process', host);
    warnOnce(CODE, 'a', () => 'said');
    vi.unstubAllGlobals();
    expect(warn.mock.calls).toEqual([[`Breakerbox: said [${CODE}]`]]);
  });

  test.each<[string, object]>([
    ['an emitWarning that throws', { env: {}, emitWarning: broken }],
    ['variables that throw', Object.defineProperty({}, 'env', { get: broken })],
  ])('%s is reported to diag, and thrown to no caller', (_, host) => {
    watchWarnings();
    const error = watchDiag();
    vi.stubGlobal('process', host);
    expect(() => warnOnce(CODE, 'a', () => 'said')).not.toThrow();
    vi.unstubAllGlobals();
    expect(error).toHaveBeenCalledTimes(1);
  });

  test('a text that throws is reported to diag', () => {
    watchWarnings();
    const error = watchDiag();
    expect(() => warnOnce(CODE, 'a', broken)).not.toThrow();
    expect(error).toHaveBeenCalledTimes(1);
  });

  test('the state on globalThis may be frozen', () => {
    const warnings = watchWarnings();
    const key = Symbol.for('@breakerbox/core:warnings');
    Object.defineProperty(globalThis, key, { value: Object.freeze({}), configurable: true });
    onTestFinished(() => void Reflect.deleteProperty(globalThis, key));
    expect(() => warnOnce(CODE, 'a', () => 'said')).not.toThrow();
    expect(warnings()).toEqual([]);
  });
});

test('docs/troubleshooting.md has a row for each code, and no others', () => {
  const page = readFileSync(new URL('../../../../docs/troubleshooting.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(BREAKERBOX_\w+)` \|/gm)].map(([, code]) => code);
  expect(rows).toEqual([...WARNING_CODES]);
});

describe('location of an installed copy', () => {
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
