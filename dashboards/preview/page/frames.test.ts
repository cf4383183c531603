import { describe, expect, test } from 'vitest';
import type { Answer, Series, TargetJson } from '../src/scene.ts';
import { framesOf, legend } from './frames.ts';

const answer = (target: Partial<TargetJson>, ...series: Series[]): Answer => ({
  target: { refId: 'A', expr: 'up', ...target },
  stepMs: 5000,
  series,
});
const one = (metric: Series['metric'], ...values: (number | null)[]): Series => ({
  metric,
  points: values.map((value, index) => [index * 5000, value] as const),
});
const columns = (frames: ReturnType<typeof framesOf>) =>
  frames.map(({ fields }) => Object.fromEntries(fields.map(({ name, values }) => [name, values])));

test('a legend is filled in, and a series without one has its labels as name', () => {
  expect(legend('{{tool}} of {{ agent }}{{none}}', { tool: 'a', agent: 'b' })).toBe('a of b');
  expect(legend(undefined, { __name__: 'up', job: 'x' })).toBe('up{job="x"}');
});

test('a series over time is its own frame, named by its legend', () => {
  const [frame] = framesOf([answer({ legendFormat: '{{tool}}' }, one({ __name__: 'x', tool: 'a' }, 1, null))]);
  expect(frame).toMatchObject({
    refId: 'A',
    length: 2,
    fields: [
      { name: 'Time', type: 'time', values: [0, 5000], config: { interval: 5000 } },
      { name: 'Value', values: [1, null], labels: { tool: 'a' }, config: { displayNameFromDS: 'a' } },
    ],
  });
});

describe('a table', () => {
  const first = answer({ format: 'table' }, one({ tool: 'a' }, 1), one({ tool: 'b', job: 'j' }, 2));
  test('a table has a column for each label, in their order', () => {
    const frames = framesOf([first]);
    expect(columns(frames)).toEqual([{ Time: [0, 0], job: ['', 'j'], tool: ['a', 'b'], Value: [1, 2] }]);
    expect(Object.keys(columns(frames)[0] ?? {})).toEqual(['Time', 'job', 'tool', 'Value']);
  });
  test('a table of several queries names values by query, and counts one without an answer', () => {
    expect(columns(framesOf([first, answer({ format: 'table', refId: 'B' })]))[0]).toHaveProperty('Value #A');
  });
});

test('buckets of a heatmap are sorted, and each contains only its own observations', () => {
  const buckets = [one({ le: '+Inf' }, 9, 9), one({ le: '1' }, 4, null), one({ le: '0.5' }, 1, 3)];
  expect(columns(framesOf([answer({ format: 'heatmap' }, ...buckets)]))).toEqual([
    { Time: [0, 5000], '0.5': [1, 3], '1': [3, null], '+Inf': [5, 9] },
  ]);
});

test('no series, no frame', () => {
  expect(framesOf([answer({}), answer({ format: 'table' }), answer({ format: 'heatmap' })])).toEqual([]);
});
