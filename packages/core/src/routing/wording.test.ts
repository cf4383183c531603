import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asClause, describeWait, quoteTool } from './wording.ts';

describe("a tool's name", () => {
  test.each([
    ['web_search', "'web_search'"],
    ['mcp:files/read', "'mcp:files/read'"],
    ['Wetter heute', "'Wetter heute'"],
    ['天気', "'天気'"],
    ["it's", '"it\'s"'],
    ['a"b', '"a\\"b"'],
    ['a\\b', '"a\\\\b"'],
    ['a\nb\tc', '"a\\u000ab\\u0009c"'],
    ['a\u2028b\u202Ec', '"a\\u2028b\\u202ec"'],
    ['a”b', '"a\\u201db"'],
    ['\uD800', '"\\ud800"'],
    ['\u{E0041}', '"\\udb40\\udc41"'],
    ['', "''"],
    ['a'.repeat(80), `'${'a'.repeat(80)}'`],
    ['a'.repeat(81), `"${'a'.repeat(80)}…"`],
    ['\n'.repeat(80), `"${'\\u000a'.repeat(13)}…"`],
    ['😀'.repeat(50), `"${'😀'.repeat(40)}…"`],
    [`a${'😀'.repeat(50)}`, `"a${'😀'.repeat(39)}…"`],
  ])('R3: %j is shown as %s', (tool, shown) => {
    expect(quoteTool(tool)).toBe(shown);
  });

  test('R3: any name stays short, on one line and within its quotes', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary', minLength: 70, maxLength: 200 })),
        (tool) => {
          const shown = quoteTool(tool);
          expect(shown.length).toBeLessThanOrEqual(83);
          expect(shown).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
          const inside = shown.slice(1, -1);
          if (shown.startsWith("'")) expect(inside).toBe(tool);
          else expect(inside.replace(/\\(?:u[0-9a-f]{4}|["\\])/g, '')).not.toMatch(/["\\]/);
        },
      ),
      { numRuns: 300 },
    );
  });
});

test('R3: text from the configuration becomes a part of a sentence', () => {
  expect(asClause('ask the user for a link')).toBe('ask the user for a link');
  expect(asClause('  Ask the user\n for a link.\n')).toBe('Ask the user for a link');
  expect(asClause('Ask e.g. the editor.')).toBe('Ask e.g. the editor');
  expect(asClause('one\u0000two\u2028three')).toBe('one two three');
});

test.each([
  [{ steps: 3, ms: 60_000, notBeforeMs: 0 }, 'in 3 steps, or in 60 s without a step'],
  [{ steps: 1, notBeforeMs: 0 }, 'in 1 step'],
  [{ ms: 300_000, notBeforeMs: 0 }, 'in 5 min'],
  [{ ms: 60_000, notBeforeMs: 90_000 }, 'in 90 s'],
  [{ ms: 90_000, notBeforeMs: 90_000 }, 'in 90 s'],
  [{ ms: 90_000, notBeforeMs: 60_000 }, 'in 90 s'],
  [{ steps: 2, notBeforeMs: 90_000 }, 'in 2 steps, but not within 90 s'],
  [{ steps: 3, ms: 60_000, notBeforeMs: 90_000 }, 'in 90 s'],
  [{ steps: 3, ms: 110_000, notBeforeMs: 90_000 }, 'in 3 steps, or in 110 s without a step, but not within 90 s'],
  [{ steps: 0, ms: 5_000, notBeforeMs: 90_000 }, 'in 90 s'],
  [{ ms: -5, notBeforeMs: 7_000 }, 'in 7 s'],
  [{ steps: 3, ms: 0, notBeforeMs: 7_000 }, 'in 7 s'],
  [{ steps: -2, notBeforeMs: 7_000 }, 'in 7 s'],
])('R3, O3: the time until the next probe: %j: %s', (wait, text) => {
  expect(describeWait(wait)).toBe(text);
});

test.each([
  ['of 200 characters', 'x'.repeat(200), 'x'.repeat(200)],
  ['of one more', 'x'.repeat(201), `${'x'.repeat(199)}…`],
  ['cut behind a space', `${'x'.repeat(198)} ${'y'.repeat(9)}`, `${'x'.repeat(198)}…`],
  ['of which 800 are looked at', `a${' '.repeat(799)}`, 'a'],
  ['of which more are not looked at', `a${' '.repeat(799)}b`, 'a…'],
])('R3: text from the configuration is cut at 200 characters: %s', (_, words, shown) => {
  expect(asClause(words)).toBe(shown);
});

test.each([
  [{ steps: 0, ms: 5_000, notBeforeMs: 0 }, 'in 0 s'],
  [{ steps: 0, ms: 5_000, notBeforeMs: 9_000 }, 'in 9 s'],
  [{ steps: 3, ms: 0, notBeforeMs: 0 }, 'in 0 s'],
  [{ steps: 3, ms: -5, notBeforeMs: 0 }, 'in 0 s'],
  [{ steps: 3, ms: 5_000, notBeforeMs: 5_000 }, 'in 5 s'],
])('P1, O3: after the wait by steps or time is over, the message has only the Retry-After: %j', (wait, text) => {
  expect(describeWait(wait)).toBe(text);
});

test('O3: the message has at most one time, and promises no probe before a Retry-After ends', () => {
  const wait = fc.record(
    {
      steps: fc.integer({ min: 1, max: 20 }),
      ms: fc.integer({ min: 1, max: 119 }),
      notBeforeMs: fc.integer({ min: 0, max: 119 }),
    },
    { requiredKeys: ['notBeforeMs'] },
  );
  fc.assert(
    fc.property(wait, ({ steps, ms, notBeforeMs }) => {
      fc.pre(steps !== undefined || ms !== undefined);
      const inSeconds = { notBeforeMs: notBeforeMs * 1_000, ...(ms !== undefined && { ms: ms * 1_000 }) };
      const text = describeWait({ ...inSeconds, ...(steps !== undefined && { steps }) });
      const promised = /\bin (\d+) s\b/.exec(text)?.[1];
      if (promised !== undefined) expect(Number(promised)).toBe(Math.max(ms ?? 0, notBeforeMs));
      else expect(text.includes('not within')).toBe(notBeforeMs > 0);
    }),
  );
});
