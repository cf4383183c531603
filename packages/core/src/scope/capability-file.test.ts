import { describe, expect, test } from 'vitest';
import { BreakerboxConfigError } from '../checks/checks.ts';
import { parseCapabilities, validateCapabilities } from './capability-file.ts';

const issuesOf = (run: () => unknown): string[] => {
  try {
    run();
  } catch (error) {
    if (error instanceof BreakerboxConfigError) return error.issues.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
};

describe('an object from a file', () => {
  test('R1: it gives the tools unchanged, and warnings', () => {
    const tools = {
      web_search: {
        provides: 'web search',
        alternatives: [{ tool: 'news', degradation: 'low' }],
        dependsOn: ['internet'],
      },
      news: { fallback: 'ask the user for a link' },
      clock: {},
    };
    expect(validateCapabilities({ tools })).toEqual({
      tools,
      warnings: [{ path: 'tools.clock', message: expect.stringContaining('neither an alternative nor a fallback') }],
    });
    expect(validateCapabilities({ tools: {} })).toEqual({ tools: {}, warnings: [] });
  });

  test('E6: one error lists all faults', () => {
    const file = {
      version: 1,
      tools: {
        a: { alternatives: [{ tool: 'x' }, { tool: 'b', degradation: 'bad' }], dependsOn: ['b'], retries: 3 },
        b: { dependsOn: ['a'] },
        '': {},
        c: null,
      },
    };
    expect(issuesOf(() => validateCapabilities(file))).toEqual([
      'version: is not allowed here. Allowed here: tools.',
      expect.stringMatching(/^tools\.a\.alternatives\[1\]\.degradation: is 'bad'/),
      'tools.a.retries: is not a setting. Allowed here: provides, alternatives, fallback, dependsOn.',
      "tools['']: is ''. Set a string that isn't empty: it is the name of a tool.",
      "tools.c: is null. Give an object such as { fallback: 'ask the user for a link' }.",
      expect.stringMatching(/^tools\.a\.alternatives\[0\]\.tool: is 'x', but no tool has that name/),
      expect.stringMatching(/^tools\.a\.dependsOn: is a cycle, a → b → a/),
    ]);
    expect(() => validateCapabilities(file)).toThrow(/^Breakerbox can't use this capability map:\n {2}version: /);
  });

  test.each([
    [undefined, "file: is undefined. Give an object with the key 'tools', such as"],
    [null, "file: is empty. Give an object with the key 'tools'"],
    ['tools', "file: is 'tools'."],
    [[], 'file: is a list.'],
    [{}, "file: has no key 'tools'. Put the tools under it: { tools: { web_search: "],
    [{ web_search: { fallback: 'ask' } }, "file: has no key 'tools'. Put the tools under it: { tools: { web_search: "],
    [
      { tools: undefined },
      "tools: is undefined. Give an object such as { web_search: { fallback: 'ask the user for a link' } }.",
    ],
    [{ tools: null }, 'tools: is null. Give an object such as { web_search: '],
    [{ tools: [] }, 'tools: is a list. Give an object such as { web_search: '],
    [{ tools: { a: [] } }, 'tools.a: is a list. Give an object such as { fallback: '],
  ])('E6: %j is rejected', (value, message) => {
    expect(issuesOf(() => validateCapabilities(value))).toEqual([expect.stringContaining(message)]);
  });

  test('R4: adapt is a function, which a file cannot hold', () => {
    const file = { tools: { a: { alternatives: [{ tool: 'b', adapt: 'input => input' }] }, b: {} } };
    expect(issuesOf(() => validateCapabilities(file))).toEqual([
      'tools.a.alternatives[0].adapt: is a function, which a file cannot contain. Leave it out here, and set it in code.',
    ]);
  });
});

describe('a JSON text', () => {
  test('R1: it is read, even with the byte order mark that some editors add', () => {
    const text = '{"tools": {"a": {"fallback": "ask"}}}';
    const read = { tools: { a: { fallback: 'ask' } }, warnings: [] };
    expect(parseCapabilities(text)).toEqual(read);
    expect(parseCapabilities(`\uFEFF${text}`)).toEqual(read);
    expect(parseCapabilities('{"tools": {"a": {"fallback": "a\uFEFFb"}}}').tools).toEqual({
      a: { fallback: 'a\uFEFFb' },
    });
  });

  test('E6: invalid JSON is rejected with line and column', () => {
    const [issue = ''] = issuesOf(() => parseCapabilities('{\r\n  "tools": {\n    "a": {}\n    "b": {}\n  }\n}'));
    expect(issue).toMatch(/^line 4, column 5: is not valid JSON \(Expected .+ in JSON\)\. Correct the text\.$/);
  });

  test.each([
    ['line feeds', '\n'],
    ['both', '\r\n'],
    ['carriage returns', '\r'],
  ])('E6: the position is correct far down in the text too, with lines that end in %s', (_, end) => {
    const text = `${end.repeat(11)}            {"tools": {"a": {} "b": {}}}`;
    expect(issuesOf(() => parseCapabilities(text))).toEqual([
      expect.stringMatching(/^line 12, column 32: is not valid JSON \(Expected [^(\d]+ in JSON\)\./),
    ]);
    expect(issuesOf(() => parseCapabilities('{"tools": {} "more": {}}'))[0]).toMatch(/^line 1, column 14: /);
  });

  test('E6: if the engine gives no position, the error has no position', () => {
    expect(issuesOf(() => parseCapabilities('{"tools":'))).toEqual([
      expect.stringMatching(/^text: is not valid JSON \(.+\)\./),
    ]);
    expect(issuesOf(() => parseCapabilities('tools:\n  a: {}'))).toEqual([
      expect.stringMatching(/^text: is not valid JSON \(.+"tools: a: \{\}".+\)/),
    ]);
  });

  test('E6: an empty text, and a value that is not a string, are rejected', () => {
    expect(issuesOf(() => parseCapabilities(' \n'))).toEqual(['text: is empty. Give at least {"tools": {}}.']);
    expect(issuesOf(() => parseCapabilities(undefined as unknown as string))).toEqual([
      'text: is undefined. Give the JSON as a string.',
    ]);
  });

  test('E6: its content is checked like any object', () => {
    expect(issuesOf(() => parseCapabilities('{"tools": {"a": {"dependsOn": ["a"]}}}'))).toEqual([
      expect.stringContaining('tools.a.dependsOn: is a cycle, a → a'),
    ]);
  });

  test('E6: a tool named __proto__ is valid', () => {
    const { tools } = parseCapabilities('{"tools": {"__proto__": {"fallback": "ask"}}}');
    expect(Object.entries(tools)).toEqual([['__proto__', { fallback: 'ask' }]]);
  });
});
