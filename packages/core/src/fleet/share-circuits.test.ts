import { describe, expect, test } from 'vitest';
import { reconfigure } from '../control/reconfigure.ts';
import { createBreakerbox } from '../index.ts';
import { grant, heardSoon, hold, letGo, oneProcess, recover } from './test-support.fleet.ts';

describe('G1: orders of the fleet take effect at the next use', () => {
  test('G3: a closed circuit that is held opens, and says that others found it', async () => {
    const { call, feed, moves, session, heard, circuits } = oneProcess();
    expect(call('a')).toBe('closed');
    feed('a', hold(5_000));
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'fleet', openForMs: 5_000, category: 'network' });
    expect(moves).toEqual([]); // A look ahead changes nothing (C11).
    const permit = session.acquire('a');
    expect(permit.reason).toBe('open');
    expect(permit.message).toContain(
      'its calls failed in other processes (network). Do not call it now. It may work again in about 55 s.',
    );
    expect(moves).toEqual(['a closed>open']);
    await heardSoon();
    expect(heard).toEqual([]);
    expect(circuits.circuit('a')).toMatchObject({ state: 'open', ageMs: 5_000, waitMs: 60_000, rejectedMs: 0 });
  });

  test('G4: while held, no time makes a probe due, and the text says a second at least', () => {
    const { call, feed, wait, session } = oneProcess();
    feed('a', hold());
    for (const ms of [0, 59_000, 60_000, 10_000_000]) {
      wait(ms);
      expect(call('a')).toBe('open');
    }
    expect(session.explain('a').text).toContain('It may work again in about 1 s');
  });

  test('G4: a grant lets one call probe, and its success closes', async () => {
    const { call, feed, session, heard, wait } = oneProcess();
    feed('a', hold());
    call('a');
    wait(60_000);
    feed('a', grant());
    expect(session.explain('a')).toMatchObject({ decision: 'probe', reason: 'probe_due' });
    const probe = session.acquire('a');
    expect(probe.reason).toBe('probe_due');
    expect(call('a')).toBe('probe_in_flight');
    probe.settle({ outcome: 'success' });
    expect(call('a')).toBe('closed');
    await heardSoon();
    expect(heard).toEqual([
      { change: 'probing', name: 'a' },
      { change: 'closed', name: 'a', granted: true },
    ]);
  });

  test('G4: after a failed probe the fleet decides again', async () => {
    const { call, feed, heard, wait } = oneProcess();
    feed('a', hold());
    feed('a', grant());
    expect(call('a', 'network')).toBe('probe_due');
    wait(10_000_000);
    expect(call('a')).toBe('open');
    await heardSoon();
    expect(heard).toEqual([
      { change: 'probing', name: 'a' },
      { change: 'probe_failed', name: 'a' },
    ]);
  });

  test('G4: a grant that ran out gives no probe, nor one that was given back in time', () => {
    const { call, feed, wait, circuits } = oneProcess();
    feed('a', hold());
    feed('a', grant(10_000));
    wait(10_000);
    expect(call('a')).toBe('open');
    feed('a', grant(10_000));
    expect(call('a', 'cancelled')).toBe('probe_due');
    expect(circuits.circuit('a')).toMatchObject({ state: 'open', leaseMs: undefined });
    wait(9_999);
    expect(call('a', 'cancelled')).toBe('probe_due');
    wait(1);
    expect(call('a')).toBe('open');
  });

  test('C8, G4: a granted probe that is ignored ends its grant, as a failed one does', async () => {
    const { call, feed, heard, session } = oneProcess();
    feed('a', hold());
    feed('a', grant(10_000));
    session.acquire('a').settle({ outcome: 'ignored', category: 'invalid_input' });
    await Promise.resolve();
    expect(heard.map(({ change }) => change)).toEqual(['probing', 'probe_failed']);
    expect(call('a')).toBe('open');
  });

  test('G5: a recovery makes an open circuit due after its time, and it stays due', async () => {
    const { call, feed, wait, heard, session } = oneProcess();
    feed('a', hold());
    call('a');
    feed('a', recover(500));
    expect(call('a')).toBe('open');
    expect(session.explain('a').text).toContain('in about 1 s');
    wait(10_000_000);
    expect(call('a')).toBe('probe_due');
    expect(call('a')).toBe('closed');
    feed('b', recover(0));
    expect(call('b')).toBe('closed');
    await heardSoon();
    expect(heard).toEqual([{ change: 'closed', name: 'a', granted: false }]);
  });

  test('G5: a probe that fails after a recovery leaves the circuit to its own schedule', async () => {
    const { call, feed, wait, heard } = oneProcess();
    feed('a', hold());
    call('a');
    feed('a', recover(0));
    expect(call('a', 'network')).toBe('probe_due');
    wait(119_999);
    expect(call('a')).toBe('open');
    wait(1);
    expect(call('a')).toBe('probe_due');
    await heardSoon();
    expect(heard).toEqual([
      { change: 'opened', name: 'a' },
      { change: 'closed', name: 'a', granted: false },
    ]);
  });

  test('G7: a circuit that the fleet lets go of goes on by the local clock, but not before its time', () => {
    const { call, feed, wait } = oneProcess();
    feed('a', hold(50_000, 60_000));
    call('a');
    feed('a', letGo(20_000));
    wait(19_999);
    expect(call('a')).toBe('open');
    wait(1);
    expect(call('a', 'network')).toBe('probe_due');
    wait(120_000);
    expect(call('a')).toBe('probe_due');
    feed('b', letGo(10_000));
    expect(call('b')).toBe('closed');
  });

  test('G2: a tool or group is shared if its own setting or the default says so, before it is used too', () => {
    const tools = { a: {}, mail: { share: 'box' }, issues: { group: 'github' } } as const;
    const { circuits } = oneProcess({ tools, groups: { github: { share: 'fleet' }, files: {} } });
    const names = ['a', 'unknown', 'mail', 'group:github', 'group:files', 'group:unknown'];
    expect(names.filter(circuits.isShared)).toEqual(['a', 'unknown', 'group:github']);
  });

  test('G6: a healthy circuit has nothing to tell', async () => {
    const { call, heard, circuits } = oneProcess();
    for (let i = 0; i < 50; i += 1) call('a', i % 10 === 0 ? 'network' : 'success');
    await heardSoon();
    expect(heard).toEqual([]);
    expect(circuits.all().map(({ name, state }) => [name, state])).toEqual([['a', 'closed']]);
  });

  test('G9: ages and waits have no clock, and a digest tells other settings apart', () => {
    const [one, other, slower] = [oneProcess(), oneProcess(), oneProcess({ tools: { a: { cooldownMs: 5_000 } } })];
    other.wait(86_400_000);
    for (const process of [one, other, slower]) {
      process.feed('a', hold(2_000));
      process.call('a');
    }
    expect(other.circuits.circuit('a')).toEqual(one.circuits.circuit('a'));
    expect(slower.circuits.circuit('a')?.digest).not.toBe(one.circuits.circuit('a')?.digest);
  });

  test('G2: a share without a fleet, and a fleet without shared circuits, are errors (E6)', () => {
    const errorOf = (config: object): string => {
      try {
        createBreakerbox({ agent: 'agent', ...config });
        return '';
      } catch (error) {
        return String(error);
      }
    };
    const fleet = { join: () => {} };
    expect(errorOf({ scope: 'process', tools: { a: { share: 'fleet' } } })).toContain('tools.a.share: is');
    expect(errorOf({ scope: 'process', groups: { g: { share: 'fleet' } } })).toContain('groups.g.share: is');
    expect(errorOf({ defaults: { share: 'fleet' } })).toContain('defaults.share: is');
    expect(errorOf({ fleet })).toContain("fleet: needs scope 'process'");
    expect(errorOf({ scope: 'process', fleet: {} })).toContain('fleet: is');
    expect(errorOf({ scope: 'process', fleet, tools: { a: { share: 'all' } } })).toContain('tools.a.share: is');
    const { box } = oneProcess();
    expect(() => reconfigure(box, (config) => ({ ...config, defaults: {} }))).toThrow('tools.a.share: has changed');
    expect(() => reconfigure(box, (config) => ({ ...config, fleet }))).toThrow('fleet: has changed');
  });

  test('E5: a fleet that throws as a box is made leaves the box as it is', () => {
    let joined: object | undefined;
    const box = createBreakerbox({
      agent: 'agent',
      scope: 'process',
      fleet: {
        join: (one) => {
          joined = one;
          throw new Error('of the fleet');
        },
      },
    });
    expect(joined).toBe(box);
  });

  test('G3: an opening of this process is told, and an order that confirms it is no news', async () => {
    const { call, feed, heard, moves } = oneProcess();
    for (let i = 0; i < 3; i += 1) call('a', 'network');
    feed('a', hold(100));
    call('a');
    await heardSoon();
    expect(heard).toEqual([{ change: 'opened', name: 'a' }]);
    expect(moves).toEqual(['a closed>open']);
  });

  test('G1: a tool that is declared later finds the order', () => {
    const { call, feed, box, moves } = oneProcess();
    feed('late', hold());
    expect(call('late')).toBe('undeclared');
    box.declare('late');
    expect(call('late')).toBe('open');
    expect(moves).toEqual(['late closed>open']);
  });

  test('G2: a circuit that is not shared hears of no order', () => {
    const { call, feed, circuits } = oneProcess({ tools: { a: { share: 'box' }, b: {} } });
    feed('a', hold());
    expect(call('a')).toBe('closed');
    expect(circuits.circuit('a')).toBeUndefined();
  });
});
