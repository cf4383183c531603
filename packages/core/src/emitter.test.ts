import { runInNewContext } from 'node:vm';
import { diag } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createEmitter } from './events.ts';
import { watchDiag } from './test-support.ts';

test('E5: the emitter knows for each event whether it has listeners, until the last one leaves', () => {
  const { on, heard } = createEmitter<{ a: number; b: number }>();
  expect([heard.a, heard.b]).toEqual([undefined, undefined]);
  const [first, second] = [on('a', () => {}), on('a', () => {})];
  expect([heard.a, heard.b]).toEqual([true, undefined]);
  first();
  first();
  expect(heard.a).toBe(true);
  second();
  expect(heard.a).toBe(false);
});

/** As other libraries have it. */
const THEN: string = 'then';

describe('listeners that could harm the call', () => {
  let error: ReturnType<typeof watchDiag>;
  beforeEach(() => {
    error = watchDiag();
  });
  afterEach(() => diag.disable());

  test('E5: a listener that registers itself again hears the next event, and this emit ends', () => {
    const { on, emit } = createEmitter<{ a: number }>();
    const heard: number[] = [];
    const again = (event: number) => {
      stop();
      heard.push(event);
      if (heard.length < 1_000) stop = on('a', again);
    };
    let stop = on('a', again);
    emit('a', 1);
    emit('a', 2);
    expect(heard).toEqual([1, 2]);
  });

  test('E5: a listener that is removed during an event no longer hears it', () => {
    const { on, emit } = createEmitter<{ a: number }>();
    const last = vi.fn();
    on('a', () => stop());
    const stop = on('a', last);
    emit('a', 1);
    expect(last).not.toHaveBeenCalled();
  });

  test.each([
    ['a promise of another realm', () => runInNewContext('Promise.reject(new Error("elsewhere"))')],
    ['a thenable', () => ({ [THEN]: (_: unknown, reject: (error: Error) => void) => reject(new Error('elsewhere')) })],
    [
      'one whose then throws when it is looked at',
      () => ({
        get [THEN]() {
          throw new Error('elsewhere');
        },
      }),
    ],
  ])('E5: the rejection of %s is reported', async (_, returned) => {
    const { on, emit } = createEmitter<{ a: number }>();
    on('a', returned);
    emit('a', 1);
    await vi.waitFor(() => expect(error).toHaveBeenCalledWith(expect.any(String), expect.anything()));
    expect(error).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining("a listener of 'a'"),
      expect.objectContaining({ message: 'elsewhere' }),
    );
  });

  test('E5: nested events are delivered up to fifty deep, then dropped and reported until the first of them is over', () => {
    const { on, emit } = createEmitter<{ a: number; b: number }>();
    const heard: number[] = [];
    const deeper = (event: number) => {
      heard.push(event);
      emit('a', event + 1);
    };
    on('a', deeper);
    on('a', deeper); // Two that each cause one: 2^50 events without an end to all of them.
    emit('a', 1);
    expect(heard).toEqual([...Array.from({ length: 50 }, (_, depth) => depth + 1), 1]);
    expect(error).toHaveBeenCalledOnce();
    emit('a', 50);
    expect(heard.slice(51, 53)).toEqual([50, 51]);
  });
});
