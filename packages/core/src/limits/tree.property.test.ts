import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkRun, readRun, writeRun } from '../snapshot/run-format.ts';
import type { RunSnapshot } from '../snapshot/session-snapshot.ts';
import { childOf } from './children.ts';
import { COUNTED_KINDS, type CountedKind, type Limits, limitsOf } from './limits.ts';
import { Run } from './run.ts';
import type { RunCall } from './run-call.ts';

/**
 * D1, D3: random trees of runs. A second model adds everything up again from single facts after each thing that happens, and knows nothing of
 * how {@link Run} moves sums.
 */

interface Fact {
  /** Who pays: found again each time. */
  run: Run;
  readonly kind: CountedKind;
  readonly amount: number;
  /** C11: the children that it belonged to when the tree was kept, and that may be taken again. */
  kept: ReadonlySet<string>;
}

interface UnderWay {
  readonly call: RunCall;
  readonly facts: Fact[];
  readonly expected: number;
}

interface World {
  root: Run;
  runs: Run[];
  made: number;
  /** Children that were taken again, and had used something. */
  taken: number;
  readonly facts: Fact[];
  underWay: UnderWay[];
  /** What calls have used more than they were expected to, together. */
  over: number;
}

const TREE = { maxChildren: 4, maxDepth: 4 };

type Happening =
  | {
      readonly kind: 'child';
      readonly of: number;
      readonly portion: 'all' | number | { calls?: number; tokens?: number };
    }
  | { readonly kind: 'call' | 'step' | 'end' | 'take'; readonly of: number }
  | { readonly kind: 'restore' }
  | {
      readonly kind: 'settle';
      readonly which: number;
      readonly tokens: number | undefined;
      readonly succeeded: boolean;
    }
  | { readonly kind: 'extend'; readonly of: number; readonly limit: 'calls' | 'tokens'; readonly by: number };

const of = fc.nat(30);
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('child' as const),
      of,
      portion: fc.oneof(
        fc.constant('all' as const),
        fc.constantFrom(0.1, 0.29, 0.5, 1),
        fc.record({ calls: fc.constantFrom(1, 3, 50), tokens: fc.constantFrom(40, 500) }, { requiredKeys: [] }),
      ),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom('call' as const, 'call' as const, 'step' as const), of }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which: fc.nat(20),
      tokens: fc.option(fc.constantFrom(0, 1, 7, 40, 90), { nil: undefined }),
      succeeded: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('end' as const, 'take' as const), of }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restore' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('extend' as const),
      of,
      limit: fc.constantFrom('calls' as const, 'tokens' as const),
      by: fc.constantFrom(1, 5),
    }),
  },
);

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

const happen = (world: World, what: Happening): void => {
  switch (what.kind) {
    case 'child':
      begin(world, at(world.runs, what.of), what.portion);
      break;
    case 'step': {
      const run = at(world.runs, what.of);
      if (run.limitObjection(0) !== undefined) break;
      run.add('steps', 1);
      world.facts.push({ run, kind: 'steps', amount: 1, kept: NONE });
      break;
    }
    case 'call':
      call(world, at(world.runs, what.of));
      break;
    case 'settle':
      settle(world, what);
      break;
    case 'end':
      at(world.runs, what.of).end();
      break;
    case 'take':
      take(world, at(world.runs, what.of).payer, what.of);
      break;
    case 'restore':
      keep(world);
      break;
    case 'extend':
      at(world.runs, what.of).extend(what.limit, what.by);
  }
};

const begin = (world: World, run: Run, portion: Extract<Happening, { kind: 'child' }>['portion']): void => {
  try {
    world.made += 1;
    world.runs.push(childOf(run, { id: `run-${world.made}`, name: undefined, portion }, TREE, 0));
  } catch (error) {
    if ((error as Error).name !== 'ChildLimitError') throw error;
  }
};

const call = (world: World, run: Run): void => {
  if (run.limitObjection(0) !== undefined) return;
  const before = run.payer.used.tokens;
  const one = run.begin('ask');
  const expected = run.payer.used.tokens - before;
  world.facts.push({ run, kind: 'calls', amount: 1, kept: NONE });
  world.underWay.push({ call: one, facts: [{ run, kind: 'tokens', amount: expected, kept: NONE }], expected });
};

const settle = (world: World, { which, tokens, succeeded }: Extract<Happening, { kind: 'settle' }>): void => {
  if (world.underWay.length === 0) return;
  const one = at(world.underWay, which);
  world.underWay = world.underWay.filter((other) => other !== one);
  one.call.end({ tokens }, succeeded);
  const amount = tokens ?? (succeeded ? 0 : one.expected);
  world.over += Math.max(0, amount - one.expected);
  const run = one.facts[0]?.run ?? world.root;
  world.facts.push({ run, kind: 'tokens', amount, kept: NONE });
};

const NONE: ReadonlySet<string> = new Set();

/** C11: the tree goes on in another process. Its children count as ended, and calls that were under way as they were expected. */
const keep = (world: World): void => {
  world.facts.push(...world.underWay.flatMap(({ facts }) => facts));
  world.underWay = [];
  const known = new Set(idsIn(world.root));
  for (const fact of world.facts) {
    const ids = [...fact.kept].filter((id) => known.has(id));
    for (let run: Run | undefined = fact.run.payer; run?.parent !== undefined; run = run.parent) ids.push(run.id);
    fact.kept = new Set(ids);
  }
  const kept: unknown = JSON.parse(JSON.stringify(writeRun(world.root, 0)));
  expect(checkRun('run', kept)).toEqual([]);
  world.root = readRun('root', kept as RunSnapshot, 0) ?? world.root;
  world.runs = [world.root];
  for (const fact of world.facts) fact.run = world.root;
};

/** Children that live, and those that may still be taken again. */
const idsIn = (run: Run): readonly string[] =>
  [...run.children, ...run.kept].flatMap((child) => [child.id, ...idsIn(child)]);

/** D1: a child of another process is taken again. */
const take = (world: World, parent: Run, which: number): void => {
  if (parent.kept.length === 0) return;
  const { id } = at(parent.kept, which);
  try {
    const child = childOf(parent, { id, name: undefined, portion: 'all' }, TREE, 0);
    world.runs.push(child);
    if (child.used.calls > 0) world.taken += 1;
    for (const fact of world.facts) if (fact.kept.has(id)) fact.run = child;
  } catch (error) {
    if ((error as Error).name !== 'ChildLimitError') throw error;
  }
};

const isIn = (run: Run, tree: Run): boolean => {
  for (let one: Run | undefined = run.payer; one !== undefined; one = one.parent) if (one === tree) return true;
  return false;
};

/** Everything again, from the facts. */
const usedOf = (world: World, tree: Run, kind: CountedKind): number =>
  [...world.facts, ...world.underWay.flatMap(({ facts }) => facts)]
    .filter((fact) => fact.kind === kind && isIn(fact.run, tree))
    .reduce((sum, { amount }) => sum + amount, 0);

/** What is used, with what living children hold beyond what they have used. */
const heldOf = (world: World, run: Run, kind: CountedKind): number => {
  const own = usedOf(world, run, kind) - run.children.reduce((sum, child) => sum + usedOf(world, child, kind), 0);
  return run.children.reduce((sum, child) => {
    const held = heldOf(world, child, kind);
    const limit = child.limits[kind];
    return sum + (limit?.reserves === true ? Math.max(limit.size, held) : held);
  }, own);
};

const check = (world: World): void => {
  for (const run of world.runs) {
    if (run.ended && run !== world.root) continue;
    for (const kind of COUNTED_KINDS) {
      const size = run.limits[kind]?.size ?? Number.POSITIVE_INFINITY;
      // Calls and steps never overshoot, tokens by what calls used more than expected.
      const isWithin = kind === 'tokens' ? run.used[kind] <= size + world.over : run.held[kind] <= size;
      if (isWithin && run.used[kind] === usedOf(world, run, kind) && run.held[kind] === heldOf(world, run, kind))
        continue;
      expect.fail(`${run.id} ${kind}: used ${run.used[kind]}, held ${run.held[kind]} of ${size}, over ${world.over}`);
    }
  }
};

const CASES = Number(process.env.BREAKERBOX_MODEL_CASES ?? 300);

test('D1: in random trees, spent, reserved and under way are never more than a limit, and all comes back', () => {
  const limits = fc.record({
    calls: fc.constantFrom(1, 7, 30),
    steps: fc.constantFrom(3, 20),
    tokens: fc.constantFrom(50, 400),
  });
  const reached = { limit_reached: 0, limit_reserved: 0, over: 0, taken: 0 };
  fc.assert(
    fc.property(limits, fc.array(happening, { maxLength: 80, size: 'max' }), (options, all) => {
      const root = new Run({ id: 'root', limits: limitsOf(options) as Limits, beganMs: 0 });
      const world: World = { root, runs: [root], facts: [], underWay: [], over: 0, made: 0, taken: 0 };
      for (const one of all) {
        happen(world, one);
        check(world);
        for (const run of world.runs) {
          const reason = run.limitObjection(0)?.reason;
          if (reason !== undefined) reached[reason] += 1;
        }
      }
      if (world.over > 0) reached.over += 1;
      reached.taken += world.taken;
      for (const run of world.runs) run.end();
      for (const one of world.underWay) one.call.end({ tokens: 0 }, true);
      world.underWay = [];
      check(world);
      expect(world.root.held).toEqual(world.root.used);
      expect([world.root.underWay.tokens, world.root.children.length]).toEqual([0, 0]);
    }),
    { numRuns: CASES },
  );
  for (const times of Object.values(reached)) expect(times).toBeGreaterThan(CASES / 50);
});
