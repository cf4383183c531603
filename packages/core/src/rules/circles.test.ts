import { describe, expect, test } from 'vitest';
import { formatReport } from '../report/format.ts';
import { report } from '../report/report.ts';
import type { Session } from '../session-api.ts';
import { agentSeries } from '../telemetry/otel-binding.ts';
import { allSeries } from '../telemetry/series.ts';
import { newAgent } from '../telemetry/test-support.telemetry.ts';
import { bench } from '../test-support.ts';

const looped = (config: Parameters<typeof bench>[0] = {}) => {
  const agent = newAgent();
  const made = bench({ agent, loopGuard: { circles: true }, ...config });
  const counted = () => [...allSeries(agentSeries(agent), 'circles')].map(({ value }) => value);
  return { ...made, counted };
};

/** A call with arguments that has a result; gives the note that the model reads beside it. */
const call = (session: Session, tool: string, input: unknown, result: unknown): string => {
  const permit = session.acquire(tool, { input });
  permit.settle({ result });
  return permit.note;
};

/** The same calls in turns; gives the notes. */
const turns = (session: Session, tools: string, times: number): string[] =>
  Array.from({ length: times }, () =>
    [...tools].map((tool) => call(session, tool, { of: tool }, `got ${tool}`)),
  ).flat();

describe('D5: an agent that goes in circles', () => {
  test('D5: the same call with the same result, three times in a row, gives one note, and nothing is skipped', () => {
    const { session, counted } = looped();
    expect(turns(session, 'a', 2)).toEqual(['', '']);
    expect(counted()).toEqual([]);
    expect(call(session, 'a', { of: 'a' }, 'got a')).toBe(
      "The same call was made 3 times over, with the same arguments and results: 'a'. If you wait for a change, wait longer before you ask again. Otherwise try something else, or finish with what you have.",
    );
    expect(turns(session, 'a', 20).join('')).toBe('');
    expect(session.acquire('a', { input: { of: 'a' } })).toMatchObject({ decision: 'call', note: '' });
    expect([counted(), session.note()]).toEqual([[1], '']);
  });

  test('D5: a circle of 2 to 4 calls gives one note, wherever it begins', () => {
    for (const tools of ['ab', 'abc', 'abcd']) {
      const { session, counted } = looped();
      const notes = turns(session, tools, 3);
      expect(notes.slice(0, -1).join('')).toBe('');
      expect(notes.at(-1)).toContain(
        `The same ${tools.length} calls were made 3 times over, with the same arguments and results: '${[...tools].join("', '")}'.`,
      );
      call(session, 'a', 'something else', 1);
      expect(turns(session, tools.slice(1) + tools[0], 4).join('')).toBe('');
      expect(counted()).toEqual([1]);
    }
  });

  test('D5: another result, other arguments, or a call of which nothing is known are no circle', () => {
    const { session, counted } = looped();
    for (let i = 0; i < 9; i += 1) {
      expect(call(session, 'a', 'get_status', `progress ${i}`)).toBe('');
      expect(call(session, 'b', { page: i }, 'empty')).toBe('');
      session.acquire('c', { input: 'same' }).settle({ outcome: 'success' });
      const blind = session.acquire('d');
      blind.settle({ result: 'same' });
      expect(blind.note).toBe('');
    }
    expect(turns(session, 'abcda', 3).join('')).toBe(''); // A circle of five.
    expect(counted()).toEqual([]);
  });

  test('D5, O5: failures are part of a circle, and a call that only fails is left to the loop guard', () => {
    const { session, counted } = looped({ defaults: { failureThreshold: 50 }, systemic: false, budget: false });
    const edit = () => session.acquire('b', { input: 'edit' }).settle({ outcome: 'ignored', category: 'tool_error' });
    call(session, 'a', 'read', 'text');
    for (let i = 0; i < 2; i += 1) {
      edit();
      expect(call(session, 'a', 'read', 'text')).toBe('');
    }
    edit();
    expect(call(session, 'a', 'read', 'text')).toContain(
      "The same 2 calls were made 3 times over, with the same arguments and results: 'b', 'a'.",
    );
    const { session: failing, counted: none } = looped();
    for (let i = 0; i < 5; i += 1)
      failing.acquire('c', { input: 1 }).settle({ outcome: 'ignored', category: 'tool_error' });
    expect(failing.acquire('c', { input: 1 }).reason).toBe('repeat');
    expect([counted(), none()]).toEqual([[1], []]);
  });

  test('D5, D1: each agent of a tree has its own calls', () => {
    const { session } = looped();
    const children = [session.child(), session.child(), session.child()];
    for (const child of children) expect(call(child, 'a', 'look', 'same')).toBe('');
    const [child = session] = children;
    expect(call(child, 'a', 'look', 'same')).toBe('');
    expect(call(child, 'a', 'look', 'same')).toContain('The same call was made 3 times over');
  });

  test('D5, C1: of tools that are only observed the model reads nothing, and the report says it', () => {
    const { session, counted } = looped({ tools: { a: { mode: 'observe_only' } } });
    expect(turns(session, 'a', 4).join('')).toBe('');
    expect([counted(), report(session).circles]).toEqual([[1], [{ tools: ['a'], calls: 4 }]]);
  });

  test('D5, Q1: the report lists the circles, and how many calls were made in each', () => {
    const { session } = looped();
    expect(report(session)).not.toHaveProperty('circles');
    turns(session, 'ab', 5);
    turns(session, 'c', 3);
    const found = report(session);
    expect(found.circles).toEqual([
      { tools: ['a', 'b'], calls: 10 },
      { tools: ['c'], calls: 3 },
    ]);
    expect(formatReport(found)).toContain(
      'Calls in circles, with the same arguments and results\n  - a, b: 10 calls.\n  - c: 3 calls.',
    );
  });

  test('D5, D1: each agent of a tree reads of a circle once', () => {
    const { session, counted } = looped();
    const notes = ['first', 'second'].map((name) => turns(session.child({ name }), 'a', 5).filter(Boolean).length);
    expect([notes, counted(), report(session).circles]).toEqual([[1, 1], [2], [{ tools: ['a'], calls: 10 }]]);
  });

  test('D5, Q1: a circle that comes back counts from its first call', () => {
    const { session } = looped();
    turns(session, 'a', 9);
    turns(session, 'b', 1);
    turns(session, 'a', 9);
    expect(report(session).circles).toEqual([{ tools: ['a'], calls: 18 }]);
  });

  test('D5: without `circles`, nothing is looked for, and bad input is refused', () => {
    for (const loopGuard of [{}, false] as const) {
      const { session, counted } = looped({ loopGuard });
      expect(turns(session, 'a', 9).join('')).toBe('');
      expect(counted()).toEqual([]);
    }
    expect(() => looped({ loopGuard: { circles: 3 as never } })).toThrow('loopGuard.circles');
  });
});
