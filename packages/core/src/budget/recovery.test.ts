import { DiagLogLevel, diag } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createRecoveryWatch, recoveryChecks } from './recovery.ts';

const reported = vi.fn();

beforeEach(() => {
  const ignore = () => {};
  const logger = { error: reported, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
});

afterEach(() => {
  diag.disable();
  reported.mockReset();
});

/** All promise callbacks that are due have run. */
const microtasks = () => new Promise((resolve) => setImmediate(resolve));

/** A health check that answers when the test says so: the n-th start by `answers[n]`. */
const slowCheck = () => {
  const answers: ((healthy: boolean) => void)[] = [];
  const healthCheck = vi.fn(() => new Promise<boolean>((resolve) => answers.push(resolve)));
  const answer = async (run: number, healthy: boolean) => {
    answers[run]?.(healthy);
    await microtasks();
  };
  return { healthCheck, answer };
};

const fails = (message: string): never => {
  throw new Error(message);
};

describe('S5: a systemic event ends after a time', () => {
  test('S5: it does not end earlier, and each event counts from its own beginning', () => {
    const { isOver } = createRecoveryWatch({ afterMs: 1_000 });
    expect([500, 1_499, 1_500, 9_999].map((ms) => isOver(500, ms))).toEqual([undefined, undefined, 'time', 'time']);
    expect([2_999, 3_000].map((ms) => isOver(2_000, ms))).toEqual([undefined, 'time']);
    expect(reported).not.toHaveBeenCalled();
  });

  test('S5: with a health check as well, the first of the two ends it', () => {
    let healthy = false;
    const healthCheck = vi.fn(() => healthy);
    const { isOver } = createRecoveryWatch({ afterMs: 1_000, healthCheck, everyMs: 100 });
    expect(isOver(0, 0)).toBeUndefined();
    expect(isOver(0, 1_000)).toBe('time');
    expect(healthCheck).toHaveBeenCalledTimes(1);
    healthy = true;
    expect(isOver(2_000, 2_000)).toBe('health_check');
  });
});

describe('S5: a systemic event ends when a health check passes', () => {
  test('S5: a check that answers at once ends it at once', () => {
    const healthCheck = vi.fn(() => true);
    const { isOver } = createRecoveryWatch({ healthCheck });
    expect([0, 1, 60_000].map((ms) => isOver(0, ms))).toEqual(Array(3).fill('health_check'));
    expect(healthCheck).toHaveBeenCalledTimes(1);
  });

  test('S5: a check that takes time ends it at the next use of the session', async () => {
    const { healthCheck, answer } = slowCheck();
    const { isOver } = createRecoveryWatch({ healthCheck });
    expect(isOver(0, 0)).toBeUndefined();
    await answer(0, true);
    expect(isOver(0, 1)).toBe('health_check');
    expect(healthCheck).toHaveBeenCalledTimes(1);
  });

  test('S5: the check runs every 10 s, or at the configured interval', () => {
    const healthCheck = vi.fn(() => false);
    const { isOver } = createRecoveryWatch({ healthCheck });
    for (const ms of [0, 9_999]) expect(isOver(0, ms)).toBeUndefined();
    expect(healthCheck).toHaveBeenCalledTimes(1);
    isOver(0, 10_000);
    expect(healthCheck).toHaveBeenCalledTimes(2);
    expect(reported).not.toHaveBeenCalled(); // An answer of false is one.

    const often = vi.fn(() => false);
    const watch = createRecoveryWatch({ healthCheck: often, everyMs: 5 });
    for (const ms of [0, 4, 5, 9, 10]) watch.isOver(0, ms);
    expect(often).toHaveBeenCalledTimes(3);
  });

  test('S5: the interval holds from one event to the next', () => {
    const healthCheck = vi.fn(() => true);
    const { isOver } = createRecoveryWatch({ healthCheck, everyMs: 100 });
    expect(isOver(0, 0)).toBe('health_check');
    expect([50, 99, 100].map((ms) => isOver(50, ms))).toEqual([undefined, undefined, 'health_check']);
    expect(healthCheck).toHaveBeenCalledTimes(2);
  });

  test('S5: an answer about an earlier event does not end this one', async () => {
    const { healthCheck, answer } = slowCheck();
    const { isOver } = createRecoveryWatch({ healthCheck, everyMs: 10 });
    isOver(0, 0);
    expect(isOver(20, 20)).toBeUndefined();
    expect(healthCheck).toHaveBeenCalledTimes(1); // One at a time.
    await answer(0, true);
    expect(isOver(20, 30)).toBeUndefined();
    await answer(1, true);
    expect(isOver(20, 31)).toBe('health_check');
  });

  test('S5: a check that hangs is abandoned after 60 s, and its answer no longer counts', async () => {
    const { healthCheck, answer } = slowCheck();
    const { isOver } = createRecoveryWatch({ healthCheck });
    for (const ms of [0, 30_000, 59_999]) isOver(0, ms);
    expect(healthCheck).toHaveBeenCalledTimes(1);
    isOver(0, 60_000);
    expect(healthCheck).toHaveBeenCalledTimes(2);
    await answer(0, true);
    expect(isOver(0, 60_001)).toBeUndefined();
    await answer(1, true);
    expect(isOver(0, 60_002)).toBe('health_check');
  });

  test('S5: a late failure of an abandoned check does not end the next one', async () => {
    const rejects: ((error: unknown) => void)[] = [];
    const healthCheck = vi.fn(() => new Promise<boolean>((_, reject) => rejects.push(reject)));
    const { isOver } = createRecoveryWatch({ healthCheck });
    isOver(0, 0);
    isOver(0, 60_000);
    rejects[0]?.(new Error('too late'));
    await microtasks();
    isOver(0, 75_000);
    expect(healthCheck).toHaveBeenCalledTimes(2);
  });

  test.each<[string, () => unknown, string]>([
    ['throws', () => fails('broken'), 'broken'],
    ['rejects', async () => fails('broken'), 'broken'],
    ['gives something that is merely truthy', () => 'ok', "returned 'ok'. Return true if the cause is gone"],
    ['promises something that is merely truthy', async () => 1, 'returned 1'],
    ['gives nothing', () => undefined, 'returned undefined'],
    ['gives a promise that throws', () => Object.defineProperty({}, 'then', { get: () => fails('trap') }), 'trap'],
  ])('S5: a check that %s does not end the event, is reported, and runs again', async (_, check, message) => {
    const healthCheck = vi.fn(check as () => boolean);
    const { isOver } = createRecoveryWatch({ healthCheck });
    expect(isOver(0, 0)).toBeUndefined();
    await microtasks();
    expect(isOver(0, 9_999)).toBeUndefined();
    expect(reported.mock.calls.map(([what, error]) => `${what} ${error}`)).toEqual([
      expect.stringMatching(new RegExp(`health check of systemic.recovery.*${message}`)),
    ]);
    isOver(0, 10_000);
    expect(healthCheck).toHaveBeenCalledTimes(2);
  });

  test('S5: a check that reads the session does not start itself again', () => {
    const healthCheck = vi.fn((): boolean => isOver(0, 0) === undefined);
    const { isOver } = createRecoveryWatch({ healthCheck });
    expect(isOver(0, 0)).toBe('health_check');
    expect(healthCheck).toHaveBeenCalledTimes(1);
  });
});

describe('E6: a recovery that cannot work is rejected', () => {
  const issues = (value: unknown) =>
    recoveryChecks('systemic.recovery', value).map(({ path, message }) => path + message);
  const check = () => true;

  test.each<[string, unknown]>([
    ['by time', { afterMs: 1 }],
    ['by health check', { healthCheck: check }],
    ['by a probe', { probeAfterMs: 9, maxProbeAfterMs: 9 }],
    ['by both, at an interval', { afterMs: 0.5, healthCheck: check, everyMs: 1 }],
    ['what is there and undefined is not set', { afterMs: 1, healthCheck: undefined, everyMs: undefined }],
  ])('E6: accepted: %s', (_, value) => expect(issues(value)).toEqual([]));

  test.each<[string, unknown, string]>([
    [
      'one that ends nothing',
      {},
      'systemic.recoverywould never end a systemic event. Set afterMs, healthCheck or probeAfterMs',
    ],
    ['one whose ends are undefined', { afterMs: undefined }, 'systemic.recoverywould never end a systemic event'],
    [
      'no time at all',
      { afterMs: 0 },
      'systemic.recovery.afterMsis 0. Set a finite number above 0, or leave it out. A systemic event counts as over',
    ],
    ['NaN', { afterMs: Number.NaN }, 'systemic.recovery.afterMsis NaN'],
    ['a check that is no function', { healthCheck: true }, 'systemic.recovery.healthCheckis true. Give a function'],
    [
      'checks without pause',
      { healthCheck: check, everyMs: 0 },
      'systemic.recovery.everyMsis 0. Set a finite number above 0, or leave it out',
    ],
    [
      'an interval of nothing',
      { afterMs: 1, everyMs: 1 },
      'systemic.recovery.everyMssets the interval between health checks, but no healthCheck is configured. Add',
    ],
    ['a probe at once', { probeAfterMs: 0 }, 'systemic.recovery.probeAfterMsis 0. Set a finite number above 0'],
    [
      'the longest wait of nothing',
      { afterMs: 1, maxProbeAfterMs: 1 },
      'systemic.recovery.maxProbeAfterMsbounds the wait between probes, but probeAfterMs is not configured. Add',
    ],
    [
      'a longest wait that is the shorter one',
      { probeAfterMs: 9, maxProbeAfterMs: 8 },
      'systemic.recovery.maxProbeAfterMsis 8, less than probeAfterMs (9), which is the first wait. Raise maxProbeAfterMs or lower probeAfterMs.',
    ],
    [
      'a misspelt setting',
      { afterMS: 1 },
      "systemic.recovery.afterMSis not a setting. Did you mean 'afterMs'? Allowed here: afterMs, healthCheck",
    ],
    ['no object', 60_000, 'systemic.recoveryis 60000. Give an object such as { afterMs: 300000 }.'],
  ])('E6: %s', (_, value, message) => expect(issues(value)).toEqual([expect.stringContaining(message)]));
});
