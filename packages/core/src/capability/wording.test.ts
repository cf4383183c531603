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

  test('R3: whatever it is, it stays short, on one line and within its quotes', () => {
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

test('R3: words from the configuration become a part of a sentence', () => {
  expect(asClause('ask the user for a link')).toBe('ask the user for a link');
  expect(asClause('  Ask the user\n for a link.\n')).toBe('Ask the user for a link');
  expect(asClause('Ask e.g. the editor.')).toBe('Ask e.g. the editor');
  expect(asClause('one\u0000two\u2028three')).toBe('one two three');
});

test.each([
  [{ steps: 3, ms: 60_000, notBeforeMs: 0 }, 'in 3 steps or in 60 s'],
  [{ steps: 1, notBeforeMs: 0 }, 'in 1 step'],
  [{ ms: 300_000, notBeforeMs: 0 }, 'in 5 min'],
  [{ steps: 2, notBeforeMs: 90_000 }, 'in 2 steps, and not for 90 s'],
  [{ steps: 0, ms: 5_000, notBeforeMs: 90_000 }, 'in 90 s'],
  [{ ms: -5, notBeforeMs: 7_000 }, 'in 7 s'],
  [{ steps: 3, ms: 0, notBeforeMs: 7_000 }, 'in 7 s'],
  [{ steps: -2, notBeforeMs: 7_000 }, 'in 7 s'],
])('R3, O3: until when: %j: %s', (wait, text) => {
  expect(describeWait(wait)).toBe(text);
});
