import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { operate } from '../control/operator.ts';
import { reconfigure } from '../control/reconfigure.ts';
import type { FleetOrder } from './seam.ts';
import { grant, heardSoon, hold, letGo, type OneProcess, oneProcess, recover } from './test-support.fleet.ts';

const TOOLS = ['a', 'b', 'c'] as const;
const tool = fc.constantFrom(...TOOLS);

const order: fc.Arbitrary<FleetOrder> = fc.oneof(
  fc.tuple(fc.constantFrom(0, 1_000, 70_000), fc.constantFrom(1_000, 60_000)).map((given) => hold(...given)),
  fc.constantFrom(1, 10_000).map(grant),
  fc.constantFrom(0, 500).map((dueInMs) => recover(dueInMs)),
  fc.constantFrom(0, 30_000).map(letGo),
);

type Happening =
  | { readonly kind: 'order'; readonly name: string; readonly order: FleetOrder }
  | { readonly kind: 'acquire'; readonly name: string }
  | { readonly kind: 'settle'; readonly which: number; readonly how: 'success' | 'failure' | 'ignored' }
  | { readonly kind: 'wait'; readonly ms: number };

const happenings: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('order' as const), name: tool, order }),
    fc.record({ kind: fc.constant('acquire' as const), name: tool }),
    fc.record({ kind: fc.constant('acquire' as const), name: tool }),
    fc.record({
      kind: fc.constant('settle' as const),
      which: fc.nat(9),
      how: fc.constantFrom('success' as const, 'failure' as const, 'failure' as const, 'ignored' as const),
    }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 499, 1_000, 9_999, 60_000, 120_000) }),
  ),
  { maxLength: 60, size: 'max' },
);

interface Around {
  /** The latest order of each circuit that was not closed since, and when it was given. */
  readonly latest: ReadonlyMap<string, { readonly order: FleetOrder; readonly ms: number }>;
  readonly ms: number;
}

/** Lets all of it happen. `asked` sees each decision, right after it. */
const run = (
  process: OneProcess,
  all: readonly Happening[],
  asked: (name: string, decision: string, around: Around) => void = () => {},
): void => {
  const latest = new Map<string, { order: FleetOrder; ms: number }>();
  const underWay: ReturnType<OneProcess['session']['acquire']>[] = [];
  let ms = 0;
  for (const one of all) {
    switch (one.kind) {
      case 'order':
        process.feed(one.name, one.order);
        latest.delete(one.name);
        if (process.session.peek(one.name)?.state !== 'closed') latest.set(one.name, { order: one.order, ms });
        break;
      case 'acquire': {
        const permit = process.session.acquire(one.name);
        if (permit.decision === 'call') latest.delete(one.name);
        asked(one.name, permit.decision, { latest, ms });
        if (permit.decision === 'call' || permit.decision === 'probe') underWay.push(permit);
        break;
      }
      case 'settle': {
        const [permit] = underWay.splice(one.which % Math.max(1, underWay.length), 1);
        if (one.how === 'success') permit?.settle({ outcome: 'success' });
        else permit?.settle({ outcome: one.how, category: 'network' });
        break;
      }
      case 'wait':
        ms += one.ms;
        process.wait(one.ms);
    }
  }
};

const stateOf = ({ session }: OneProcess) => session.view().circuits.map(({ generation: _, ...one }) => one);

describe('whatever is ordered, called and waited for', () => {
  test('G4: no probe goes while a circuit is held, and none after its grant ran out', () => {
    fc.assert(
      fc.property(happenings, (all) => {
        run(oneProcess(), all, (name, decision, { latest, ms }) => {
          if (decision !== 'probe') return;
          const given = latest.get(name);
          if (given?.order.order === 'hold') throw new Error(`${name} probes while it is held`);
          if (given?.order.order === 'grant' && ms >= given.ms + given.order.forMs)
            throw new Error(`${name} probes after its grant`);
        });
      }),
      { numRuns: 500 },
    );
  });

  test('G4: a grant gives at most one probe, unless that one said nothing about the tool', () => {
    let probes = 0;
    fc.assert(
      fc.property(happenings, fc.boolean(), (all, fails) => {
        const process = oneProcess();
        run(process, [...all, { kind: 'order', name: 'a', order: hold() }, { kind: 'wait', ms: 60_000 }]);
        process.feed('a', grant());
        let sent = 0;
        for (let call = 0; call < 20; call += 1) {
          const permit = process.session.acquire('a');
          if (permit.decision !== 'probe') continue;
          sent += 1;
          if (fails) permit.settle({ outcome: 'failure', category: 'network' });
        }
        probes += sent;
        expect(sent).toBeLessThanOrEqual(1);
      }),
      { numRuns: 300 },
    );
    expect(probes).toBeGreaterThan(150);
  });

  test('C11: a look ahead shows what the next decision finds, and changes nothing', () => {
    fc.assert(
      fc.property(happenings, (all) => {
        const looked = oneProcess();
        const other = oneProcess();
        run(looked, all, () => {
          for (const name of TOOLS) {
            looked.session.explain(name);
            looked.session.peek(name);
            looked.circuits.circuit(name);
          }
          looked.session.note();
        });
        run(other, all);
        for (const name of TOOLS) {
          const foreseen = looked.session.explain(name).reason;
          expect(foreseen).toBe(looked.session.acquire(name).reason);
          expect(foreseen).toBe(other.session.acquire(name).reason);
        }
        expect(looked.session.view()).toEqual(other.session.view());
        expect(looked.moves).toEqual(other.moves);
      }),
      { numRuns: 200 },
    );
  });

  test('G1: an order that arrives twice is one order', () => {
    fc.assert(
      fc.property(happenings, tool, order, (all, name, twice) => {
        const [once, again] = [oneProcess(), oneProcess()] as const;
        for (const process of [once, again]) {
          run(process, all);
          process.feed(name, twice);
        }
        again.session.acquire('c');
        once.session.acquire('c');
        const isOpen = once.circuits.circuit(name)?.state !== 'closed';
        if (isOpen) again.feed(name, twice);
        expect(stateOf(again)).toEqual(stateOf(once));
      }),
      { numRuns: 200 },
    );
  });

  test('A4: orders and modes of operators commute, and what an operator covers follows the fleet', () => {
    fc.assert(
      fc.property(
        happenings,
        tool,
        order,
        fc.constantFrom('forced_open' as const, 'disabled' as const, 'observe_only' as const),
        (all, name, given, mode) => {
          const force = ({ box }: OneProcess) => operate(box).force(name, { mode, owner: 'ada', reason: 'test' });
          const [first, second] = [oneProcess(), oneProcess()] as const;
          run(first, all);
          run(second, all);
          const feed = (process: OneProcess) => process.feed(name, given);
          for (const [process, ...acts] of [[first, force, feed] as const, [second, feed, force] as const]) {
            process.session.step();
            for (const act of acts) {
              act(process);
              process.session.step();
            }
            expect(process.session.peek(name)?.state ?? mode).toBe(mode);
            operate(process.box).release(name, { owner: 'ada' });
          }
          // A probe under way is late once an operator has acted (C7), so which of the two came first makes no difference.
          expect(stateOf(first)).toEqual(stateOf(second));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('A10: a change of settings keeps what the fleet holds', () => {
    fc.assert(
      fc.property(happenings, order, (all, given) => {
        const process = oneProcess();
        run(process, all);
        process.feed('a', given);
        const before = process.session.explain('a').decision;
        reconfigure(process.box, (config) => ({ ...config, tools: { ...config.tools, b: { failureThreshold: 7 } } }));
        expect(process.session.explain('a').decision).toBe(before);
      }),
      { numRuns: 200 },
    );
  });
});

test('G5: a recovery makes each circuit due, and no earlier than it says', () => {
  fc.assert(
    fc.property(happenings, fc.constantFrom(0, 1, 500, 1_000), (all, dueInMs) => {
      const process = oneProcess({ defaults: { share: 'fleet', probeLeaseMs: 1 } });
      run(process, all);
      process.wait(1); // The leases of probes end.
      process.feed('a', hold());
      process.session.acquire('a');
      process.feed('a', recover(dueInMs));
      process.wait(Math.max(0, dueInMs - 1));
      if (dueInMs > 0) expect(process.session.acquire('a').decision).toBe('skip');
      process.wait(1);
      expect(process.session.acquire('a').decision).toBe('probe');
    }),
    { numRuns: 200 },
  );
});

test('E5: a listener that throws changes no decision, and the others hear the change', async () => {
  const process = oneProcess();
  const heard: string[] = [];
  process.circuits.onChange(() => {
    throw new Error('of a listener');
  });
  const end = process.circuits.onChange(({ change }) => heard.push(change));
  for (let i = 0; i < 3; i += 1) process.call('a', 'network');
  expect(heard).toEqual([]); // Never within a decision.
  await heardSoon();
  expect(heard).toEqual(['opened']);
  end();
  for (let i = 0; i < 3; i += 1) process.call('b', 'network');
  await heardSoon();
  expect(heard).toEqual(['opened']);
});
