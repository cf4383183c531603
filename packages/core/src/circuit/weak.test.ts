import { describe, expect, test } from 'vitest';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import { type Circuit, closedCircuit, fail, succeed } from './circuit.ts';
import { type CircuitConfig, resolvePolicy } from './policy.ts';
import { at, call, failure, probing } from './test-support.ts';

type Result = ErrorCategory | 'success' | 'unknown, degraded' | 'network, degraded';

const results = (config: CircuitConfig, list: readonly Result[], tokens = 0): Circuit => {
  const policy = resolvePolicy(config);
  const start = closedCircuit();
  return list.reduce<Circuit>((circuit, result) => {
    if (result === 'success') return succeed(circuit, start, call, policy, at(0));
    const [category, degraded] = result.split(', ') as [ErrorCategory, string | undefined];
    return fail(circuit, start, { ...call, tokens, category, degraded: degraded !== undefined }, policy, at(0));
  }, start);
};

const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

describe('O6: unknown failures in a row count half', () => {
  test.each<[Result[], number]>([
    [times(6, 'unknown'), 3],
    [['network', 'network', 'unknown', 'unknown'], 3],
    [['unknown', 'unknown', 'network', 'network'], 3],
    [['unknown', 'network', 'network', 'server'], 3],
    [['network', 'network', 'network'], 3],
    [['unknown', 'unknown'], 1],
    [['network'], 1],
  ])('O6: %j opens at threshold %i, and without its last one it does not', (list, failureThreshold) => {
    expect(results({ failureThreshold }, list.slice(0, -1))).toMatchObject({ state: 'closed' });
    expect(results({ failureThreshold }, list)).toMatchObject({ state: 'open', outage: { trip: 'consecutive' } });
  });

  test('O6: all of them are failures in a row, and a success ends the row', () => {
    expect(results({}, ['unknown', 'network', 'unknown'])).toMatchObject({ failures: 3, weak: 2 });
    expect(results({}, [...times(5, 'unknown' as const), 'success'])).toEqual(closedCircuit());
    const counted = results({ failureRate: { rate: 1 } }, ['unknown', 'success', 'network']);
    expect(counted).toMatchObject({ state: 'closed', failures: 1, weak: 0 });
  });

  test('O6, K1: a check that says degraded lowers the threshold first', () => {
    expect(results({}, [...times(3, 'unknown' as const), 'unknown, degraded'])).toMatchObject({ state: 'open' });
    expect(results({}, times(3, 'unknown, degraded'))).toMatchObject({ state: 'closed' });
    expect(results({}, ['network', 'network, degraded'])).toMatchObject({ state: 'open' });
    expect(results({}, ['network', 'unknown, degraded'])).toMatchObject({ state: 'closed' });
  });

  test('O6, K1: never below 1: one unknown failure alone opens nothing', () => {
    for (const failureThreshold of [1, 2]) {
      expect(results({ failureThreshold }, ['unknown, degraded'])).toMatchObject({ state: 'closed' });
      expect(results({ failureThreshold }, times(2, 'unknown, degraded'))).toMatchObject({ state: 'open' });
      expect(results({ failureThreshold }, ['network, degraded'])).toMatchObject({ state: 'open' });
    }
  });

  test('O6: with failureThreshold false they open nothing', () => {
    expect(results({ failureThreshold: false }, times(100, 'unknown'))).toMatchObject({ state: 'closed', weak: 100 });
  });

  test('C6: a probe that fails for unknown reasons reopens', () => {
    const config = { cooldownMs: 100 };
    const policy = resolvePolicy(config);
    const probe = probing(config, results(config, times(6, 'unknown')), at(100));
    const reopened = fail(probe.circuit, probe.ticket, { ...failure, category: 'unknown' }, policy, at(100));
    expect(reopened).toMatchObject({ state: 'open', outage: { trip: 'probe', category: 'unknown' } });
  });
});

describe('O6: unknown failures are in no rate', () => {
  const never = { failureThreshold: false } as const;
  const rate = { rate: 0.5, minimumCalls: 2 };

  test.each([
    ['failureRate', { failureRate: { ...rate, windowCalls: 4 } }],
    ['failureRate by time', { failureRate: { ...rate, windowMs: 1_000 } }],
    ['slowCallRate', { slowCallRate: { ...rate, windowCalls: 4, slowerThanMs: 1 } }],
    ['slowCallRate by time', { slowCallRate: { ...rate, windowMs: 1_000, slowerThanMs: 1 } }],
  ])('O6: %s neither opens by them nor forgets calls because of them', (_, trips) => {
    const config = { ...never, ...trips };
    expect(results(config, times(50, 'unknown'))).toMatchObject({ state: 'closed', failures: 50 });
    const between = results(config, ['network', ...times(50, 'unknown' as const), 'network']);
    expect(between).toMatchObject({ state: 'open', outage: { category: 'network' } });
  });

  test('O6: they leave the windows as they are', () => {
    const config = { ...never, failureRate: { rate: 1, windowCalls: 4 }, slowCallRate: { rate: 1, slowerThanMs: 1 } };
    const one = results(config, ['network']);
    const more = results(config, ['network', 'unknown']);
    if (one.state !== 'closed' || more.state !== 'closed') throw new Error('expected closed circuits');
    expect(more.counts).toEqual(one.counts);
  });

  test('O6: a window that was kept from another configuration begins again with them too', () => {
    const start = closedCircuit();
    const before = resolvePolicy({ ...never, failureRate: { rate: 1, minimumCalls: 9, windowCalls: 9 } });
    const kept = times(8, failure).reduce<Circuit>((one, bad) => fail(one, start, bad, before, at(0)), start);
    const now = resolvePolicy({ ...never, failureRate: { rate: 1, minimumCalls: 2, windowCalls: 4 } });
    const unknown = { ...failure, category: 'unknown' } as const;
    expect(fail(kept, start, unknown, now, at(0))).toMatchObject({
      state: 'closed',
      counts: { failureRate: { size: 4, calls: 0 } },
    });
  });

  test('O6: what they cost is wasted', () => {
    const config = { ...never, wastedTokens: { tokens: 100 } };
    expect(results(config, ['unknown'], 50)).toMatchObject({ state: 'closed' });
    expect(results(config, ['unknown', 'unknown'], 50)).toMatchObject({
      state: 'open',
      outage: { trip: 'wasted_tokens', category: 'unknown' },
    });
  });

  test('C3: rates are judged at an unknown failure too', () => {
    const policy = resolvePolicy({ ...never, failureRate: { rate: 1, minimumCalls: 1, windowMs: 100 } });
    const start = closedCircuit();
    const good = succeed(start, start, call, policy, at(0));
    const mixed = fail(good, start, failure, policy, at(50)); // One of two: below the rate until the success has aged out.
    expect(mixed).toMatchObject({ state: 'closed' });
    const unknown = { ...failure, category: 'unknown' } as const;
    expect(fail(mixed, start, unknown, policy, at(100))).toMatchObject({
      state: 'open',
      outage: { trip: 'failure_rate' },
    });
  });
});
