import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asClause, describeWait, formatDuration, quoteTool } from './wording.ts';

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
  [{ steps: 3, ms: 60_000, notBeforeMs: 0 }, 'in about 3 of your turns', 'in about 60 s'],
  [{ steps: 1, notBeforeMs: 0 }, 'in about 1 turn', 'later in this run'],
  [{ ms: 300_000, notBeforeMs: 0 }, 'in about 5 min', 'in about 5 min'],
  [{ ms: 60_000, notBeforeMs: 90_000 }, 'in about 90 s', 'in about 90 s'],
  [{ ms: 90_000, notBeforeMs: 60_000 }, 'in about 90 s', 'in about 90 s'],
  [{ steps: 2, notBeforeMs: 90_000 }, 'in about 90 s', 'in about 90 s'],
  [{ steps: 3, ms: 110_000, notBeforeMs: 90_000 }, 'in about 90 s', 'in about 110 s'],
  [{ steps: 20, ms: 60_000, notBeforeMs: 1_000 }, 'in about 20 of your turns', 'in about 60 s'],
  [{ steps: 0, ms: 5_000, notBeforeMs: 90_000 }, 'in about 90 s', 'in about 90 s'],
  [{ steps: -2, notBeforeMs: 7_000 }, 'in about 7 s', 'in about 7 s'],
  [{ steps: 3, ms: 0, notBeforeMs: 7_000 }, 'in about 7 s', 'in about 7 s'],
  [{ ms: -5, notBeforeMs: 7_000 }, 'in about 7 s', 'in about 7 s'],
  [{ steps: 0, ms: 5_000, notBeforeMs: 0 }, 'later in this run', 'later in this run'],
])('R3, O3: the wait, where steps are turns of the model and where they are not: %j', (wait, inTurns, inTime) => {
  expect([describeWait(wait, true), describeWait(wait, false)]).toEqual([inTurns, inTime]);
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
      const text = describeWait({ ...inSeconds, ...(steps !== undefined && { steps }) }, steps !== undefined);
      const promised = /\bin about (\d+) s\b/.exec(text)?.[1];
      if (promised === undefined) expect(notBeforeMs).toBeLessThanOrEqual(steps ?? 0);
      else expect(Number(promised)).toBe(steps === undefined ? Math.max(ms ?? 0, notBeforeMs) : notBeforeMs);
    }),
  );
});

test.each([
  [-5, '0 s'],
  [1, '1 s'],
  [119_000, '119 s'],
  [119_001, '2 min'],
  [119 * 60_000, '119 min'],
  [119 * 60_000 + 1, '2 h'],
  [125 * 60_000, '2 h 5 min'],
  [3 * 3_600_000, '3 h'],
])('%i ms are %s', (ms, inWords) => expect(formatDuration(ms)).toBe(inWords));

test('O3: a Retry-After that is over by the turn of the probe is not told', () => {
  expect(describeWait({ steps: 2, ms: 9e9, notBeforeMs: 2_000 }, true)).toBe('in about 2 of your turns');
  expect(describeWait({ steps: 2, ms: 9e9, notBeforeMs: 2_001 }, true)).toBe('in about 3 s');
});
