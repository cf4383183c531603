/** A tree of runs as D1 to D3 of behaviour.md say it. Sums are made again from single facts each time they are asked for. */

export const TREE_KINDS = ['calls', 'steps', 'tokens'] as const;
export type TreeKind = (typeof TREE_KINDS)[number];

interface TreeLimit {
  size: number;
  readonly reserves: boolean;
}

export interface TreeNode {
  readonly id: string;
  parent: TreeNode | undefined;
  children: TreeNode[];
  ended: boolean;
  readonly limits: { [kind in TreeKind]?: TreeLimit };
  inStep: boolean;
  /** D2: a session beneath it found no step left, so that no other call of this step may begin. */
  isStepOver: boolean;
  /** D2: `step()` comes before each turn; undefined until it has come. */
  isBefore: boolean | undefined;
  hasLastAnswer: boolean;
  /** D3: the latest answer of its model: what it is expected to use, and what is kept for the next one. */
  answer: { name: string; tokens: number; next: number; isUnderWay: boolean } | undefined;
  /** C11: children that may be taken again. */
  kept: TreeNode[];
}

/** Something that was used, or that is expected to be. */
export interface Fact {
  /** Who used it. Who pays is found again each time. */
  of: TreeNode;
  readonly kind: TreeKind;
  amount: number;
  isUnderWay: boolean;
  /** C11: the children that it belonged to when the tree was kept, and that may be taken again. */
  kept: ReadonlySet<string>;
}

export interface Tree {
  root: TreeNode;
  facts: Fact[];
  /** What calls of a name have used, the latest last. */
  reports: Map<string, number[]>;
}

export const newNode = (id: string, limits: TreeNode['limits'], parent?: TreeNode): TreeNode => ({
  id,
  parent,
  limits,
  children: [],
  ended: false,
  inStep: false,
  isStepOver: false,
  isBefore: undefined,
  hasLastAnswer: false,
  answer: undefined,
  kept: [],
});

/** D1: the nearest session above that lives. The root always pays. */
export const payerOf = (node: TreeNode): TreeNode =>
  node.ended && node.parent !== undefined ? payerOf(node.parent) : node;

const isIn = (node: TreeNode | undefined, tree: TreeNode): boolean =>
  node !== undefined && (node === tree || isIn(node.parent, tree));

export const chainOf = (node: TreeNode | undefined): readonly TreeNode[] =>
  node === undefined ? [] : [node, ...chainOf(node.parent)];

const total = (facts: readonly Fact[]): number => facts.reduce((sum, { amount }) => sum + amount, 0);

const factsOf = ({ facts }: Tree, node: TreeNode, kind: TreeKind): readonly Fact[] =>
  facts.filter((fact) => fact.kind === kind && isIn(payerOf(fact.of), node));

export const usedOf = (tree: Tree, node: TreeNode, kind: TreeKind): number => total(factsOf(tree, node, kind));

/** D2: other calls of the step may begin. */
export const isOpen = ({ inStep, isStepOver }: TreeNode): boolean => inStep && !isStepOver;

/** What may still become less, and of steps the one that `of` is in: its other calls may begin. */
export const underWayOf = (tree: Tree, node: TreeNode, kind: TreeKind, of = node): number =>
  kind === 'steps' ? Number(isOpen(of)) : total(factsOf(tree, node, kind).filter((fact) => fact.isUnderWay));

/** D2: the level of each limit that holds for a session, the nearest first. */
export const levelsOf = (tree: Tree, of: TreeNode): readonly (string | undefined)[] =>
  chainOf(of).flatMap((node) =>
    TREE_KINDS.flatMap((kind) => {
      const limit = node.limits[kind];
      if (limit === undefined) return [];
      const used = takenOf(tree, node, kind) - underWayOf(tree, node, kind, of);
      return [used >= limit.size ? 'reached' : used >= limit.size * 0.8 ? 'advised' : undefined];
    }),
  );

/** D3: what it and its children keep for answers. */
export const keptOf = (node: TreeNode): number =>
  node.children.reduce((sum, child) => sum + keptOf(child), (node.answer?.tokens ?? 0) + (node.answer?.next ?? 0));

export const takenOf = (tree: Tree, node: TreeNode, kind: TreeKind): number =>
  usedOf(tree, node, kind) + (kind === 'tokens' ? keptOf(node) : 0);

/** What is taken, with what living children have reserved beyond that. */
export const heldOf = (tree: Tree, node: TreeNode, kind: TreeKind): number =>
  node.children.reduce(
    (sum, child) => {
      const held = heldOf(tree, child, kind);
      const limit = child.limits[kind];
      return sum + (limit?.reserves ? Math.max(limit.size, held) : held) - takenOf(tree, child, kind);
    },
    takenOf(tree, node, kind),
  );

/** D1: a limit above one that reserves its part looks at what is taken only: the part is this session's. */
const askedOf = (node: TreeNode, kind: TreeKind) => {
  let isOwn = false;
  return chainOf(payerOf(node)).flatMap((run) => {
    const limit = run.limits[kind];
    if (limit === undefined) return [];
    const isOfOthers = !isOwn;
    isOwn ||= limit.reserves;
    return [{ run, limit, isOfOthers }];
  });
};

export const roomOf = (tree: Tree, node: TreeNode, kind: TreeKind): number =>
  askedOf(node, kind).reduce((room, { run, limit, isOfOthers }) => {
    const taken = isOfOthers ? heldOf(tree, run, kind) : takenOf(tree, run, kind);
    return Math.max(0, Math.min(room, limit.size - taken));
  }, Number.POSITIVE_INFINITY);

/** D2, D1: why no call may begin; undefined if one may. */
export const objectionOf = (tree: Tree, node: TreeNode, isModel: boolean): string | undefined => {
  const kinds = TREE_KINDS.filter((kind) => kind !== 'steps' || !isOpen(payerOf(node)));
  const isReached = kinds.some((kind) =>
    askedOf(node, kind).some(({ run, limit }) => takenOf(tree, run, kind) >= limit.size),
  );
  if (isReached) return 'limit_reached';
  const reserving = isModel ? (['tokens'] as const) : kinds;
  const isReserved = reserving.some((kind) =>
    askedOf(node, kind).some(({ run, limit, isOfOthers }) => isOfOthers && heldOf(tree, run, kind) >= limit.size),
  );
  return isReserved ? 'limit_reserved' : undefined;
};

export const use = (tree: Tree, of: TreeNode, kind: TreeKind, amount: number, isUnderWay = false): Fact => {
  const same = tree.facts.find(
    (fact) => fact.of === of && fact.kind === kind && !fact.isUnderWay && fact.kept.size === 0,
  );
  const fact: Fact = { of, kind, amount, isUnderWay, kept: new Set() };
  if (same !== undefined && !isUnderWay) same.amount += amount;
  else tree.facts.push(fact);
  return fact;
};

/** D2: a step counts from its beginning, if there is room for one. */
export const beginStep = (tree: Tree, node: TreeNode): void => {
  const payer = payerOf(node);
  if (payer.inStep) return;
  if (roomOf(tree, payer, 'steps') < 1) {
    lackStep(tree, payer);
    return;
  }
  payer.inStep = true;
  payer.isStepOver = false;
  use(tree, payer, 'steps', 1);
};

/** D2: the step of a session is over once a session beneath it finds none left. */
export const lackStep = (tree: Tree, node: TreeNode): void => {
  const payer = payerOf(node);
  if (payer.inStep) return;
  const isFull = (run: TreeNode) => usedOf(tree, run, 'steps') >= (run.limits.steps?.size ?? Number.POSITIVE_INFINITY);
  for (const above of chainOf(payer.parent)) above.isStepOver ||= chainOf(above).some(isFull);
};

/** D2: after a turn, one without a call counts now. Before each turn, the next one begins. */
export const endStep = (tree: Tree, node: TreeNode): void => {
  const payer = payerOf(node);
  payer.isBefore ??= !payer.inStep;
  const hasCalls = payer.inStep;
  payer.inStep = false;
  if (hasCalls && !payer.isBefore) return;
  beginStep(tree, payer);
  payer.inStep &&= payer.isBefore;
};

const mostOf = ({ reports }: Tree, name: string): number => Math.max(0, ...(reports.get(name) ?? []).slice(-20));

/** D3: the most that one of the last 20 calls has used, and no more than is left. */
export const expectedCall = (tree: Tree, node: TreeNode, name: string): number =>
  Math.min(mostOf(tree, name), roomOf(tree, node, 'tokens'));

/** D3: the same of an answer, also if less is left. Until a model has reported something, a guess. */
export const expectedAnswer = (tree: Tree, node: TreeNode, name: string, most: number): number => {
  if (tree.reports.has(name)) return mostOf(tree, name);
  const limit = chainOf(payerOf(node)).find(({ limits }) => limits.tokens !== undefined)?.limits.tokens;
  return Math.min(Math.floor(Math.min((limit?.size ?? 0) / 50, roomOf(tree, node, 'tokens') / 2)), most);
};

export const reportUsage = ({ reports }: Tree, name: string, tokens: number): void => {
  if (tokens === 0 && !reports.has(name)) return;
  reports.set(name, [...(reports.get(name) ?? []), tokens]);
};

/** D2: whether a model may be asked. `isOpen`: its turn began before the limit was reached. */
export const mayAsk = (tree: Tree, node: TreeNode, isOpen: boolean): boolean => {
  const payer = payerOf(node);
  const objection = objectionOf(tree, node, true);
  const isReached = levelsOf(tree, payer).includes('reached');
  if (objection === undefined || (objection === 'limit_reached' && !isReached)) {
    node.hasLastAnswer = false;
    beginStep(tree, node);
    return true;
  }
  lackStep(tree, node);
  const hasBegun = payer === tree.root || payer.answer !== undefined || usedOf(tree, payer, 'tokens') > 0;
  if ((node.hasLastAnswer && !isOpen) || !(hasBegun || roomOf(tree, payer, 'tokens') > 0)) return false;
  node.hasLastAnswer = !isOpen;
  return true;
};

/** D1: what it used stays with the session above, and what it has not used comes back. */
export const endNode = (tree: Tree, node: TreeNode): void => {
  const { parent, answer } = node;
  if (node.ended || parent === undefined) return;
  node.inStep = false;
  node.answer = undefined;
  if (answer?.isUnderWay) use(tree, node, 'tokens', answer.tokens, true);
  node.ended = true;
  parent.kept.push(...node.kept.splice(0));
  for (const child of node.children) child.parent = parent;
  parent.children = [...parent.children.filter((one) => one !== node), ...node.children.splice(0)];
};
