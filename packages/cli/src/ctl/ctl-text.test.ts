import { expect, test } from 'vitest';
import { listText } from './ctl-text.ts';
import { sessionsNamed } from './look-commands.ts';
import type { Found } from './targets.ts';

const budget = { limit: 3, remaining: 3, cycle: 0 };

/** A process with so many sessions of one id. */
const found = (url: string, agent: string, count: number, state = 'active'): Found => {
  const sessions = Array.from({ length: count }, () => ({
    id: 'run-1',
    ageMs: 1,
    state,
    step: 0,
    budget,
    circuits: [],
  }));
  const boxes = [{ agent, version: 0, tools: [], modes: [], sessions, sessionsLeftOut: 0 }];
  return { target: { url }, state: { pid: 1, startedUnixMs: 0, role: 'operate', boxes } } as unknown as Found;
};

test('A7: a process with very many sessions hides no other, and the list says how many are not shown', () => {
  const all = [
    ...Array.from({ length: 9 }, (_, index) => found(`unix:${index}`, 'many', 35_000)),
    found('unix:9', 'good', 1),
  ];
  const text = listText(all, 80);
  expect(text).toMatch(/\ngood /);
  expect(text).toContain('and 314801 more: see --json');
  expect(text.split('\n').length).toBeLessThan(220);
});

test('A7: paused sessions come first, however many others there are', () => {
  const text = listText([found('unix:0', 'many', 35_000), found('unix:1', 'good', 1, 'paused_budget')], 80);
  expect(text.split('\n')[1]).toMatch(/^good .*paused_budget/);
});

test('A7: of very many sessions with one id, each endpoint has one', () => {
  const all = Array.from({ length: 10 }, (_, index) => found(`unix:${index}`, 'a', 35_000));
  expect(sessionsNamed('run-1', all, {}).map(({ target }) => target.url)).toEqual(all.map(({ target }) => target.url));
});
