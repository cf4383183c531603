import { describe, expect, test } from 'vitest';
import type { Breakerbox } from '../breakerbox.ts';
import { BreakerboxUsageError } from '../checks/checks.ts';
import { report } from '../report/report.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { type ExportedMetric, openSeries } from '../telemetry/readers.ts';
import { ATTR, METRIC } from '../telemetry/semconv.ts';
import { bench, failOnce, journal, manualClock, steps, succeedOnce, trip } from '../test-support.ts';
import { onNewBox, operate } from './operator.ts';

const HOUR_MS = 3_600_000;
const BY_ADA = { mode: 'forced_open', owner: 'ada', reason: 'maintenance' } as const;
const BY_BOB = { mode: 'observe_only', owner: 'bob', reason: 'a test' } as const;

describe('A3: a mode for all sessions of the box', () => {
  test.each(['session', 'process'] as const)('A3: it reaches sleeping and later sessions (scope %s)', (scope) => {
    const { box, session } = bench({ scope });
    succeedOnce(session, 'a');
    const lines = journal(box);
    operate(box).force('a', BY_ADA);
    expect(box.session().acquire('a')).toMatchObject({ decision: 'skip', reason: 'forced_open' });
    expect(session.peek('a')?.state).toBe('forced_open');
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'forced_open' });
    expect(session.acquire('b').decision).toBe('call');
    expect(lines).toEqual(['a closed>forced_open']);
    operate(box).release('a', { owner: 'ada' });
    expect(succeedOnce(session, 'a')).toBe('call');
    expect(lines.slice(1)).toEqual(['a forced_open>closed']);
  });

  test('A3, R2: what is forced counts before the first use too', () => {
    const { box, session } = bench({ tools: { a: { alternatives: [{ tool: 'b', degradation: 'low' }] }, b: {} } });
    operate(box).force('b', BY_ADA);
    expect(session.unavailable()).toEqual(['b']);
    expect(session.explain('b')).toMatchObject({ decision: 'skip', reason: 'forced_open' });
    operate(box).force('a', BY_ADA);
    expect(box.session().acquire('a').route?.kind).toBe('defer');
  });

  test('A3: a session alone', () => {
    const { box, session } = bench();
    operate(box).force('a', { ...BY_ADA, session: 'run-1' });
    expect(session.acquire('a').decision).toBe('skip');
    expect(box.session().acquire('a').decision).toBe('call');
  });

  test('A3, C13: the circuit of a group', () => {
    const { box, session } = bench({ tools: { a: { group: 'g' }, b: { group: 'g' }, c: {} } });
    succeedOnce(session, 'a');
    operate(box).force('group:g', BY_ADA);
    expect(['a', 'b', 'c'].map((tool) => session.acquire(tool).decision)).toEqual(['skip', 'skip', 'call']);
    expect(box.session().acquire('b').decision).toBe('skip');
    operate(box).release('group:g', { owner: 'ada' });
    expect(session.acquire('b').decision).toBe('call');
  });

  test('A1: without a forced mode nothing changes', () => {
    const { box, session } = bench();
    operate(box);
    expect(succeedOnce(session, 'a')).toBe('call');
    expect(operate(box).modes()).toEqual([]);
  });
});

describe('A4: several owners, expiry and release', () => {
  test('A4: forced_open beats disabled beats observe_only, and releasing one leaves the others', () => {
    const { box, session } = bench();
    const operator = operate(box);
    operator.force('a', BY_BOB);
    operator.force('a', { ...BY_BOB, mode: 'disabled', owner: 'cyd' });
    operator.force('a', BY_ADA);
    const state = () => session.acquire('a').state;
    expect(state()).toBe('forced_open');
    expect(operator.release('a', { owner: 'ada' })).toBe(true);
    expect(state()).toBe('disabled');
    expect(operator.release('a', { owner: 'ada' })).toBe(false);
    operator.release('a', { owner: 'cyd' });
    expect(state()).toBe('observe_only');
    operator.release('a', { owner: 'bob' });
    expect(state()).toBe('closed');
  });

  test('A4: a mode expires by the clock of the box', () => {
    const { box, session, clock } = bench();
    const operator = operate(box);
    const forced = operator.force('a', BY_ADA);
    expect(forced.untilUnixMs - forced.sinceUnixMs).toBe(HOUR_MS);
    operator.force('a', { ...BY_BOB, expiresInMs: 2 * HOUR_MS });
    expect(operator.modes().map(({ owner }) => owner)).toEqual(['ada', 'bob']);
    clock.advance(HOUR_MS - 1);
    expect(session.acquire('a').state).toBe('forced_open');
    clock.advance(1);
    expect(session.acquire('a').state).toBe('observe_only');
    expect(operator.modes()).toMatchObject([{ owner: 'bob', reason: 'a test', session: undefined }]);
    clock.advance(HOUR_MS);
    expect(session.acquire('a').state).toBe('closed');
  });

  test('A4: release restores an open circuit with its wait', () => {
    const { box, session, clock } = bench({ defaults: { probeAfterSteps: 3 } });
    trip(session, 'a');
    steps(session, 1);
    operate(box).force('a', { ...BY_ADA, mode: 'disabled' });
    expect(failOnce(session, 'a')).toBe('call');
    steps(session, 1);
    operate(box).release('a', { owner: 'ada' });
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'open' });
    expect(session.peek('a')).toMatchObject({ state: 'open', category: 'network', nextProbe: { steps: 1 } });
    steps(session, 1);
    clock.advance(1);
    expect(succeedOnce(session, 'a')).toBe('probe');
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('A4, C7: results of calls from before and from during the mode are late', () => {
    const { box, session } = bench();
    const late: boolean[] = [];
    box.on('outcome', (event) => late.push(event.late));
    failOnce(session, 'a');
    const before = session.acquire('a');
    operate(box).force('a', BY_BOB);
    const during = session.acquire('a');
    operate(box).release('a', { owner: 'bob' });
    before.settle({ outcome: 'failure', category: 'network' });
    during.settle({ outcome: 'failure', category: 'network' });
    expect(late).toEqual([false, true, true]);
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 1 });
  });

  test('A4, C6: the slot of a probe under way is free again after the release', () => {
    const { box, session } = bench();
    trip(session, 'a');
    steps(session, 3);
    const probe = session.acquire('a');
    operate(box).force('a', BY_ADA);
    session.acquire('a');
    operate(box).release('a', { owner: 'ada' });
    expect(succeedOnce(session, 'a')).toBe('probe');
    probe.settle({ outcome: 'failure', category: 'network' });
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('A4, C14: the circuit of a key comes back too', () => {
    const { box, session } = bench({ tools: { a: { key: (input) => String(input), failureThreshold: 1 } } });
    const call = () => session.acquire('a', { input: 'k' });
    call().settle({ outcome: 'failure', category: 'network', blames: 'key' });
    operate(box).force('a', { ...BY_ADA, mode: 'disabled' });
    expect(call().reason).toBe('disabled');
    operate(box).release('a', { owner: 'ada' });
    expect(call().reason).toBe('key_open');
  });

  test('A4, C1: modes set in code stay beneath, and do not expire', () => {
    const { box, session, clock } = bench({ tools: { a: { mode: 'disabled' }, b: {} } });
    operate(box).force('a', BY_ADA);
    operate(box).force('b', BY_ADA);
    session.control('b', 'observe_only');
    expect(['a', 'b'].map((tool) => session.acquire(tool).state)).toEqual(['forced_open', 'forced_open']);
    clock.advance(HOUR_MS);
    expect(['a', 'b'].map((tool) => session.acquire(tool).state)).toEqual(['disabled', 'observe_only']);
  });

  test('A4, C11: a snapshot holds the circuit beneath, and not the mode of the operator', () => {
    const { box, session } = bench();
    trip(session, 'a');
    operate(box).force('a', BY_ADA);
    expect(session.acquire('a').state).toBe('forced_open');
    const kept = snapshot(session);
    expect(kept.circuits).toMatchObject([{ tool: 'a', mode: 'automatic', state: 'open' }]);
    expect(restore(box, kept, { elapsedMs: 0 }).peek('a')?.state).toBe('forced_open');
    const other = bench({ clock: manualClock() }).box;
    expect(restore(other, kept, { elapsedMs: 0 }).peek('a')?.state).toBe('open');
  });
});

describe('A3: live sessions', () => {
  test('A2: lists what has not ended, with age, steps and budget', () => {
    const { box, session, clock } = bench();
    const operator = operate(box);
    const later = box.session({ id: 'run-2' });
    clock.advance(5_000);
    session.step();
    expect(operator.sessions().map(({ id, ageMs, view }) => [id, ageMs, view.step, view.budget.remaining])).toEqual([
      ['run-2', 5_000, 0, 5],
      ['run-1', 5_000, 1, 5],
    ]);
    later.end();
    expect(operator.sessions().map(({ id }) => id)).toEqual(['run-1']);
  });

  test('A2, C11: reading an ended session, or one that is not used, does not list it again', () => {
    const { box, session } = bench();
    succeedOnce(session, 'a');
    const operator = operate(box);
    const ended = box.session({ id: 'run-2' });
    const late = ended.acquire('a');
    ended.end();
    operator.force('a', BY_ADA);
    for (const read of [session, ended])
      expect([read.view().state, read.peek('a')?.state, report(read).state]).toEqual([
        'active',
        'forced_open',
        'active',
      ]);
    late.settle({ outcome: 'success' });
    expect(operator.sessions()).toEqual([]);
    expect(operator.resume('run-2').result).toBe('unknown_session');
    session.step();
    ended.acquire('a');
    expect(operator.sessions().map(({ id }) => id)).toEqual(['run-1', 'run-2']);
  });

  test('A3: resumes the expected cycle, and refuses a stale one with the current state', () => {
    const { box } = bench();
    const operator = operate(box);
    const session = box.session({ id: 'r' });
    const { cycle } = session.view().budget;
    failOnce(session, 'a');
    expect(operator.resume('r', { cycle })).toMatchObject({
      result: 'done',
      session: { view: { budget: { remaining: 5 } } },
    });
    failOnce(session, 'a');
    expect(operator.resume('r', { cycle })).toMatchObject({
      result: 'stale',
      session: { view: { budget: { cycle: cycle + 1, remaining: 4 } } },
    });
    expect(operator.resume('q')).toEqual({ result: 'unknown_session', session: undefined });
  });

  test('A3, S5: confirms the expected event, and refuses another', () => {
    const { box, clock } = bench();
    const operator = operate(box);
    const session = box.session({ id: 'r' });
    trip(session, 'a');
    trip(session, 'b');
    const [first] = operator.sessions();
    clock.advance(1_000);
    trip(session, 'c');
    expect(operator.confirmRecovered('r', { event: 'other' })).toMatchObject({
      result: 'stale',
      session: { event: first?.event, view: { state: 'paused_systemic' } },
    });
    expect(operator.confirmRecovered('r', { event: first?.event })).toMatchObject({
      result: 'done',
      session: { event: undefined, view: { state: 'active' } },
    });
    expect(operator.confirmRecovered('r', { event: first?.event }).result).toBe('stale');
  });
});

test('A4: modes of other processes leave room for those that are forced here', () => {
  const { box, session } = bench();
  const operator = operate(box);
  const force = (owner: string, isRemote: boolean) => operator.force('a', { ...BY_BOB, owner, isRemote });
  for (let at = 0; at < 100; at += 1) force(`far-${at}`, true);
  expect(() => force('far-100', true)).toThrow('100 forced modes of other processes');
  force('far-99', true); // Its own place.
  for (let at = 0; at < 100; at += 1) force(`near-${at}`, false);
  expect(() => force('near-100', false)).toThrow('200 forced modes already');
  operator.force('a', { ...BY_ADA, owner: 'near-0' });
  expect(session.acquire('a').decision).toBe('skip');
  expect(operator.modes()[0]).not.toHaveProperty('isRemote');
});

describe('E6: wrong requests are refused, and the error says how to fix it', () => {
  test.each([
    ['serach', BY_ADA, "operate(box).force('serach', …): no tool or group of that name", 'Correct the name'],
    ['a', { ...BY_ADA, reason: ' ' }, 'reason is', 'Give a string'],
    ['a', { ...BY_ADA, owner: undefined }, 'owner is undefined', 'Give a string'],
    ['a', { ...BY_ADA, mode: 'automatic' }, "mode is 'automatic'", 'Give one of forced_open, disabled, observe_only'],
    ['a', { ...BY_ADA, expiresInMs: 7 * 24 * HOUR_MS + 1 }, 'expiresInMs is 604800001', 'at most 604800000'],
    ['a', { ...BY_ADA, expiresInMs: Number.NaN }, 'expiresInMs is NaN', 'above 0'],
  ])('E6: force(%s, %o)', (tool, options, what, fix) => {
    const { box } = bench();
    const force = () => operate(box).force(tool, options as never);
    expect(force).toThrow(BreakerboxUsageError);
    expect(force).toThrow(what);
    expect(force).toThrow(fix);
    expect(operate(box).modes()).toEqual([]);
  });

  test('E6: one session of a box whose sessions share circuits', () => {
    const { box } = bench({ scope: 'process' });
    expect(() => operate(box).force('a', { ...BY_ADA, session: 'r' })).toThrow('Leave session out');
  });

  test('E6: what is not a box', () => {
    expect(() => operate({} as never)).toThrow('createBreakerbox()');
  });
});

describe('A6: what operators do is counted, and is an event', () => {
  const told = (box: Breakerbox) => {
    const events: unknown[] = [];
    box.on('operator.action', ({ unixMs, agent, ...event }) => events.push(event));
    return events;
  };

  test('A6: modes, actions on sessions, and what did not happen', () => {
    const { box, session } = bench();
    const events = told(box);
    const operator = operate(box);
    operator.force('a', BY_ADA);
    operator.release('a', { owner: 'bob' });
    operator.release('a', { owner: 'ada' });
    session.acquire('a');
    operator.resume('run-1', { cycle: 7 });
    operator.resume('run-2');
    operator.count({ action: 'disable', result: 'refused', tool: 'b', session: 'run-1' });
    expect(events).toEqual([
      { action: 'force_open', result: 'done', tool: 'a', session: undefined },
      { action: 'release', result: 'unknown', tool: 'a', session: undefined },
      { action: 'release', result: 'done', tool: 'a', session: undefined },
      { action: 'resume', result: 'stale', tool: undefined, session: 'run-1' },
      { action: 'disable', result: 'refused', tool: 'b', session: 'run-1' },
    ]);
  });

  test('A6: the metric has one series for each action and result, and no names', () => {
    const reader = openSeries({ insteadOfSdk: false, exemplars: false });
    const { box } = bench({ agent: 'operated' });
    operate(box).force('a', BY_ADA);
    operate(box).force('b', BY_ADA);
    const metric = reader.metrics().find(({ name }) => name === METRIC.operatorActions.name);
    const all = [...reader.numbers(metric as ExportedMetric)];
    reader.close();
    expect(all.filter(({ attributes }) => attributes[ATTR.agent] === 'operated')).toEqual([
      { attributes: { [ATTR.agent]: 'operated', [ATTR.action]: 'force_open', [ATTR.result]: 'done' }, value: 2 },
    ]);
  });
});

test('A1: a listener hears of each new box, until it stops', () => {
  const agents: string[] = [];
  const stop = onNewBox(({ agent }) => agents.push(agent));
  const failing = onNewBox(() => {
    throw new Error('a listener');
  });
  bench({ agent: 'one' });
  stop();
  failing();
  bench({ agent: 'two' });
  expect(agents).toEqual(['one']);
});
