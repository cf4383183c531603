import { describe, expect, test } from 'vitest';
import { operate } from '../control/operator.ts';
import { EVENT_CIRCUIT } from './seam.ts';
import { grant, heardSoon, hold, letGo, oneProcess, recover } from './test-support.fleet.ts';

const inGroup = () =>
  oneProcess({
    tools: { a: { group: 'g' }, b: { group: 'g' }, c: {} },
    groups: { g: { share: 'fleet' } },
  });

describe('C13, C15: groups that a fleet shares', () => {
  test('C15: a group that is held absorbs its members, and skips them all', async () => {
    const { call, feed, moves, heard, circuits } = inGroup();
    for (let i = 0; i < 3; i += 1) call('a', 'network');
    expect(call('b')).toBe('closed');
    feed('group:g', hold());
    expect(call('a')).toBe('group_open');
    expect(call('b')).toBe('group_open');
    expect(moves).toEqual(['a closed>open', 'a open>closed', 'group:g closed>open']);
    await heardSoon();
    expect(heard).toEqual([{ change: 'opened', name: 'a' }]);
    expect(circuits.circuit('group:g')).toMatchObject({ state: 'open', rejectedMs: 0 });
  });

  test('C15: a granted probe of the group takes the slot of a tool that is held', async () => {
    const { call, feed, wait, heard, circuits } = inGroup();
    call('a');
    feed('group:g', hold());
    call('a');
    feed('a', hold());
    expect(call('a')).toBe('group_open');
    expect(circuits.circuit('a')?.rejectedMs).toBeUndefined(); // A probe of the tool alone could not pass.
    wait(60_000);
    feed('group:g', grant());
    expect(call('a')).toBe('group_probe_due');
    expect(call('a')).toBe('closed');
    await heardSoon();
    expect(heard).toEqual([
      { change: 'probing', name: 'group:g' },
      { change: 'closed', name: 'group:g', granted: true },
      { change: 'closed', name: 'a', granted: false },
    ]);
  });

  test('G4: what the grant of a group let through is over with it', () => {
    const { call, feed } = inGroup();
    call('a');
    feed('a', hold());
    feed('group:g', hold());
    call('a'); // The group absorbs the tool.
    feed('a', hold());
    feed('group:g', grant());
    expect(call('b')).toBe('group_probe_due');
    expect(call('b')).toBe('closed');
    expect(call('a')).toBe('open'); // Its own probe was never granted.
  });
});

describe('G4: grants around each other', () => {
  test('G4, S5: the grant that a failed probe used up is not given again after that of the event', () => {
    const { call, feed } = oneProcess({ systemic: {} });
    for (let i = 0; i < 3; i += 1) call('a', 'network');
    feed('a', hold());
    feed('a', grant());
    expect(call('a', 'network')).toBe('probe_due');
    feed(EVENT_CIRCUIT, grant());
    feed('b', hold());
    expect(call('b', 'network')).toBe('probe_due'); // The event has begun, and its grant lets one call through.
    expect(call('a')).toBe('systemic');
    feed(EVENT_CIRCUIT, recover());
    expect(call('a')).toBe('open');
  });

  test('A3, C15: a group whose mode is forced passes no grant on', () => {
    const { box, call, feed, session } = inGroup();
    feed('group:g', hold());
    feed('a', hold());
    expect(call('a')).toBe('group_open');
    operate(box).force('group:g', { mode: 'disabled', owner: 'ada', reason: 'r' });
    feed('group:g', grant());
    expect(session.peek('a')?.nextProbe).toMatchObject({ ms: 60_000 });
    expect(call('a')).toBe('open');
  });
});

const inEvent = () => {
  const process = oneProcess({ systemic: {} });
  for (const tool of ['a', 'b', 'c']) process.call(tool);
  return process;
};

describe('S1, S5, G8: correlated events of a fleet', () => {
  test('S1, S4: two circuits that are held in one category are an event, dated by the fleet', async () => {
    const { call, feed, session, heard, circuits, wait } = inEvent();
    feed('a', hold(95_000));
    feed('b', hold(25_000));
    wait(5_000);
    expect(call('a')).toBe('systemic');
    expect(call('c')).toBe('closed');
    const ages = session
      .view()
      .systemic?.openings.map(({ at, unixMs }) => [1_005_000 - at.ms, 1_700_001_005_000 - unixMs]);
    expect(ages).toEqual([
      [100_000, 100_000],
      [30_000, 30_000],
    ]);
    await heardSoon();
    expect(heard).toEqual([{ change: 'opened', name: EVENT_CIRCUIT }]);
    expect(circuits.circuit(EVENT_CIRCUIT)).toMatchObject({
      state: 'open',
      ageMs: 30_000,
      rejectedMs: 0,
      waitMs: 300_000,
    });
  });

  test('S1, R3: explain() foresees the event that the first call of a held group begins', () => {
    const { call, feed, session } = oneProcess({
      tools: { a: {}, b: { group: 'g' } },
      groups: { g: { share: 'fleet' } },
      systemic: {},
    });
    feed('group:g', hold());
    for (let i = 0; i < 3; i += 1) call('a', 'network');
    expect(session.explain('b').reason).toBe('systemic');
    expect(call('b')).toBe('systemic');
  });

  test('S1: openings that lie too far apart begin no event', () => {
    const { call, feed, session } = inEvent();
    feed('a', hold(200_000));
    feed('b', hold(0));
    expect(call('a')).toBe('open');
    expect(session.view().systemic).toBeUndefined();
  });

  test('S5: the event is held, granted and probed as a circuit is; its success ends it', async () => {
    const { call, feed, wait, heard, session } = inEvent();
    feed('a', hold());
    feed('b', hold());
    feed(EVENT_CIRCUIT, hold(0, 300_000));
    for (const ms of [0, 300_000, 1_000_000]) {
      wait(ms);
      expect(call('a')).toBe('systemic');
    }
    feed(EVENT_CIRCUIT, grant());
    const probe = session.acquire('a');
    expect(probe.reason).toBe('probe_due'); // Although the tool is held too: no other process has this grant.
    expect(call('b')).toBe('systemic');
    probe.settle({ outcome: 'success' });
    expect(session.view().systemic).toBeUndefined();
    await heardSoon();
    expect(heard).toEqual([
      { change: 'opened', name: EVENT_CIRCUIT },
      { change: 'probing', name: EVENT_CIRCUIT },
      { change: 'closed', name: 'a', granted: false },
      { change: 'recovered', name: EVENT_CIRCUIT, by: 'probe' },
    ]);
  });

  test('S5: a granted probe of the event that fails leaves it to the fleet', async () => {
    const { call, feed, wait, heard } = inEvent();
    feed('a', hold());
    feed('b', hold());
    feed(EVENT_CIRCUIT, hold());
    call('c');
    feed(EVENT_CIRCUIT, grant());
    expect(call('b', 'network')).toBe('probe_due');
    wait(10_000_000);
    expect(call('a')).toBe('systemic');
    await heardSoon();
    expect(heard.filter(({ name }) => name === EVENT_CIRCUIT)).toEqual([
      { change: 'opened', name: EVENT_CIRCUIT },
      { change: 'probing', name: EVENT_CIRCUIT },
      { change: 'probe_failed', name: EVENT_CIRCUIT },
    ]);
  });

  test('G8: an event that ended elsewhere ends here, and is not told again; the next event is another one', async () => {
    const { box, call, feed, heard, session } = inEvent();
    const ended: string[] = [];
    box.on('systemic.resolved', ({ by }) => ended.push(by));
    feed(EVENT_CIRCUIT, recover()); // Of an event that this process never had.
    feed('a', hold());
    feed('b', hold());
    expect(call('a')).toBe('systemic');
    feed(EVENT_CIRCUIT, recover());
    expect(call('a')).toBe('open');
    expect(ended).toEqual(['fleet']);
    expect(session.view().systemic).toBeUndefined();
    await heardSoon();
    expect(heard).toEqual([{ change: 'opened', name: EVENT_CIRCUIT }]);
  });

  test("G8, S5: circuits that opened before the fleet's latest event ended begin no event", () => {
    const { call, feed, session } = inEvent();
    feed(EVENT_CIRCUIT, recover(0, 10_000));
    feed('a', hold(50_000));
    feed('b', hold(20_000));
    expect(call('a')).toBe('open');
    feed('c', hold(5_000));
    expect(call('c')).toBe('open');
    expect(session.view().systemic).toBeUndefined();
  });

  test('G8: an event that a person confirms here is told to the others', async () => {
    const { call, feed, heard, session } = inEvent();
    feed('a', hold());
    feed('b', hold());
    call('a');
    session.confirmRecovered();
    await heardSoon();
    expect(heard.at(-1)).toEqual({ change: 'recovered', name: EVENT_CIRCUIT, by: 'operator' });
  });

  test('G7: an event that the fleet lets go of waits by the own schedule', () => {
    const { call, feed, wait } = inEvent();
    feed('a', hold());
    feed('b', hold());
    feed(EVENT_CIRCUIT, hold(290_000, 300_000));
    call('a');
    for (const name of ['a', 'b']) feed(name, letGo());
    feed(EVENT_CIRCUIT, letGo(20_000));
    wait(19_999);
    expect(call('a')).toBe('systemic');
    wait(60_000);
    expect(call('a')).toBe('probe_due');
  });
});
