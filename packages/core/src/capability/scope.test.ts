import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BreakerboxUsageError } from '../errors.ts';
import type { AlternativeRoute } from './route.ts';
import { checkTasks, type Outlook, planScope, type Task } from './scope.ts';

const instead: AlternativeRoute = {
  kind: 'alternative',
  tool: 'news',
  method: undefined,
  degradation: 'low',
  note: undefined,
  adapt: undefined,
};

const OUTLOOKS: Record<string, Outlook> = {
  search: { out: true, reason: 'open', route: instead, unblock: 'a probe may go' },
  db: { out: true, reason: 'forced_open', route: { kind: 'defer' }, unblock: 'it is switched on' },
  mail: { out: true, reason: 'open', route: { kind: 'manual', fallback: 'phone' }, unblock: 'a probe may go' },
};

const outlook = (tool: string): Outlook => OUTLOOKS[tool] ?? { out: false };
const plan = (...tasks: Task[]) => planScope(tasks, { outlook });

describe('a plan', () => {
  test('W1: all tools can be called: proceed', () => {
    expect(plan({ name: 'sum', tools: ['calc', 'clock'] }, { name: 'think', tools: [] })).toEqual({
      decision: 'proceed',
      achievable: [
        { task: 'sum', degraded: [] },
        { task: 'think', degraded: [] },
      ],
      deferred: [],
    });
  });

  test('W1, W2: a usable alternative makes a task achievable, and what is lost is in the plan', () => {
    expect(plan({ name: 'find', tools: ['search', 'calc', 'search'] })).toEqual({
      decision: 'proceed',
      achievable: [{ task: 'find', degraded: [{ tool: 'search', route: instead }] }],
      deferred: [],
    });
  });

  test('W1: the rest is deferred, with each tool that blocks it, why, and what would unblock it', () => {
    expect(plan({ name: 'sum', tools: ['calc'] }, { name: 'send', tools: ['search', 'db', 'mail', 'db'] })).toEqual({
      decision: 'reduce',
      achievable: [{ task: 'sum', degraded: [] }],
      deferred: [
        {
          task: 'send',
          blockers: [
            { tool: 'db', reason: 'forced_open', route: { kind: 'defer' }, unblock: 'it is switched on' },
            { tool: 'mail', reason: 'open', route: { kind: 'manual', fallback: 'phone' }, unblock: 'a probe may go' },
          ],
        },
      ],
    });
  });

  test('W1: none achievable means pause; no tasks at all mean nothing to pause for', () => {
    expect(plan({ name: 'send', tools: ['db'] }).decision).toBe('pause');
    expect(plan()).toEqual({ decision: 'proceed', achievable: [], deferred: [] });
  });

  test('W2: loses no task: each is in the plan exactly once, and in its order', () => {
    const tool = fc.constantFrom('search', 'db', 'mail', 'calc', 'clock');
    const tasks = fc.uniqueArray(fc.record({ name: fc.string(), tools: fc.array(tool) }), {
      selector: ({ name }) => name,
    });
    fc.assert(
      fc.property(tasks, (all) => {
        const { decision, achievable, deferred } = planScope(all, { outlook });
        const blocked = (one: Task) => one.tools.includes('db') || one.tools.includes('mail');
        expect(deferred.map(({ task }) => task)).toEqual(all.filter(blocked).map(({ name }) => name));
        expect(achievable.map(({ task }) => task)).toEqual(all.filter((one) => !blocked(one)).map(({ name }) => name));
        expect(decision === 'proceed').toBe(deferred.length === 0);
        expect(decision === 'pause').toBe(all.length > 0 && achievable.length === 0);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('what is not a list of tasks', () => {
  test('W1: sound ones pass, with more in them than the plan needs', () => {
    expect(() =>
      checkTasks([
        { name: 'a', tools: ['x', 'x'], owner: 'me' },
        { name: 'b', tools: [] },
      ]),
    ).not.toThrow();
    expect(() => checkTasks([])).not.toThrow();
  });

  test.each([
    [undefined, "tasks is undefined. Give a list such as [{ name: 'summary', tools: ['web_search'] }]."],
    [{ name: 'a', tools: [] }, "tasks is an object. Give a list such as [{ name: 'summary', tools: ['web_search'] }]."],
    [['a'], "tasks[0] is 'a'. Give an object such as { name: 'summary', tools: ['web_search'] }."],
    [[null], 'tasks[0] is null. Give an object'],
    [[[]], 'tasks[0] is a list. Give an object'],
    [
      [{ tools: [] }],
      "tasks[0].name is undefined. Set a text that isn't empty: the plan says by it which task it means.",
    ],
    [[{ name: '  ', tools: [] }], "tasks[0].name is '  '."],
    [[{ name: 'a' }], "tasks[0].tools is undefined. Give a list such as ['web_search']."],
    [[{ name: 'a', tools: 'x' }], "tasks[0].tools is 'x'. Give a list such as ['web_search']."],
    [[{ name: 'a', tools: ['x', 5] }], "tasks[0].tools[1] is 5. Set a text that isn't empty: it is the name of a tool"],
    [
      [
        { name: 'a', tools: [] },
        { name: 'b', tools: [] },
        { name: 'a', tools: [] },
      ],
      "tasks[2].name is 'a', as tasks[0].name is: the plan couldn't tell them apart. Rename one of them.",
    ],
  ])('W1: %j is refused: what, where, why, and what to write', (tasks, message) => {
    expect(() => checkTasks(tasks)).toThrow(BreakerboxUsageError);
    expect(() => checkTasks(tasks)).toThrow(`session.planScope(tasks): these tasks can't be planned.\n  ${message}`);
  });

  test('W1: nothing else is said of it', () => {
    const words = (tasks: unknown) => {
      try {
        checkTasks(tasks);
      } catch (error) {
        return String(error).split('\n').slice(1);
      }
      return [];
    };
    expect(words('tasks')).toEqual([
      "  tasks is 'tasks'. Give a list such as [{ name: 'summary', tools: ['web_search'] }].",
    ]);
    const nameless = "is undefined. Set a text that isn't empty: the plan says by it which task it means.";
    expect(words([{ tools: [] }, { tools: [] }])).toEqual([
      `  tasks[0].name ${nameless}`,
      `  tasks[1].name ${nameless}`,
    ]);
  });

  test('W1: all that is wrong is said at once', () => {
    expect(() => checkTasks([{ name: 1 }, 7])).toThrow(
      /tasks\[0\]\.name is 1.*\n {2}tasks\[0\]\.tools .*\n {2}tasks\[1\] is 7/,
    );
  });
});
