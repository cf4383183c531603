import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BreakerboxUsageError } from '../checks/checks.ts';
import type { Session } from '../session-api.ts';
import { bench, trip } from '../test-support.ts';
import { planScope, type Task } from './scope.ts';

test('W2: each task is in the plan exactly once, and in its order', () => {
  const { session } = bench({ tools: { search: { alternatives: [{ tool: 'calc' }] }, calc: {}, db: {}, mail: {} } });
  for (const tool of ['search', 'mail']) session.control(tool, 'forced_open');
  trip(session, 'db');
  const tool = fc.constantFrom('search', 'db', 'mail', 'calc', 'made up');
  const task = fc.record({ name: fc.string().filter((name) => name.trim() !== ''), tools: fc.array(tool) });
  fc.assert(
    fc.property(fc.uniqueArray(task, { selector: ({ name }) => name }), (tasks) => {
      const { decision, achievable, deferred } = planScope(session, tasks);
      const isBlocked = ({ tools }: Task) => tools.includes('db') || tools.includes('mail');
      expect(deferred.map((one) => one.task)).toEqual(tasks.filter(isBlocked).map(({ name }) => name));
      expect(achievable.map((one) => one.task)).toEqual(tasks.filter((one) => !isBlocked(one)).map(({ name }) => name));
      expect(decision === 'proceed').toBe(deferred.length === 0);
      expect(decision === 'pause').toBe(tasks.length > 0 && achievable.length === 0);
    }),
  );
});

describe('W1, E6: faults in a list of tasks', () => {
  const { session } = bench();
  const a = { name: 'a', tools: [] };

  test.each([
    [undefined, "tasks is undefined. Give a list such as [{ name: 'summary', tools: ['web_search'] }]."],
    [
      [{ name: 'a' }, 7],
      "tasks[0].tools is undefined. Give a list such as ['web_search'].\n  tasks[1] is 7. Give an object",
    ],
    [['a'], "tasks[0] is 'a'. Give an object such as { name: 'summary', tools: ['web_search'] }."],
    [[null], 'tasks[0] is null. Give an object'],
    [
      [{ tools: [] }],
      "tasks[0].name is undefined. Set a string that isn't empty: the plan refers to each task by its name.",
    ],
    [[{ name: 'a', tools: 'x' }], "tasks[0].tools is 'x'. Give a list such as ['web_search']."],
    [
      [{ name: 'a', tools: ['x', 5] }],
      "tasks[0].tools[1] is 5. Set a string that isn't empty: it is the name of a tool that the task needs.",
    ],
    [
      [a, { name: 'b', tools: [] }, a],
      "tasks[2].name is 'a', which is also the name of tasks[0]. Each task needs its own name: rename one of them.",
    ],
  ])('W1, E6: %j', (tasks, message) => {
    const plan = () => planScope(session, tasks as Task[]);
    expect(plan).toThrow(BreakerboxUsageError);
    expect(plan).toThrow(`planScope(session, tasks): these tasks can't be planned.\n  ${message}`);
  });

  test.each([undefined, null, 'session', {}])('E6: %j is not a session', (value) => {
    const plan = () => planScope(value as unknown as Session, []);
    expect(plan).toThrow(BreakerboxUsageError);
    expect(plan).toThrow(/^planScope\(session, tasks\): .+ is not a session\. Give what box\.session\(\) returns\.$/);
  });

  test('W1: a task may have more fields than the plan needs', () => {
    expect(planScope(session, [{ ...a, owner: 'me' } as Task]).decision).toBe('proceed');
  });
});
