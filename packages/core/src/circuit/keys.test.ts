import { describe, expect, test } from 'vitest';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import { type Circuit, closedCircuit, fail, succeed } from './circuit.ts';
import { type CircuitConfig, resolveGroupPolicy, resolveKeyPolicy, resolvePolicy } from './policy.ts';
import { at, call, failure } from './test-support.ts';

const start = closedCircuit();

describe('C14: failures of a tool on several keys', () => {
  const policy = resolvePolicy({ failureThreshold: 9 });
  const failedOn = (keys: readonly (string | undefined)[], from: Circuit = start, by = policy): Circuit =>
    keys.reduce<Circuit>((circuit, key) => fail(circuit, start, { ...failure, key }, by, at(0)), from);

  test('C14: three keys in a row open it, each counted once; failures without a key are between them', () => {
    const two = failedOn(['k', 'k', undefined, 'l', 'k', undefined]);
    expect(two).toMatchObject({ state: 'closed', failures: 6, by: ['k', 'l'] });
    expect(failedOn(['m'], two)).toMatchObject({ state: 'open', outage: { trip: 'keys', category: 'network' } });
  });

  test('C14: a success forgets them, with windows too', () => {
    for (const config of [{}, { failureRate: { rate: 1 } }] as const) {
      const by = resolvePolicy({ failureThreshold: 9, ...config });
      const again = succeed(failedOn(['k', 'l'], start, by), start, call, by, at(0));
      expect(again).toMatchObject({ failures: 0, by: undefined });
      expect(failedOn(['m', 'n'], again, by)).toMatchObject({ state: 'closed', by: ['m', 'n'] });
    }
  });

  test('C3, C14: what is counted in a row comes first, rates after it', () => {
    const strict = resolvePolicy({ failureThreshold: 3 });
    expect(failedOn(['k', 'l', 'm'], start, strict)).toMatchObject({ outage: { trip: 'consecutive' } });
    const rated = resolvePolicy({ failureThreshold: false, failureRate: { rate: 1, minimumCalls: 3 } });
    expect(failedOn(['k', 'l', 'm'], start, rated)).toMatchObject({ outage: { trip: 'keys' } });
    expect(failedOn(['k', 'l', 'k'], start, rated)).toMatchObject({ outage: { trip: 'failure_rate' } });
  });

  test('C13, C14: a group counts tools, and opens by no keys', () => {
    const group = resolveGroupPolicy({ failureThreshold: 9 });
    const tools = ['a', 'b', 'c', 'd'];
    const circuit = tools.reduce<Circuit>(
      (one, tool) => fail(one, start, { ...failure, tool, key: `${tool}-key` }, group, at(0)),
      start,
    );
    expect(circuit).toMatchObject({ state: 'closed', by: tools });
  });
});

describe('C14: the circuit of a key', () => {
  test.each<[CircuitConfig, number]>([
    [{}, 3],
    [{ failureThreshold: 1 }, 1],
    [{ profile: 'provider' }, 5],
    [{ profile: 'slow', failureThreshold: false }, 2],
    [{ profile: 'slow', failureThreshold: 4 }, 4],
  ])('C14: of %j opens at %i failures in a row, and by nothing else', (config, failureThreshold) => {
    const rates = {
      failureRate: { rate: 0.1 },
      slowCallRate: { rate: 0.1, slowerThanMs: 1 },
      wastedTokens: { tokens: 1 },
    };
    const { failureThreshold: own, ...rest } = config;
    const plain = resolvePolicy(own === false ? rest : config);
    expect(resolveKeyPolicy({ ...config, ...rates })).toEqual({ ...plain, failureThreshold });
  });

  test('C14, O6: unknown counts full where it is told so, and is what it opened with', () => {
    const policy = resolveKeyPolicy({ failureThreshold: 2 });
    const unknown = { ...failure, category: 'unknown' as ErrorCategory, full: true };
    const one = fail(start, start, unknown, policy, at(0));
    expect(one).toMatchObject({ failures: 1, weak: 0 });
    expect(fail(one, start, unknown, policy, at(0))).toMatchObject({ state: 'open', outage: { category: 'unknown' } });
  });
});
