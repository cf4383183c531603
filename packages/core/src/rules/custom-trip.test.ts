import assert from 'node:assert/strict';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { BreakerboxConfigError, type CustomTripPolicy, createBreakerbox } from '../index.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, failOnce, steps, succeedOnce, watchDiag } from '../test-support.ts';
import { inAnotherProcess } from './test-support.rules.ts';

/** Opens at the third failure since the circuit was last closed, whatever is in between. */
const thrice: CustomTripPolicy<number> = {
  name: 'thrice',
  record: (failures = 0, { category }) => (category === undefined ? failures : failures + 1),
  tripped: (failures) => failures >= 3,
};

afterEach(() => diag.disable());

const made = (trip: CustomTripPolicy) => bench({ tools: { a: { trip } }, loopGuard: false });

describe('C3: a trip policy of your own', () => {
  test('C3: opens the circuit, with successes in between, and begins again when it has closed', () => {
    const { session } = made(thrice);
    for (let n = 0; n < 2; n += 1) {
      failOnce(session, 'a', 'server');
      succeedOnce(session, 'a');
    }
    expect(session.peek('a')?.state).toBe('closed');
    failOnce(session, 'a', 'server');
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'custom', category: 'server' });
    expect(session.acquire('a').message).toContain('too many of its calls went wrong (server)');
    steps(session, 3);
    succeedOnce(session, 'a');
    failOnce(session, 'a');
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('C3: reads durations and tokens, and may open at a success, in a category of its own', () => {
    const slow: CustomTripPolicy<number> = {
      name: 'slow',
      category: 'timeout',
      record: (_, { durationMs, tokens }) => durationMs + tokens,
      tripped: (sum) => sum >= 1_500,
    };
    const { session, clock } = made(slow);
    const permit = session.acquire('a');
    clock.advance(1_000);
    permit.settle({ outcome: 'success', tokens: 500 });
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'custom', category: 'timeout' });
  });

  test('C3, E5: one that throws changes nothing, and the other policies go on', () => {
    const fails = (): never => {
      throw new Error('a mistake');
    };
    for (const trip of [
      { ...thrice, record: fails },
      { ...thrice, tripped: fails },
    ]) {
      const { session } = made(trip);
      for (let n = 0; n < 3; n += 1) failOnce(session, 'a', 'network');
      expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'consecutive' });
    }
  });

  test.each([
    ['throws', () => assert.fail('a mistake')],
    ['returns a promise', async () => 9],
  ])('C3, E5: a call at which record %s counts for nothing, and earlier counts stay', (_, mistake) => {
    watchDiag();
    let isMistaken = false;
    const record: typeof thrice.record = (...args) => (isMistaken ? (mistake() as never) : thrice.record(...args));
    const tripped: typeof thrice.tripped = (failures, { tokens }) => failures >= 3 || tokens > 0;
    const { session } = made({ ...thrice, record, tripped });
    for (let n = 0; n < 2; n += 1) {
      failOnce(session, 'a');
      succeedOnce(session, 'a');
    }
    isMistaken = true;
    session.acquire('a').settle({ outcome: 'failure', category: 'network', tokens: 1 });
    expect(session.peek('a')?.state).toBe('closed');
    isMistaken = false;
    succeedOnce(session, 'a');
    expect(session.peek('a')?.state).toBe('closed');
    failOnce(session, 'a');
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'custom' });
  });

  test('C3, E5: one that returns a promise never opens, and diag says so', () => {
    for (const asked of ['record', 'tripped'] as const) {
      const error = watchDiag();
      const { session } = made({ ...thrice, [asked]: async () => true });
      failOnce(session, 'a');
      expect(session.peek('a')?.state).toBe('closed');
      expect(error).toHaveBeenCalledWith(
        expect.stringContaining(`${asked}() of a trip policy failed`),
        expect.objectContaining({ message: expect.stringContaining('It returned a promise') }),
      );
    }
  });

  test('C3, C11: its counts are in snapshots, and another policy does not read them', () => {
    const { session, box } = made(thrice);
    for (let n = 0; n < 2; n += 1) {
      failOnce(session, 'a');
      succeedOnce(session, 'a');
    }
    const kept = JSON.parse(JSON.stringify(snapshot(session)));
    const again = restore(box, kept);
    failOnce(again, 'a');
    expect(again.peek('a')).toMatchObject({ state: 'open', trip: 'custom' });
    const other = restore(made({ ...thrice, name: 'other' }).box, kept);
    failOnce(other, 'a');
    expect(other.peek('a')?.state).toBe('closed');
  });

  test('C3, C11: times in its counts go on in another process, twice restored, and the time between counts', () => {
    const inMinute: CustomTripPolicy<readonly number[]> = {
      name: 'three in a minute',
      record: (times = [], { category, ms }) =>
        category === undefined ? times : [...times.filter((one) => ms - one < 60_000), ms],
      tripped: (times) => times.length >= 3,
    };
    /** Three failures, each in another process: the third one is 30 s after the second one, and so much after the first one. */
    const stateAfter = (elapsedMs: number) => {
      const first = made(inMinute);
      first.clock.advance(9_000_000);
      failOnce(first.session, 'a');
      const second = inAnotherProcess(first.session, made(inMinute).box, { elapsedMs: elapsedMs - 30_000 });
      failOnce(second, 'a');
      succeedOnce(second, 'a');
      const third = inAnotherProcess(second, made(inMinute).box, { elapsedMs: 30_000 });
      failOnce(third, 'a');
      return third.peek('a')?.state;
    };
    expect(stateAfter(59_999)).toBe('open');
    expect(stateAfter(60_000)).toBe('closed');
  });

  test.each([
    [{}, 'tools.a.trip: is an object without the functions record and tripped'],
    [{ ...thrice, name: ' ' }, 'tools.a.trip.name: is'],
    [{ ...thrice, category: 'nope' }, "tools.a.trip.category: is 'nope'. Set one of network, timeout,"],
    [
      true,
      'tools.a.trip: is true without the functions record and tripped. Give an object that has both: they say when',
    ],
  ])('C3, E6: %j is a fault', (trip, message) => {
    const make = () => createBreakerbox({ agent: 'a', tools: { a: { trip: trip as never } } });
    expect(make).toThrow(BreakerboxConfigError);
    expect(make).toThrow(message);
  });
});
