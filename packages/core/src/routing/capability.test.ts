import { describe, expect, test } from 'vitest';
import { object } from '../checks/checks.ts';
import { type Capability, capabilityChecks, capabilityWarnings, checkCapabilityMap } from './capability.ts';

const lines = (issues: readonly { path: string; message: string }[]) =>
  issues.map(({ path, message }) => `${path}: ${message}`);

const check = (capability: unknown) => lines(object(capabilityChecks)('tools.a', capability));

describe('one tool', () => {
  test('R1: every field of a tool is accepted', () => {
    const full: Capability = {
      provides: 'web search',
      alternatives: [
        {
          tool: 'news',
          method: 'search for the headline',
          degradation: 'low',
          note: 'recent only',
          adapt: (input) => input,
        },
        { tool: 'archive' },
      ],
      fallback: 'ask the user for a link',
      dependsOn: ['internet'],
    };
    expect(check(full)).toEqual([]);
    expect(check({})).toEqual([]);
  });

  test.each([
    [
      { provides: ' ' },
      "tools.a.provides: is ' '. Set a string that isn't empty: it says what the tool provides. Or leave it out.",
    ],
    [
      { fallback: 7 },
      "Set a string that isn't empty: it tells the model what to do without the tool. Or leave it out.",
    ],
    [
      { alternatives: { tool: 'b' } },
      "tools.a.alternatives: is an object. Give a list such as [{ tool: 'news_search' }].",
    ],
    [{ alternatives: ['b'] }, "tools.a.alternatives[0]: is 'b'. Give an object such as { tool: 'b' }."],
    [{ alternatives: [null] }, "tools.a.alternatives[0]: is null. Give an object such as { tool: 'news_search' }."],
    [{ alternatives: [{}] }, "Set a string that isn't empty: it is the name of the alternative tool."],
    [{ alternatives: [{ tool: undefined }] }, 'tools.a.alternatives[0].tool: is undefined. Set a string'],
    [{ alternatives: [{ tool: '' }] }, "tools.a.alternatives[0].tool: is ''. Set a string"],
    [
      { alternatives: [{ tool: 'b', method: 1 }] },
      ': it tells the model how to use the alternative in place of this tool. Or leave it out.',
    ],
    [{ alternatives: [{ tool: 'b', method: 1 }] }, 'tools.a.alternatives[0].method: is 1.'],
    [{ alternatives: [{ tool: 'b', note: '' }] }, "tools.a.alternatives[0].note: is ''."],
    [{ alternatives: [{ tool: 'b', note: 1 }] }, ': it tells the model what the alternative loses. Or leave it out.'],
    [
      { alternatives: [{ tool: 'b', degradation: 'some' }] },
      "tools.a.alternatives[0].degradation: is 'some'. Set one of low, high, unknown, or leave it out",
    ],
    [{ alternatives: [{ tool: 'b', adapt: 'x' }] }, "tools.a.alternatives[0].adapt: is 'x'. Give a function"],
    [
      { alternatives: [{ tool: 'b', cost: 1 }] },
      'tools.a.alternatives[0].cost: is not a setting. Allowed here: tool, method',
    ],
    [{ dependsOn: 'db' }, "tools.a.dependsOn: is 'db'. Give a list such as ['egress-proxy']."],
    [
      { dependsOn: ['db', 3] },
      "tools.a.dependsOn[1]: is 3. Set a string that isn't empty: it is the name of a tool or of anything else that this tool",
    ],
    [
      { dependson: [] },
      "tools.a.dependson: is not a setting. Did you mean 'dependsOn'? Allowed here: provides, alternatives, fallback, dependsOn.",
    ],
  ])('E6: %j is rejected; the error says where, why and what to write', (capability, message) => {
    expect(check(capability)).toEqual([expect.stringContaining(message)]);
  });
});

describe('the map', () => {
  test('E6: tools may be alternatives of others, and depend on tools and resources', () => {
    const tools = {
      a: { alternatives: [{ tool: 'b' }, { tool: 'c' }], dependsOn: ['c', 'db'] },
      b: { alternatives: [{ tool: 'c' }], dependsOn: ['db'] },
      c: {},
    };
    expect(checkCapabilityMap(tools)).toEqual([]);
  });

  test('E6: an alternative that is not a declared tool is rejected', () => {
    expect(lines(checkCapabilityMap({ a: { alternatives: [{ tool: 'c' }, { tool: 'x' }] }, c: {} }))).toEqual([
      "tools.a.alternatives[1].tool: is 'x', but no tool has that name. Correct " +
        'the name (the tools are c), or add the tool.',
    ]);
    expect(lines(checkCapabilityMap({ a: { alternatives: [{ tool: 'x' }] }, b: {}, c: {} }))).toEqual([
      expect.stringContaining('Correct the name (the tools are b, c), or add the tool.'),
    ]);
    expect(lines(checkCapabilityMap({ a: { alternatives: [{ tool: 'toString' }] } }))).toEqual([
      expect.stringContaining('Correct the name, or add the tool.'),
    ]);
  });

  test('E6: the error names ten of many tools, and about a hundred of many faults', () => {
    const tools = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, n) => [`t${n}`, { alternatives: [{ tool: 'x' }] }]),
    );
    const issues = checkCapabilityMap(tools);
    expect(issues).toHaveLength(101);
    expect(issues[0]?.message).toContain('(the tools are t1, t2, t3, t4, t5, t6, t7, t8, t9, t10 and 4989 more)');
  });

  test('E6: the error names the beginning of a long cycle, and a hundred of many cycles', () => {
    const ring = Array.from({ length: 5_000 }, (_, n) => [
      `t${n}`,
      { dependsOn: [`t${(n + 1) % 5_000}`, `t${Math.floor(n / 2)}`] },
    ]);
    const issues = checkCapabilityMap(Object.fromEntries(ring));
    expect(issues.length).toBeLessThanOrEqual(100);
    expect(Math.max(...issues.map(({ message }) => message.length))).toBeLessThan(500);
    expect(issues.at(-1)?.message).toMatch(/is a cycle, (t\d+ → ){10}\d+ more → t\d+: a tool cannot depend on itself/);
  });

  test('E6: an alternative that is the tool itself is reported once, and not as a cycle too', () => {
    expect(lines(checkCapabilityMap({ a: { alternatives: [{ tool: 'a' }] } }))).toEqual([
      'tools.a.alternatives[0].tool: is the tool itself, which is unavailable when an alternative is needed. Name another tool.',
    ]);
  });

  test('E6: a repeated alternative is reported each time', () => {
    const again = [{ tool: 'b' }, { tool: 'b' }, { tool: 'b', degradation: 'low' }];
    expect(lines(checkCapabilityMap({ a: { alternatives: again }, b: {} }))).toEqual([
      "tools.a.alternatives[1].tool: is 'b' again, and only the first one is used. Remove one of them.",
      "tools.a.alternatives[2].tool: is 'b' again, and only the first one is used. Remove one of them.",
    ]);
  });

  test('E6: a cycle of alternatives is named', () => {
    const tools = {
      z: { alternatives: [{ tool: 'a' }] },
      a: { alternatives: [{ tool: 'b' }] },
      b: { alternatives: [{ tool: 'c' }, { tool: 'a' }] },
      c: {},
    };
    expect(lines(checkCapabilityMap(tools))).toEqual([
      'tools.a.alternatives: is a cycle, a → b → a: tools that are alternatives of one another would send the model from ' +
        'one to the other without end. Remove one of these alternatives.',
    ]);
  });

  test('E6: each of several cycles that share a tool is named', () => {
    const tools = { a: { dependsOn: ['b'] }, b: { dependsOn: ['a', 'c', 'c'] }, c: { dependsOn: ['b', 'b'] } };
    expect(checkCapabilityMap(tools).map(({ message }) => message.split(':')[0])).toEqual([
      'is a cycle, a → b → a',
      'is a cycle, b → c → b',
    ]);
  });

  test('E6: a cycle of dependsOn is named, even of one tool', () => {
    const tools = {
      a: { dependsOn: ['db', 'b'] },
      b: { dependsOn: ['c'] },
      c: { dependsOn: ['a'] },
      d: { dependsOn: ['d'] },
    };
    expect(lines(checkCapabilityMap(tools))).toEqual([
      'tools.a.dependsOn: is a cycle, a → b → c → a: a tool cannot depend on itself, directly or through other tools. Remove one of these dependencies.',
      'tools.d.dependsOn: is a cycle, d → d: a tool cannot depend on itself, directly or through other tools. Remove one of these dependencies.',
    ]);
  });

  test.each([undefined, null, 7, 'text', [], { a: null }, { a: 3 }, { a: { alternatives: 3, dependsOn: 'b' } }])(
    'E6: the map leaves a malformed tool to the checks of one tool: %j',
    (tools) => expect(checkCapabilityMap(tools)).toEqual([]),
  );

  test('E6: well-formed parts beside a malformed one are checked', () => {
    const tools = {
      a: { alternatives: [null, 7, {}, { tool: 4 }, { tool: 'x' }], dependsOn: [3, null, 'a'] },
      b: null,
    };
    expect(checkCapabilityMap(tools).map(({ path }) => path)).toEqual([
      'tools.a.alternatives[4].tool',
      'tools.a.dependsOn',
    ]);
  });

  test('E6: names that every object inherits are valid names', () => {
    const tools = JSON.parse('{"__proto__": {"alternatives": [{"tool": "constructor"}]}, "constructor": {}}');
    expect(checkCapabilityMap(tools)).toEqual([]);
  });

  test('E6: a chain of 20,000 tools is checked', () => {
    const chain = Array.from({ length: 20_000 }, (_, n) => [`t${n}`, n === 19_999 ? {} : { dependsOn: [`t${n + 1}`] }]);
    expect(checkCapabilityMap(Object.fromEntries(chain))).toEqual([]);
  });
});

test('R1: a tool with neither alternative nor fallback gets a warning, in one sentence that says what to write', () => {
  const tools = {
    a: {},
    b: { alternatives: [], dependsOn: ['a'] },
    c: { fallback: 'ask' },
    d: { alternatives: [{ tool: 'a' }] },
  };
  expect(lines(capabilityWarnings(tools))).toEqual(
    ['a', 'b'].map(
      (tool) =>
        `tools.${tool}: has neither an alternative nor a fallback. If it is unavailable, the model can only leave ` +
        "out its part. Say what to do instead, such as fallback: 'ask the user for a link'.",
    ),
  );
});
