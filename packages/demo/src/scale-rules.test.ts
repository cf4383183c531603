import { describe, expect, test } from 'vitest';
import { scaleDuration, scaleExpression, scaleRoute, scaleRules } from './scale-rules.ts';

const scale = { factor: 1 / 60, leastRangeMs: 2000 };

describe('expressions', () => {
  test.each([
    ['rate(x[5m])', 'rate(x[5s])'],
    ['increase(x[3m]) > rate(y[1h])', 'increase(x[3s]) > rate(y[60s])'],
    ['max_over_time(x[1m])', 'max_over_time(x[2s])'],
    ['max_over_time(rate(x[5m])[1h:1m])', 'max_over_time(rate(x[5s])[60s:1s])'],
    ['max_over_time(x[10m:])', 'max_over_time(x[10s:])'],
    ['x offset 10m', 'x offset 10s'],
    ['x offset -1h', 'x offset -60s'],
    ['rate(x[ 5m ])', 'rate(x[5s])'],
    ['x > time() - 2 * 60', 'x > time() - 2'],
    ['x >= time() - 2.5 * 60 and y * 60', 'x >= time() - 2.5 and y * 60'],
    ['quantile_over_time(0.5, x[1w])', 'quantile_over_time(0.5, x[10080s])'],
    ['last_over_time(x[1h] offset 3m) / 12', 'last_over_time(x[60s] offset 3s) / 12'],
    ['max_over_time(x[2d:10m] @ 1700000000 offset 1d)', 'max_over_time(x[2880s:10s] @ 1700000000 offset 1440s)'],
    ['x[2m30s]', 'x[2500ms]'],
  ])('%s', (expr, scaled) => expect(scaleExpression(expr, scale)).toBe(scaled));

  test('does not scale ranges in strings and comments', () => {
    const expr = `x{a="[5m]", b='offset 5m', c=~"[a-z]+\\"[5m]"} # of the last [5m]`;
    expect(scaleExpression(expr, scale)).toBe(expr);
  });
});

test('scales the waits of rules and of their group, and nothing else', () => {
  const rule = { alert: 'A', expr: 'x[10m]', for: '5m', keep_firing_for: '10m', labels: { severity: 'warning' } };
  const record = { record: 'level:x:rate5m', expr: 'rate(x[5m])' };
  expect(scaleRules({ groups: [{ name: 'g', interval: '1m', rules: [rule, record] }] }, scale)).toEqual({
    groups: [
      {
        name: 'g',
        interval: '1s',
        rules: [
          { ...rule, expr: 'x[10s]', for: '5s', keep_firing_for: '10s' },
          { ...record, expr: 'rate(x[5s])' },
        ],
      },
    ],
  });
});

test('scales the queries in annotations, and the times in their words', () => {
  const annotations = {
    description: 'opened within 2 minutes{{ with printf `x > time() - 10 * 60` | query }}: a{{ end }}',
  };
  const [group] = scaleRules(
    { groups: [{ name: 'g', rules: [{ alert: 'A', expr: 'x', annotations }] }] },
    scale,
  ).groups;
  expect(group?.rules[0]?.annotations.description).toBe(
    'opened within 2 seconds{{ with printf `x > time() - 10` | query }}: a{{ end }}',
  );
});

test("scales Alertmanager's waits, those of nested routes too", () => {
  const route = { receiver: 'default', group_wait: '10s', routes: [{ group_interval: '1m', repeat_interval: '4h' }] };
  expect(scaleRoute(route, scale.factor)).toEqual({
    receiver: 'default',
    group_wait: '167ms',
    routes: [{ group_interval: '1s', repeat_interval: '240s' }],
  });
});

test('names a text that is not a duration', () => {
  expect(() => scaleDuration('five minutes', scale.factor)).toThrow("'five minutes' is not a Prometheus duration");
});
