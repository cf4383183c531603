import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { Permit, Session } from '../index.ts';
import * as tree from '../proof/model-tree.ts';
import { inAnotherProcess } from '../rules/test-support.rules.ts';
import { bench } from '../test-support.ts';
import { askForAnswer, beginModelCall, type ModelCall } from './spending.ts';

/**
 * D1 to D3: random trees of sessions, through the public API, beside a model of the rules that adds everything up again from single facts after
 * each thing that happens.
 */

interface UnderWay {
  readonly settle: (usage: { readonly tokens?: number | undefined }, succeeded: boolean) => void;
  readonly name: string;
  readonly node: tree.TreeNode;
  /** Undefined if what the answer is expected to use is kept for its node. */
  readonly fact: tree.Fact | undefined;
  readonly answer: tree.TreeNode['answer'];
  readonly permit: Permit | undefined;
  hasChild: boolean;
}

interface World {
  readonly model: tree.Tree;
  readonly box: ReturnType<typeof bench>['box'];
  sessions: { readonly session: Session; readonly node: tree.TreeNode }[];
  underWay: UnderWay[];
  made: number;
  /** What calls have used more than they were expected to, together, and what was spent without a call. */
  over: number;
  /** D3: answers that may exceed a limit that is reached, in their order. */
  readonly answers: string[];
  /** The most that an answer of a model has used. */
  largest: number;
  /** For each limit of tokens, by its session: what both were when less than it was taken. */
  readonly since: Map<string, { readonly over: number; readonly answers: number }>;
  restored: number;
  /** Those that have asked a model in a turn that began before the limit was reached. */
  readonly openTurns: Set<tree.TreeNode>;
  readonly reached: Record<string, number>;
}

const TREE = { maxChildren: 4, maxDepth: 4 };

type Portion = 'all' | number | { calls?: number; steps?: number; tokens?: number };

type Happening =
  | { readonly kind: 'child'; readonly of: number; readonly portion: Portion; readonly within: number | undefined }
  | { readonly kind: 'call'; readonly of: number; readonly name: string }
  | { readonly kind: 'ask'; readonly of: number; readonly name: string; readonly isOpen: boolean }
  | { readonly kind: 'step' | 'end' | 'take'; readonly of: number }
  | { readonly kind: 'restore' }
  | { readonly kind: 'spend'; readonly of: number; readonly tokens: number }
  | {
      readonly kind: 'settle';
      readonly which: number;
      readonly tokens: number | undefined;
      readonly succeeded: boolean;
    }
  | { readonly kind: 'extend'; readonly of: number; readonly limit: tree.TreeKind; readonly by: number };

const of = fc.nat(30);
const weighted = (weight: number, arbitrary: fc.Arbitrary<Happening>) => ({ weight, arbitrary });
const kinds = <Kind extends string>(...all: Kind[]) => fc.constantFrom(...all);
const happening: fc.Arbitrary<Happening> = fc.oneof(
  weighted(
    3,
    fc.record({
      kind: kinds('child'),
      of,
      within: fc.option(fc.nat(20), { nil: undefined, freq: 2 }),
      portion: fc.oneof(
        fc.constant<Portion>('all'),
        fc.constantFrom<Portion>(0.1, 0.29, 0.5, 1),
        fc.record(
          { calls: fc.constantFrom(1, 3, 50), steps: fc.constantFrom(1, 9), tokens: fc.constantFrom(40, 500) },
          { requiredKeys: [] },
        ),
      ),
    }),
  ),
  weighted(6, fc.record({ kind: kinds('call'), of, name: kinds('read', 'search') })),
  weighted(5, fc.record({ kind: kinds('ask'), of, name: kinds('model:a/b', 'model:a/c'), isOpen: fc.boolean() })),
  weighted(
    9,
    fc.record({
      kind: kinds('settle'),
      which: fc.nat(20),
      tokens: fc.option(fc.constantFrom(0, 1, 7, 40, 90), { nil: undefined }),
      succeeded: fc.boolean(),
    }),
  ),
  weighted(5, fc.record({ kind: kinds('step', 'step', 'step', 'end', 'take'), of })),
  weighted(1, fc.constant({ kind: 'restore' })),
  weighted(1, fc.record({ kind: kinds('spend'), of, tokens: fc.constantFrom(1, 30) })),
  weighted(1, fc.record({ kind: kinds('extend'), of, limit: kinds(...tree.TREE_KINDS), by: fc.constantFrom(1, 5) })),
);

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

const happen = (world: World, what: Happening): void => {
  if (what.kind === 'restore') restore(world);
  else if (what.kind === 'settle') settle(world, what);
  else happenTo(world, at(world.sessions, what.of), what);
};

type One = World['sessions'][number];

const happenTo = (world: World, one: One, what: Extract<Happening, { of: number }>): void => {
  const { model } = world;
  const { session, node } = one;
  switch (what.kind) {
    case 'child':
      begin(world, one, what);
      break;
    case 'call':
      call(world, one, what.name);
      break;
    case 'ask':
      ask(world, one, what);
      break;
    case 'step':
      session.step();
      tree.endStep(model, node);
      break;
    case 'end':
      if (node === model.root) break;
      endAnswer(world, node);
      session.end();
      tree.endNode(model, node);
      break;
    case 'take':
      take(world, one, what.of);
      break;
    case 'spend':
      session.spend({ tokens: what.tokens });
      tree.use(model, node, 'tokens', what.tokens);
      world.over += what.tokens;
      break;
    case 'extend':
      session.extend(what.limit, what.by);
      for (const run of tree.chainOf(tree.payerOf(node))) {
        const limit = run.limits[what.limit];
        if (limit === undefined) continue;
        limit.size += what.by;
        if (what.limit === 'steps') run.isStepOver = false;
      }
  }
};

/** The same child, unless the tree is too large. */
const childOrNone = (make: () => Session): Session | undefined => {
  try {
    return make();
  } catch (error) {
    if ((error as Error).name !== 'ChildLimitError') throw error;
    return undefined;
  }
};

const begin = (
  world: World,
  { session, node }: One,
  { portion, within }: Extract<Happening, { kind: 'child' }>,
): void => {
  const { model } = world;
  world.made += 1;
  const id = `child-${world.made}`;
  const calls = world.underWay.filter(({ permit }) => permit !== undefined);
  const inside = within === undefined || calls.length === 0 ? undefined : at(calls, within);
  const options = { id, portion, ...(inside?.permit && { call: inside.permit }) };
  const child = childOrNone(() => session.child(options));
  if (child === undefined) return;
  if (inside !== undefined) {
    inside.hasChild = true;
    if (inside.fact !== undefined) inside.fact.amount = 0;
  }
  const parent = tree.payerOf(node);
  const limits: tree.TreeNode['limits'] = {};
  for (const kind of tree.TREE_KINDS) {
    const above = tree.chainOf(parent).find((one) => one.limits[kind] !== undefined)?.limits[kind];
    const wanted =
      typeof portion === 'object' ? portion[kind] : Math.floor((above?.size ?? 0) * Number(portion) + 1e-9);
    if (portion === 'all' || wanted === undefined) continue;
    limits[kind] = { size: Math.min(wanted, tree.roomOf(model, parent, kind)), reserves: true };
  }
  const made = tree.newNode(id, limits, parent);
  parent.children.push(made);
  world.sessions.push({ session: child, node: made });
};

const count = ({ reached }: World, what: string): void => {
  reached[what] = (reached[what] ?? 0) + 1;
};

const LIMIT_REASONS = ['limit_reached', 'limit_reserved'];

const call = (world: World, { session, node }: One, name: string): void => {
  const { model } = world;
  const wanted = tree.objectionOf(model, node, false);
  const permit = session.acquire(name);
  if (permit.decision === 'skip' || permit.decision === 'pause') tree.lackStep(model, node);
  if (permit.reason === 'budget_exhausted') {
    session.resume();
    return;
  }
  const reason = LIMIT_REASONS.find((one) => one === permit.reason);
  expect(reason).toBe(wanted);
  if (reason !== undefined) count(world, reason);
  if (permit.decision === 'skip' || permit.decision === 'pause') return;
  const expected = tree.expectedCall(model, node, name);
  tree.use(model, node, 'calls', 1);
  tree.beginStep(model, node);
  const fact = tree.use(model, node, 'tokens', expected, true);
  const end: UnderWay['settle'] = (usage, succeeded) =>
    permit.settle(succeeded ? { outcome: 'success', ...usage } : { outcome: 'failure', category: 'network', ...usage });
  world.underWay.push({ settle: end, name, node, fact, answer: undefined, permit, hasChild: false });
};

const ask = (
  world: World,
  { session, node }: One,
  { name, isOpen: wanted }: Extract<Happening, { kind: 'ask' }>,
): void => {
  const { model } = world;
  const isPaused = tree.objectionOf(model, node, true) !== undefined;
  const isOpen = wanted && !(isPaused && world.openTurns.has(node));
  if (!isPaused) world.openTurns.delete(node);
  else if (isOpen) world.openTurns.add(node);
  const mayAsk = tree.mayAsk(model, node, isOpen);
  expect(askForAnswer(session, isOpen)?.limit === undefined).toBe(mayAsk);
  if (!mayAsk) {
    count(world, 'no answer left');
    return;
  }
  if (isPaused) count(world, node.parent === undefined ? 'last answer of the root' : 'last answer of a child');
  const modelCall: ModelCall = beginModelCall(session, name, 30);
  const payer = tree.payerOf(node);
  const isKept = payer !== model.root && payer.answer?.isUnderWay !== true;
  if (isKept) payer.answer = undefined;
  const wantedTokens = tree.expectedAnswer(model, payer, name, 30);
  const expected = isKept ? wantedTokens : Math.min(wantedTokens, tree.roomOf(model, payer, 'tokens'));
  if (isKept) {
    payer.answer = { name, tokens: expected, next: 0, isUnderWay: true };
    const next = Math.min(tree.expectedAnswer(model, payer, name, 30), tree.roomOf(model, payer, 'tokens'));
    if (!payer.hasLastAnswer) payer.answer.next = next;
    if (isPaused) exceed(world, `${node.id} ${payer.id} ${isOpen ? 'open' : 'last'}`);
  }
  const fact = isKept ? undefined : tree.use(model, payer, 'tokens', expected, true);
  const end: UnderWay['settle'] = (usage, succeeded) => modelCall.end(usage, succeeded);
  world.underWay.push({
    settle: end,
    name,
    node: payer,
    fact,
    answer: isKept ? payer.answer : undefined,
    permit: undefined,
    hasChild: false,
  });
};

/** The session ends while its model answers: a call as any other from then on. */
const endAnswer = (world: World, node: tree.TreeNode): void => {
  const answer = node.ended ? undefined : node.answer;
  const index = world.underWay.findIndex((one) => answer !== undefined && one.answer === answer);
  const one = world.underWay[index];
  if (one === undefined || answer?.isUnderWay !== true) return;
  node.answer = undefined;
  const fact = tree.use(world.model, node, 'tokens', answer.tokens, true);
  world.underWay[index] = { ...one, fact, answer: undefined };
};

const settle = (world: World, { which, tokens, succeeded }: Extract<Happening, { kind: 'settle' }>): void => {
  if (world.underWay.length === 0) return;
  const { model } = world;
  const one = at(world.underWay, which);
  const { node, name, fact, answer } = one;
  world.underWay = world.underWay.filter((other) => other !== one);
  one.settle({ tokens }, succeeded);
  const expected = fact?.amount ?? answer?.tokens ?? 0;
  model.facts = model.facts.filter((other) => other !== fact);
  if (answer !== undefined) Object.assign(answer, { tokens: 0, next: 0 });
  if (one.hasChild) return;
  // A permit leaves out what is no number above 0.
  const said = one.permit !== undefined && tokens === 0 ? undefined : tokens;
  const amount = said ?? (succeeded ? 0 : expected);
  tree.use(model, node, 'tokens', amount);
  world.over += Math.max(0, amount - expected);
  if (succeeded || said !== undefined) tree.reportUsage(model, name, said ?? 0);
  if (answer === undefined) return;
  answer.isUnderWay = false;
  if (node.hasLastAnswer) return;
  answer.next = tree.expectedAnswer(model, node, name, expected);
  exceed(world, `${node.id} kept`);
};

/** D3: an answer of a sub-agent may exceed a limit that is reached. */
const exceed = (world: World, why: string): void => void world.answers.push(`${world.restored} ${why}`);

/** D3: what all may have used beyond a limit since less than it was taken: by more than was expected, or by answers that may exceed it. */
const mostBeyond = (world: World, { id }: tree.TreeNode, isExceeded: boolean): number => {
  const { model, answers, over, since } = world;
  const from = since.get(id) ?? { over: 0, answers: 0 };
  if (!isExceeded) since.set(id, { over, answers: answers.length });
  const reports = [...model.reports].flatMap(([name, all]) => (name.startsWith('model:') ? all : []));
  world.largest = Math.max(world.largest, ...reports);
  const one = new Set(answers.slice(from.answers)).size + 1; // The first exceeds the limit in part.
  return over - from.over + one * world.largest;
};

/** C11: the tree goes on in another process. Its children count as ended, and calls that were under way as they were expected. */
const restore = (world: World): void => {
  const { model } = world;
  const root = world.sessions[0] as One;
  const lives = (node: tree.TreeNode): void => {
    if (node.answer?.isUnderWay) tree.use(model, node, 'tokens', node.answer.tokens);
    for (const child of node.children) lives(child);
  };
  lives(model.root);
  const known = (node: tree.TreeNode): readonly string[] =>
    [...node.children, ...node.kept].flatMap((child) => [child.id, ...known(child)]);
  const ids = new Set(known(model.root));
  for (const fact of model.facts) {
    const above = tree.chainOf(tree.payerOf(fact.of)).filter(({ parent }) => parent !== undefined);
    fact.kept = new Set([...fact.kept, ...above.map(({ id }) => id)].filter((id) => ids.has(id)));
  }
  const again = (node: tree.TreeNode): tree.TreeNode => ({
    ...tree.newNode(node.id, node.limits),
    hasLastAnswer: node.hasLastAnswer,
    inStep: tree.isOpen(node),
    isBefore: node.isBefore,
    kept: [...node.children, ...node.kept].map(again),
  });
  model.root = again(model.root);
  world.restored += 1;
  model.reports = new Map();
  for (const fact of model.facts) Object.assign(fact, { of: model.root, isUnderWay: false });
  world.underWay = [];
  world.sessions = [{ session: inAnotherProcess(root.session, world.box), node: model.root }];
};

/** D1: a child of another process is taken again. */
const take = (world: World, { session, node }: One, which: number): void => {
  const { model } = world;
  const parent = tree.payerOf(node);
  if (parent.kept.length === 0) return;
  const child = at(parent.kept, which);
  const taken = childOrNone(() => session.child({ id: child.id }));
  if (taken === undefined) return;
  const mine = model.facts.filter((fact) => fact.kept.has(child.id));
  for (const kind of tree.TREE_KINDS) {
    const limit = child.limits[kind];
    const used = mine.filter((fact) => fact.kind === kind).reduce((sum, { amount }) => sum + amount, 0);
    if (limit !== undefined) limit.size = Math.min(limit.size, used + tree.roomOf(model, parent, kind));
  }
  if (mine.length > 0) count(world, 'taken');
  parent.kept = parent.kept.filter((one) => one !== child);
  parent.children.push(child);
  child.parent = parent;
  for (const fact of mine) fact.of = child;
  world.sessions.push({ session: taken, node: child });
};

const check = (world: World): void => {
  const { model, sessions } = world;
  for (const { session, node } of sessions) {
    if (node.ended) continue;
    const { limits = [] } = session.view();
    expect(limits.map(({ level }) => level)).toEqual(tree.levelsOf(model, node));
    const shown = limits.filter((limit) => limit.session === node.id);
    const wanted = tree.TREE_KINDS.flatMap((limit) => {
      const size = node.limits[limit]?.size;
      if (size === undefined) return [];
      const used = tree.usedOf(model, node, limit);
      const reserved = tree.heldOf(model, node, limit) - used;
      // Calls and steps never overshoot, tokens by what calls used more than expected, and by answers.
      if (limit !== 'tokens') expect(used + reserved).toBeLessThanOrEqual(size);
      else {
        const taken = used + tree.keptOf(node);
        expect(taken).toBeLessThanOrEqual(size + mostBeyond(world, node, taken > size));
      }
      return [{ limit, size, used, reserved, underWay: tree.underWayOf(model, node, limit) }];
    });
    expect(shown).toMatchObject(wanted);
    expect(shown).toHaveLength(wanted.length);
  }
};

/** Random trees of a run. 10,000 take two minutes. */
const CASES = Number(process.env.BREAKERBOX_MODEL_CASES ?? 300);
vi.setConfig({ testTimeout: 600_000 });

test('D1, D2, D3: in random trees, spent, reserved and under way are never more than a limit, and all comes back', () => {
  const limits = fc.record({
    calls: fc.constantFrom(1, 7, 30),
    steps: fc.constantFrom(3, 20),
    tokens: fc.constantFrom(50, 400),
  });
  const budget = fc.constantFrom<'strict' | false>('strict', false);
  const reached: Record<string, number> = {};
  fc.assert(
    fc.property(limits, budget, fc.array(happening, { maxLength: 80, size: 'max' }), (given, rule, all) => {
      const tools = { read: { failureThreshold: 1_000 }, search: { failureThreshold: 1_000 } };
      const { box, session } = bench({ ...TREE, tools, systemic: false, limits: given, budget: rule });
      const own = (kind: tree.TreeKind) => ({ size: given[kind], reserves: false });
      const root = tree.newNode(session.id, { calls: own('calls'), steps: own('steps'), tokens: own('tokens') });
      const model: tree.Tree = { root, facts: [], reports: new Map() };
      const world: World = {
        model,
        box,
        sessions: [{ session, node: root }],
        underWay: [],
        made: 0,
        over: 0,
        answers: [],
        largest: 0,
        since: new Map(),
        restored: 0,
        openTurns: new Set(),
        reached,
      };
      for (const one of all) {
        happen(world, one);
        check(world);
      }
      if (world.over > 0) count(world, 'over');
      for (let which = world.sessions.length - 1; which > 0; which -= 1) happen(world, { kind: 'end', of: which });
      while (world.underWay.length > 0) happen(world, { kind: 'settle', which: 0, tokens: 0, succeeded: true });
      happen(world, { kind: 'step', of: 0 });
      check(world);
      const last = world.sessions[0]?.session.view().limits ?? [];
      const isInStep = Number(tree.isOpen(model.root)); // It began one.
      expect(last.map(({ reserved, underWay }) => reserved + underWay)).toEqual([0, isInStep, 0]);
    }),
    { numRuns: CASES },
  );
  for (const what of [...LIMIT_REASONS, 'over', 'taken', 'no answer left', 'last answer of a child'])
    expect([what, (reached[what] ?? 0) > CASES / 50]).toEqual([what, true]);
});
