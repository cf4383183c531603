import { describe, expect, test } from 'vitest';
import { type Breakerbox, createBreakerbox } from '../breakerbox.ts';
import { BreakerboxConfigError } from '../checks/checks.ts';

const issuesOf = (make: () => unknown): string[] => {
  try {
    make();
  } catch (error) {
    if (error instanceof BreakerboxConfigError) return error.issues.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
};

const issues = (config: object) => issuesOf(() => createBreakerbox({ agent: 'a', ...config } as never));

describe('E6: bad configuration is rejected when the box is made', () => {
  test.each<[object, string, string]>([
    [{ agent: undefined }, 'agent', 'is undefined'],
    [{ agent: ' ' }, 'agent', "is ' '. Set a name that isn't empty"],
    [
      { agent: 'x'.repeat(257) },
      'agent',
      'is a string of 257 characters. Set a name of at most 256 characters, in valid Unicode (no lone surrogates). It is on every span and event.',
    ],
    [
      { tools: { s: { probeAfterSteps: [] } } },
      'tools.s.probeAfterSteps',
      'is empty. Give at least one number of steps',
    ],
    [
      { tools: { s: { probeAfterSteps: [3, 0] } } },
      'tools.s.probeAfterSteps[1]',
      'is 0. Set a whole number of at least 1',
    ],
    [{ tools: { s: { probeAfterSteps: '3' } } }, 'tools.s.probeAfterSteps', "is '3'. Set a whole number"],
    [{ groups: { g: { probeAfterSteps: [1.5] } } }, 'groups.g.probeAfterSteps[0]', 'is 1.5'],
    [{ tools: { s: { keysThreshold: 0 } } }, 'tools.s.keysThreshold', 'is 0. Set a whole number of at least 1'],
    [{ defaults: { keysThreshold: 101 } }, 'defaults.keysThreshold', 'and at most 100'],
    [{ tools: { s: { cooldownMs: Number.NaN } } }, 'tools.s.cooldownMs', 'is NaN'],
    [{ tools: { s: { probeLeaseMs: -1 } } }, 'tools.s.probeLeaseMs', 'is -1. Set a finite number above 0'],
    [{ defaults: { cooldownMs: Number.POSITIVE_INFINITY } }, 'defaults.cooldownMs', 'is Infinity'],
    [{ defaults: { cooldownMs: 2 ** 41 } }, 'defaults.cooldownMs', 'and at most 1099511627776'],
    [{ tools: { s: { probes: '2' } } }, 'tools.s.probes', "is '2'. Set a whole number of at least 1"],
    [{ tools: { s: { cooldownMs: 9, maxCooldownMs: 8 } } }, 'tools.s.cooldownMs', 'is 9, more than maxCooldownMs (8)'],
    [
      { tools: { s: { profile: 'slow', maxCooldownMs: 100_000 } } },
      'tools.s.cooldownMs',
      "is 120000 by the profile 'slow', more than maxCooldownMs (100000)",
    ],
    [
      { defaults: { cooldownMs: 5, maxCooldownMs: 8 }, tools: { s: { cooldownMs: 9 } } },
      'tools.s.cooldownMs',
      'more than maxCooldownMs (8)',
    ],
    [{ defaults: { mode: 'off' } }, 'defaults.mode', 'automatic, forced_open, disabled, observe_only'],
    [{ tools: { s: { profile: 'turbo' } } }, 'tools.s.profile', 'default, fast, slow, provider'],
    [
      { tools: { s: { failureTreshold: 3 } } },
      'tools.s.failureTreshold',
      "is not a setting. Did you mean 'failureThreshold'? Allowed here: profile",
    ],
    [{ bugdet: {} }, 'bugdet', "is not a setting. Did you mean 'budget'? Allowed here: agent"],
    [{ retries: 3 }, 'retries', 'is not a setting. Allowed here: agent, tools'],
    [
      { capabilities: {} },
      'capabilities',
      'is not a setting. Set tools: (await loadCapabilities(path)).tools, of @breakerbox/instrumentation/capabilities',
    ],
    [{ tools: { s: { constructor: 3 } } }, 'tools.s.constructor', 'is not a setting'],
    [
      { defaults: { failureThreshold: false } },
      'defaults.failureThreshold',
      'is false, and nothing else opens the circuit. Set one of failureRate, slowCallRate, wastedTokens, trip, or mode',
    ],
    [{ tools: { s: { outcomes: { netwrok: 'failure' } } } }, 'tools.s.outcomes.netwrok', "Did you mean 'network'"],
    [{ defaults: { outcomes: { network: 'success' } } }, 'defaults.outcomes.network', 'failure, ignored'],
    [{ defaults: { isFailure: true } }, 'defaults.isFailure', 'Give a function'],
    [{ defaults: { classify: 'network' } }, 'defaults.classify', 'Give a function'],
    [{ defaults: { precheck: 'up' } }, 'defaults.precheck', 'Give a function'],
    [{ tools: { s: { key: 'host' } } }, 'tools.s.key', "is 'host'. Give a function such as byHost()"],
    [{ tools: { s: { key: true } } }, 'tools.s.key', 'Give a function'],
    [{ defaults: { key: () => 'x' } }, 'defaults.key', 'is not allowed in defaults'],
    [
      { defaults: { group: 'g' } },
      'defaults.group',
      'is not allowed in defaults, because it belongs to one tool. Set it in tools.NAME',
    ],
    [{ tools: { 'group:x': {} } }, "tools['group:x']", "is 'group:x'. Names that begin with 'group:' are reserved"],
    [{ tools: { s: { group: ' ' } } }, 'tools.s.group', "Set a name that isn't empty"],
    [{ tools: { s: { group: true } } }, 'tools.s.group', 'is true. Set a name'],
    [{ tools: { s: { group: 'x'.repeat(251) } } }, 'tools.s.group', 'at most 256 characters'],
    [{ groups: { g: { groupThreshold: 0 } } }, 'groups.g.groupThreshold', 'is 0. Set a whole number of at least 1'],
    [
      { groups: { g: { failureRate: {} } } },
      'groups.g.failureRate',
      'is not a setting. Allowed here: profile, mode, share, telemetry, failureThreshold, groupThreshold',
    ],
    [{ groups: { g: { cooldownMs: 9, maxCooldownMs: 8 } } }, 'groups.g.cooldownMs', 'more than maxCooldownMs (8)'],
    [{ budget: { failures: 0 } }, 'budget.failures', 'is 0. Set a whole number of at least 1, or leave it out. With 0'],
    [{ budget: { rule: 'lax' } }, 'budget.rule', "is 'lax'. Set one of window, strict"],
    [{ budget: { windowSteps: 0.5 } }, 'budget.windowSteps', 'Set a whole number of at least 1'],
    [{ budget: { windowMs: 0 } }, 'budget.windowMs', 'Set a finite number above 0'],
    [{ budget: { windowCalls: 0 } }, 'budget.windowCalls', 'is 0. Set a whole number of at least 1'],
    [{ budget: { rule: 'strict', windowCalls: 5 } }, 'budget.windowCalls', "has no effect with rule 'strict'"],
    [
      { budget: { rule: 'strict', windowMs: 5 } },
      'budget.windowMs',
      "has no effect with rule 'strict', which has no window. Remove it, or set rule 'window'.",
    ],
    [{ systemic: { sameCategorySteps: 0 } }, 'systemic.sameCategorySteps', 'is 0. Set a whole number of at least 1'],
    [{ systemic: { mixedFailures: 1 } }, 'systemic.mixedFailures', 'A systemic failure is a failure of several tools'],
    [{ systemic: { sameCategory: 1 } }, 'systemic.sameCategory', 'A systemic failure is a failure of several tools'],
    [{ systemic: { sharedTools: 1 } }, 'systemic.sharedTools', 'is 1. Set a whole number of at least 2'],
    [{ systemic: { sharedFailures: 1 } }, 'systemic.sharedFailures', 'at least 2'],
    [{ systemic: { pause: 'some' } }, 'systemic.pause', "is 'some'. Set one of all, affected"],
    [{ systemic: { pause: 'affected' } }, 'systemic.pause', "is 'affected', which needs scope 'process'"],
    [
      { scope: 'none', systemic: { recovery: { probeAfterMs: 5 } } },
      'systemic.recovery.probeAfterMs',
      "needs scope 'process', where sessions share their circuits.",
    ],
    [{ clock: { now: 5 } }, 'clock', 'now and unixNow'],
  ])('E6: %j: %s', (config, path, message) => {
    const [issue = '', ...more] = issues(config);
    expect([issue.split(': ')[0], more]).toEqual([path, []]);
    expect(issue).toContain(message);
  });

  test.each<[object, string]>([
    [{ tools: 3 }, "tools: is 3. Give an object such as { web_search: { profile: 'fast' } }."],
    [{ tools: ['x'] }, "tools: is a list. Give an object such as { web_search: { profile: 'fast' } }."],
    [{ tools: { s: null } }, "tools.s: is null. Give an object such as { profile: 'fast' }."],
    [{ defaults: 'fast' }, "defaults: is 'fast'. Give an object such as { profile: 'fast' }."],
    [{ defaults: { outcomes: 'ignored' } }, "is 'ignored'. Give an object such as { tool_error: 'failure' }."],
    [{ defaults: { failureRate: 0.5 } }, 'defaults.failureRate: is 0.5. Give an object such as { rate: 0.5 }.'],
    [{ defaults: { slowCallRate: 0.5 } }, 'is 0.5. Give an object such as { rate: 0.5, slowerThanMs: 5000 }.'],
    [{ defaults: { wastedTokens: 500 } }, 'is 500. Give an object such as { tokens: 10000 }.'],
    [{ budget: 5 }, "budget: is 5. Give an object such as { failures: 5 }, 'strict' or false."],
    [{ groups: ['g'] }, 'groups: is a list. Give an object such as { github: { cooldownMs: 30000 } }.'],
    [{ groups: { g: 'fast' } }, "groups.g: is 'fast'. Give an object such as { profile: 'fast' }."],
    [{ systemic: true }, 'Give an object such as { sameCategory: 3 }, or set false to switch it off, or leave it out.'],
    [{ systemic: { recovery: 5 } }, 'systemic.recovery: is 5. Give an object such as { afterMs: 300000 }.'],
    [{ loopGuard: true }, 'Give an object such as { repeats: 3 }, or set false to switch it off, or leave it out.'],
    [{ allowedTools: 'search' }, "allowedTools: is 'search'. Give a list such as ['web_search']."],
  ])('E6: the message about %j says what to write instead, and that can be used', (config, message) => {
    const [issue = '', ...more] = issues(config);
    expect([issue, more]).toEqual([expect.stringContaining(message), []]);
    const [, like = ''] = /such as ([[{].*[\]}])/.exec(message) ?? [];
    const [path = ''] = issue.split(': ');
    const instead = path
      .split('.')
      .reduceRight<unknown>((value, key) => ({ [key]: value }), new Function(`return ${like}`)());
    expect(issues(instead as object)).toEqual([]);
  });

  test('E6: one message lists all faults', () => {
    const make = () => createBreakerbox({ agent: '', budget: { failures: -1 }, tools: { s: { probes: 0 } } });
    expect(make).toThrow(
      [
        "Breakerbox can't use this configuration:",
        "  agent: is ''. Set a name that isn't empty: it is how people find this in telemetry.",
        '  budget.failures: is -1. Set a whole number of at least 1, or leave it out. With 0, the session would pause before its first call.',
        '  tools.s.probes: is 0. Set a whole number of at least 1, or leave it out. With 0, an open circuit could never close.',
      ].join('\n'),
    );
  });

  test('E6: valid configuration is accepted', () => {
    const recovery = { probeAfterMs: 1_000, maxProbeAfterMs: 2_000 };
    const accepted = [
      { agent: 'x'.repeat(256) },
      { budget: 'strict' },
      { budget: { rule: 'strict', failures: 1, tokens: 1 } },
      { budget: { rule: 'window', windowSteps: 1, windowMs: 0.5 } },
      { defaults: { cooldownMs: 900_000 } }, // P2: it raises a maximum that is not set.
      { defaults: { failureThreshold: false, failureRate: { rate: 0.5 } } },
      { tools: { s: { group: 'g' }, t: { group: false } } },
      { groups: { g: { mode: 'observe_only', profile: 'fast', groupThreshold: 1 }, h: {} } },
      { scope: 'process', systemic: { pause: 'affected', recovery } },
      { scope: 'process', systemic: { pause: 'all' } },
      { systemic: { pause: 'all', sharedFailures: 2, sharedTools: 2 } },
    ];
    expect(accepted.flatMap(issues)).toEqual([]);
  });
});

describe('E6: calls after the box is made', () => {
  test.each<[string, (box: Breakerbox) => unknown, string]>([
    ['a tool', (box) => box.declare('s', { probes: 0 }), 'tools.s.probes: is 0'],
    ['a tool beside the defaults', (box) => box.declare('s', { cooldownMs: 9 }), 'more than maxCooldownMs (8)'],
    ['a tool in a cycle', (box) => box.declare('later', { dependsOn: ['first'] }), 'is a cycle, first → later → first'],
    [
      'an unknown alternative',
      (box) => box.declare('x', { alternatives: [{ tool: 'y' }] }),
      'but no tool has that name',
    ],
    [
      'a session',
      (box) => box.session('run-7' as never),
      "session: is 'run-7'. Give an object such as { id: 'conversation-7' }.",
    ],
    [
      'its id',
      (box) => box.session({ id: 'x'.repeat(257) }),
      'session.id: is a string of 257 characters. Set a name of at most 256 characters, in valid Unicode (no lone surrogates). It is on every span',
    ],
    ['its budget', (box) => box.session({ budget: 'lax' as never }), "session.budget: is 'lax'"],
    ['a setting of its budget', (box) => box.session({ budget: { failures: 0 } }), 'session.budget.failures: is 0'],
  ])('E6: %s is rejected', (_, give, message) => {
    const defaults = { cooldownMs: 5, maxCooldownMs: 8 };
    const box = createBreakerbox({ agent: 'a', defaults, tools: { first: { dependsOn: ['later'] } } });
    expect(issuesOf(() => give(box))).toEqual([expect.stringContaining(message)]);
    expect(box.tools).toEqual(['first']);
  });

  test('E6: a session may have its own value of a single budget setting', () => {
    const box = createBreakerbox({ agent: 'a', budget: { failures: 3, tokens: 9 } });
    const { budget } = box.session({ budget: 'strict', id: 'x'.repeat(256) }).view();
    expect(budget).toMatchObject({ rule: 'strict', limit: 3, tokensRemaining: 9 });
    expect(box.session({ budget: { failures: 4 } }).view().budget).toMatchObject({ limit: 4, tokensRemaining: 9 });
  });
});

test('E6: a name of more than 256 characters is rejected in your configuration, and cut if a server lists it', () => {
  const long = 'x'.repeat(257);
  for (const config of [{ tools: { [long]: {} } }, { allowedTools: [long] }]) {
    expect(issues(config)).toEqual([
      expect.stringContaining(
        'is a string of 257 characters. Set a name of at most 256 characters, in valid Unicode (no lone surrogates). It is in metrics, spans',
      ),
    ]);
  }
  const box = createBreakerbox({ agent: 'a' });
  box.declare(long);
  box.declare(long);
  expect(box.tools).toEqual([`${'x'.repeat(255)}…`]);
  const session = box.session();
  for (let call = 0; call < 3; call += 1) session.acquire(long).settle({ outcome: 'failure', category: 'server' });
  expect([session.acquire(long).reason, session.peek(long)?.state]).toEqual(['open', 'open']);
  session.control(long, 'forced_open');
  expect(session.acquire(long).reason).toBe('forced_open');
});

describe('C4, E6: defaults', () => {
  test('E6: a setting that is undefined is not set', () => {
    const nothing = { failureThreshold: undefined, outcomes: { tool_error: undefined } } as never;
    const box = createBreakerbox({
      agent: 'a',
      defaults: { failureThreshold: 1, outcomes: { tool_error: 'failure' } },
      tools: { s: nothing },
      systemic: { windowMs: undefined } as never,
    });
    const session = box.session();
    session.acquire('s').settle({ result: { isError: true, content: [{ type: 'text', text: 'unknown order id' }] } });
    expect(session.peek('s')).toMatchObject({ state: 'open', category: 'tool_error' });
    for (const tool of ['t', 'u']) {
      box.declare(tool);
      session.acquire(tool).settle({ outcome: 'failure', category: 'tool_error' });
    }
    expect(session.view().state).toBe('paused_systemic');
  });

  test('C4: the profile of a tool replaces thresholds of the defaults', () => {
    const tools = { s: { profile: 'slow' }, t: {} } as const;
    const session = createBreakerbox({ agent: 'a', defaults: { failureThreshold: 9 }, tools }).session();
    for (const tool of ['s', 't', 's', 't']) session.acquire(tool).settle({ outcome: 'failure', category: 'server' });
    expect([session.peek('s')?.state, session.peek('t')?.state]).toEqual(['open', 'closed']);
  });
});

const manyIssues = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ path: `key${index}`, message: 'is wrong.' }));

test('E6: one message lists all faults, up to a hundred', () => {
  const few = new BreakerboxConfigError(manyIssues(2), 'snapshot');
  expect(few.message).toBe("Breakerbox can't use this snapshot:\n  key0: is wrong.\n  key1: is wrong.");
  const many = new BreakerboxConfigError(manyIssues(101));
  expect(many.message).toMatch(/key99: is wrong\.\n {2}… and at least 1 more\. Fix the ones above first\.$/);
  expect(many.issues).toEqual(manyIssues(100));
  const ten = new BreakerboxConfigError(manyIssues(12), 'snapshot', 10);
  expect(ten.message).toMatch(/key9: is wrong\.\n {2}… and 2 more\. Fix the ones above first\.$/);
});

test('E6: a very long path keeps its beginning and its end', () => {
  const path = `tools.${'🔎'.repeat(1_000_000)}.alternatives[0].tool`;
  const [issue] = new BreakerboxConfigError([{ path, message: 'is wrong.' }]).issues;
  expect(issue?.path).toMatch(/^tools\.🔎+…🔎+\.alternatives\[0\]\.tool$/u);
  expect(issue?.path.length).toBeLessThan(200);
});
