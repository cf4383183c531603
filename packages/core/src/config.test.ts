import { describe, expect, test } from 'vitest';
import { createBreakerbox } from './breakerbox.ts';
import { BreakerboxConfigError, type ConfigIssue } from './errors.ts';

const issuesOf = (make: () => unknown): readonly ConfigIssue[] => {
  try {
    make();
  } catch (error) {
    if (error instanceof BreakerboxConfigError) return error.issues;
    throw error;
  }
  return [];
};

const refused = (config: unknown) => issuesOf(() => createBreakerbox(config as never));

describe('E6: bad configuration is refused when the box is made', () => {
  test.each([
    ['no agent', {}, 'agent', 'is undefined'],
    ['an empty agent', { agent: ' ' }, 'agent', "is ' '"],
    ['a threshold below 1', { tools: { s: { failureThreshold: 0 } } }, 'tools.s.failureThreshold', 'is 0'],
    ['half a failure', { tools: { s: { failureThreshold: 1.5 } } }, 'tools.s.failureThreshold', 'is 1.5'],
    ['NaN', { tools: { s: { cooldownMs: Number.NaN } } }, 'tools.s.cooldownMs', 'is NaN'],
    ['a negative time', { tools: { s: { probeLeaseMs: -1 } } }, 'tools.s.probeLeaseMs', 'is -1'],
    ['an endless time', { defaults: { cooldownMs: Number.POSITIVE_INFINITY } }, 'defaults.cooldownMs', 'is Infinity'],
    ['a text for a number', { tools: { s: { probes: '2' } } }, 'tools.s.probes', "is '2'"],
    [
      'a base above its maximum',
      { tools: { s: { cooldownMs: 9, maxCooldownMs: 8 } } },
      'tools.s.cooldownMs',
      'more than maxCooldownMs (8)',
    ],
    [
      'a base above its maximum, by the profile',
      { tools: { s: { profile: 'slow', maxCooldownMs: 100_000 } } },
      'tools.s.cooldownMs',
      "is 120000 by the profile 'slow', more than maxCooldownMs (100000)",
    ],
    [
      'a base above the maximum of the defaults',
      { defaults: { cooldownMs: 5, maxCooldownMs: 8 }, tools: { s: { cooldownMs: 9 } } },
      'tools.s.cooldownMs',
      'more than maxCooldownMs (8)',
    ],
    [
      'an unknown mode',
      { defaults: { mode: 'off' } },
      'defaults.mode',
      'automatic, forced_open, disabled, observe_only',
    ],
    ['an unknown profile', { tools: { s: { profile: 'turbo' } } }, 'tools.s.profile', 'default, fast, slow, provider'],
    [
      'a misspelt setting',
      { tools: { s: { failureTreshold: 3 } } },
      'tools.s.failureTreshold',
      "is no setting. Did you mean 'failureThreshold'? Known here: profile",
    ],
    [
      'one of the box that is misspelt',
      { bugdet: {} },
      'bugdet',
      "is no setting. Did you mean 'budget'? Known here: agent",
    ],
    ['one that is like no other', { retries: 3 }, 'retries', 'is no setting. Known here: agent, tools'],
    [
      'a map in a place of its own',
      { capabilities: {} },
      'capabilities',
      "tools takes what loadCapabilities() gives as its 'tools'",
    ],
    ['a setting of the prototype', { tools: { s: { constructor: 3 } } }, 'tools.s.constructor', 'is no setting'],
    [
      'an unknown category',
      { tools: { s: { outcomes: { netwrok: 'failure' } } } },
      'tools.s.outcomes.netwrok',
      'network',
    ],
    [
      'an unknown judgement',
      { defaults: { outcomes: { network: 'success' } } },
      'defaults.outcomes.network',
      'failure, ignored',
    ],
    ['an isFailure that is no function', { defaults: { isFailure: true } }, 'defaults.isFailure', 'Give a function'],
    [
      'a key that is no function',
      { tools: { s: { key: 'host' } } },
      'tools.s.key',
      "is 'host'. Give a function from the arguments to a key, such as byHost(), or false",
    ],
    ['a key that is true', { tools: { s: { key: true } } }, 'tools.s.key', 'Give a function'],
    ['a key for every tool', { defaults: { key: () => 'x' } }, 'defaults.key', 'differs from tool to tool'],
    ['a classifier that is no function', { defaults: { classify: 'network' } }, 'defaults.classify', 'Give a function'],
    ['a budget of nothing', { budget: { failures: 0 } }, 'budget.failures', 'at least 1'],
    [
      'a systemic threshold of one',
      { systemic: { sameCategory: 1 } },
      'systemic.sameCategory',
      'one circuit alone is never systemic',
    ],
    [
      'a list of tools',
      { tools: ['x'] },
      'tools',
      "is a list. Give an object such as { web_search: { profile: 'fast' } }.",
    ],
    ['a tool that is null', { tools: { s: null } }, 'tools.s', "Give an object such as { profile: 'fast' }."],
    ['a clock without functions', { clock: { now: 5 } }, 'clock', 'now and unixNow'],
  ])('E6: %s', (_, config, path, message) => {
    const issues = refused({
      agent: 'a',
      ...config,
      ...(path === 'agent' && !('agent' in config) && { agent: undefined }),
    });
    expect(issues.map((issue) => issue.path)).toContain(path);
    expect(issues.find((issue) => issue.path === path)?.message).toContain(message);
  });

  test.each([
    [{ tools: 3 }, "tools: is 3. Give an object such as { web_search: { profile: 'fast' } }."],
    [{ tools: { s: 'fast' } }, "tools.s: is 'fast'. Give an object such as { profile: 'fast' }."],
    [{ defaults: 'fast' }, "defaults: is 'fast'. Give an object such as { profile: 'fast' }."],
    [
      { defaults: { outcomes: 'ignored' } },
      "defaults.outcomes: is 'ignored'. Give an object such as { tool_error: 'failure' }.",
    ],
    [{ defaults: { failureRate: 0.5 } }, 'defaults.failureRate: is 0.5. Give an object such as { rate: 0.5 }.'],
    [{ defaults: { slowCallRate: 0.5 } }, 'is 0.5. Give an object such as { rate: 0.5, slowerThanMs: 5000 }.'],
    [{ defaults: { wastedTokens: 500 } }, 'is 500. Give an object such as { tokens: 10000 }.'],
    [{ budget: 5 }, "budget: is 5. Give an object such as { failures: 5 }, or 'strict'."],
    [{ groups: { g: 'fast' } }, "groups.g: is 'fast'. Give an object such as { profile: 'fast' }."],
    [
      { systemic: true },
      'systemic: is true. Give an object such as { sameCategory: 2 }, false for none, or leave it out.',
    ],
    [{ systemic: { recovery: 5 } }, 'systemic.recovery: is 5. Give an object such as { afterMs: 300000 }.'],
    [
      { loopGuard: true },
      'loopGuard: is true. Give an object such as { repeats: 3 }, false for none, or leave it out.',
    ],
    [{ allowedTools: 'search' }, "allowedTools: is 'search'. Give a list such as ['web_search']."],
  ])('E6: %j is told what to write instead, and that can be used', (config, message) => {
    const [issue, ...more] = refused({ agent: 'a', ...config });
    expect([`${issue?.path}: ${issue?.message}`, more]).toEqual([expect.stringContaining(message), []]);
    const [, like = ''] = /such as ([[{].*[\]}])/.exec(message) ?? [];
    const instead = issue?.path
      .split('.')
      .reduceRight<unknown>((value, key) => ({ [key]: value }), new Function(`return ${like}`)());
    expect(refused({ agent: 'a', ...(instead as object) })).toEqual([]);
  });

  test('E6: what a session is given says what to write as well', () => {
    const box = createBreakerbox({ agent: 'a' });
    const told = (call: () => unknown) => issuesOf(call).map(({ path, message }) => `${path}: ${message}`);
    expect(told(() => box.session('conversation-7' as never))).toEqual([
      "session: is 'conversation-7'. Give an object such as { id: 'conversation-7' }.",
    ]);
    expect(told(() => box.restore(box.session().snapshot(), ['a'] as never))).toEqual([
      "restore: is a list. Give an object such as { allowedTools: ['web_search'] }.",
    ]);
  });

  test.each([undefined, null, 3, 'agent'])('E6: %s in place of a configuration', (config) => {
    expect(refused(config).find(({ path }) => path === 'config')?.message).toContain(
      "such as { agent: 'research-agent' }.",
    );
  });

  test('E6: everything that is wrong is said at once, in a message that can be read', () => {
    const make = () => createBreakerbox({ agent: '', budget: { failures: -1 }, tools: { s: { probes: 0 } } });
    expect(make).toThrow(
      [
        "Breakerbox can't use this configuration:",
        "  agent: is ''. Set a name that isn't empty: it is how people find this in telemetry.",
        '  budget.failures: is -1. Set a whole number of at least 1, or leave it out: with 0 the session would pause before its first call.',
        '  tools.s.probes: is 0. Set a whole number of at least 1, or leave it out: with 0 an open circuit could never close.',
      ].join('\n'),
    );
  });

  test('E6: a tool that is declared later, and the options of a session', () => {
    const box = createBreakerbox({ agent: 'a' });
    expect(issuesOf(() => box.declare('s', { probes: 0 }))[0]?.path).toBe('tools.s.probes');
    expect(box.tools).toEqual([]);
    const strict = createBreakerbox({ agent: 'a', defaults: { cooldownMs: 5, maxCooldownMs: 8 } });
    expect(issuesOf(() => strict.declare('s', { cooldownMs: 9 }))[0]?.path).toBe('tools.s.cooldownMs');
    expect(issuesOf(() => box.session({ budget: { failures: 0 } }))[0]?.path).toBe('session.budget.failures');
  });

  test('E6: a name of more than 256 characters is refused where people write it, and cut where a server lists it', () => {
    const long = 'x'.repeat(257);
    const message =
      "is a text of 257 characters. A tool's name has at most 256, and no half ones, for it stands in metrics, spans and reports. Give it another.";
    for (const config of [{ tools: { [long]: {} } }, { allowedTools: [long] }]) {
      expect(refused({ agent: 'a', ...config }).map((issue) => issue.message)).toContain(message);
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

  test('E6: a tool that is declared later may depend on others, and not in a circle', () => {
    const box = createBreakerbox({ agent: 'a', tools: { s: { dependsOn: ['later'] } } });
    expect(issuesOf(() => box.declare('later', { dependsOn: ['s'] }))[0]?.message).toContain(
      'is a cycle, s → later → s',
    );
    expect(issuesOf(() => box.declare('later', { alternatives: [{ tool: 'x' }] }))[0]?.message).toContain(
      'but no tool has that name',
    );
    box.declare('later', { alternatives: [{ tool: 's' }] });
    expect(box.tools).toEqual(['s', 'later']);
  });

  test('P2: a long cooldown raises a maximum that is not set', () => {
    expect(refused({ agent: 'a', defaults: { cooldownMs: 900_000 } })).toEqual([]);
  });

  test('E6: a setting that is there and undefined is not set', () => {
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
    box.declare('t');
    session.acquire('t').settle({ outcome: 'failure', category: 'tool_error' });
    expect(session.view().state).toBe('paused_systemic');
  });

  test("C4: a tool's own profile replaces thresholds of the defaults", () => {
    const box = createBreakerbox({
      agent: 'a',
      defaults: { failureThreshold: 9 },
      tools: { s: { profile: 'slow' }, t: {} },
    });
    const session = box.session();
    for (const tool of ['s', 't', 's', 't']) session.acquire(tool).settle({ outcome: 'failure', category: 'server' });
    expect([session.peek('s')?.state, session.peek('t')?.state]).toEqual(['open', 'closed']);
  });
});
