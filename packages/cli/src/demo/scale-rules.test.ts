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
  ])('%s', (expr, scaled) => expect(scaleExpression(expr, scale)).toBe(scaled));

  test('what stands in strings and comments is no range', () => {
    const expr = `x{a="[5m]", b='offset 5m', c=~"[a-z]+\\"[5m]"} # of the last [5m]`;
    expect(scaleExpression(expr, scale)).toBe(expr);
  });
});

test('waits of rules, and of their group, pass faster; the rest stays', () => {
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

test("Alertmanager's waits pass faster, those of routes below too", () => {
  const route = { receiver: 'default', group_wait: '10s', routes: [{ group_interval: '1m', repeat_interval: '4h' }] };
  expect(scaleRoute(route, scale.factor)).toEqual({
    receiver: 'default',
    group_wait: '167ms',
    routes: [{ group_interval: '1s', repeat_interval: '240s' }],
  });
});

test('what is no duration is refused by name', () => {
  expect(() => scaleDuration('five minutes', scale.factor)).toThrow("'five minutes' is no duration");
});
