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

describe('E6: settings of budget, groups and events', () => {
  test.each([
    ['a rule that does not exist', { budget: { rule: 'lax' } }, 'budget.rule', "is 'lax'. Set one of window, strict"],
    ['half a step', { budget: { windowSteps: 0.5 } }, 'budget.windowSteps', 'Set a whole number of at least 1'],
    ['no time at all', { budget: { windowMs: 0 } }, 'budget.windowMs', 'Set a finite number above 0'],
    [
      'a window of a budget that has none',
      { budget: { rule: 'strict', windowMs: 5 } },
      'budget.windowMs',
      "has no effect with rule 'strict', which has no window. Remove it, or set rule 'window'.",
    ],
    [
      'a tool with the name of a group',
      { tools: { 'group:x': {} } },
      "tools['group:x']",
      "is 'group:x'. Names that begin with 'group:' are reserved for the circuits of groups",
    ],
    ['a group without a name', { tools: { s: { group: ' ' } } }, 'tools.s.group', "Set a name that isn't empty"],
    ['a group that is no name', { tools: { s: { group: true } } }, 'tools.s.group', 'is true. Set a name'],
    [
      'a group whose circuit would have too long a name',
      { tools: { s: { group: 'x'.repeat(251) } } },
      'tools.s.group',
      'at most 256 characters',
    ],
    [
      'one group for all',
      { defaults: { group: 'g' } },
      'defaults.group',
      'differs from tool to tool. Set it in the tools',
    ],
    ['groups in a list', { groups: ['g'] }, 'groups', 'Give an object such as { github: { cooldownMs: 30000 } }.'],
    [
      'a group threshold of nothing',
      { groups: { g: { groupThreshold: 0 } } },
      'groups.g.groupThreshold',
      'is 0. Set a whole number of at least 1, or leave it out: that many tools of the group must be among the failures.',
    ],
    [
      'what only a tool has',
      { groups: { g: { failureRate: {} } } },
      'groups.g.failureRate',
      'is no setting. Known here: profile, mode, failureThreshold, groupThreshold',
    ],
    [
      'a base of a group above its maximum',
      { groups: { g: { cooldownMs: 9, maxCooldownMs: 8 } } },
      'groups.g.cooldownMs',
      'more than maxCooldownMs (8)',
    ],
    [
      'failures of one tool',
      { systemic: { sharedTools: 1 } },
      'systemic.sharedTools',
      'is 1. Set a whole number of at least 2',
    ],
    ['one failure', { systemic: { sharedFailures: 1 } }, 'systemic.sharedFailures', 'at least 2'],
    ['a pause of some', { systemic: { pause: 'some' } }, 'systemic.pause', "is 'some'. Set one of all, affected"],
    [
      'a pause for which sessions must share circuits',
      { systemic: { pause: 'affected' } },
      'systemic.pause',
      "is 'affected', which needs scope 'process'",
    ],
    [
      'a probe for which they must',
      { scope: 'none', systemic: { recovery: { probeAfterMs: 5 } } },
      'systemic.recovery.probeAfterMs',
      "needs scope 'process', where sessions share their circuits.",
    ],
  ])('E6: %s is refused', (_, config, path, message) => {
    const issues = refused({ agent: 'a', ...config });
    expect(issues).toEqual([{ path, message: expect.stringContaining(message) }]);
  });

  test('E6: what is accepted: rules of the budget, groups and no group, and what scope process has alone', () => {
    const recovery = { probeAfterMs: 1_000, maxProbeAfterMs: 2_000 };
    expect(
      [
        { budget: 'strict' },
        { budget: { rule: 'strict', failures: 1, tokens: 1 } },
        { budget: { rule: 'window', windowSteps: 1, windowMs: 0.5 } },
        { tools: { s: { group: 'g' }, t: { group: false } } },
        { groups: { g: { mode: 'observe_only', profile: 'fast', groupThreshold: 1 }, h: {} } },
        { scope: 'process', systemic: { pause: 'affected', recovery } },
        { scope: 'process', systemic: { pause: 'all' } },
        { systemic: { pause: 'all', sharedFailures: 2, sharedTools: 2 } },
      ].flatMap((config) => refused({ agent: 'a', ...config })),
    ).toEqual([]);
  });

  test('E6: what a session may have of its own: single settings of the budget', () => {
    const box = createBreakerbox({ agent: 'a', budget: { failures: 3, tokens: 9 } });
    const { budget } = box.session({ budget: 'strict' }).view();
    expect(budget).toMatchObject({ rule: 'strict', limit: 3, tokensRemaining: 9 });
    expect(box.session({ budget: { failures: 4 } }).view().budget).toMatchObject({ limit: 4, tokensRemaining: 9 });
    expect(issuesOf(() => box.session({ budget: 'lax' as never }))[0]?.path).toBe('session.budget');
  });
});
