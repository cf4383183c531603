import { BreakerboxUsageError, type Check, object, shortName, show } from '../checks/checks.ts';
import { COUNTED_KINDS, type CountedKind, type Limits, type LimitsOptions, limitsOf } from './limits.ts';
import { Run, sumOf } from './run.ts';

/** What a child may use of the limits of its parent (D1). */
export type Portion = 'all' | number | LimitsOptions;

/** D1: how large a tree may be. */
export interface TreeLimits {
  /** Children of one session that live. */
  readonly maxChildren: number;
  /** Levels beneath the root. */
  readonly maxDepth: number;
}

/**
 * `session.child()` was called too often: its parent has 50 children that live (`maxChildren`), or the tree has 5 levels (`maxDepth`). The
 * sub-agent does not begin. Adapters report that to the model as a call that was denied.
 */
export class ChildLimitError extends Error {
  readonly limit: keyof TreeLimits;

  constructor(limit: keyof TreeLimits, message: string) {
    super(message);
    this.name = 'ChildLimitError';
    this.limit = limit;
  }
}

export interface ChildStart {
  readonly id: string;
  readonly name: string | undefined;
  readonly portion: Portion;
}

/** D1: the run of a sub-agent begins. */
export const childOf = (run: Run, { id, name, portion }: ChildStart, tree: TreeLimits, ms: number): Run => {
  const parent = run.payer;
  checkSize(parent, tree);
  for (let above: Run | undefined = parent; above !== undefined; above = above.parent)
    if (above.id === id)
      throw new BreakerboxUsageError(
        `session.child({ id: ${show(id)} }): a session above it has this id. Give another one, or leave it out.`,
      );
  const restored = parent.take(id);
  if (restored !== undefined) return restored;
  const child = new Run({ id, name, limits: limitsFor(parent, portion), beganMs: ms, parent });
  parent.children.push(child);
  for (const kind of COUNTED_KINDS) parent.hold(kind, child.holds(kind));
  return child;
};

const checkSize = (parent: Run, { maxChildren, maxDepth }: TreeLimits): void => {
  let depth = 1;
  for (let above = parent.parent; above !== undefined; above = above.parent) depth += 1;
  if (depth > maxDepth)
    throw new ChildLimitError(
      'maxDepth',
      `A sub-agent may not begin: agents are nested ${maxDepth} levels deep already (maxDepth). Do the work without another sub-agent.`,
    );
  if (parent.children.length >= maxChildren)
    throw new ChildLimitError(
      'maxChildren',
      `A sub-agent may not begin: ${maxChildren} of them are at work already (maxChildren). Wait until one of them has ended.`,
    );
};

/** A part that is no whole number loses the rest, but not because of how fractions are stored. */
const ROUNDING = 1e-9;

/** D1: a number reserves that part of each limit of the parent; limits of its own are reserved where the parent has the same limit. */
const limitsFor = (parent: Run, portion: Portion): Limits => {
  if (portion === 'all') return {};
  const limits: Limits = typeof portion === 'number' ? {} : (limitsOf(portion) ?? {});
  for (const kind of COUNTED_KINDS) {
    const above = nearest(parent, kind);
    const own = limits[kind];
    if (above === undefined || (typeof portion === 'object' && own === undefined)) continue;
    const wanted = own?.size ?? above.size * Number(portion);
    const size = kind === 'cost' ? sumOf(kind, wanted, 0) : Math.floor(wanted + ROUNDING);
    const { mode, currency } = own ?? above;
    if (currency !== above.currency)
      throw new BreakerboxUsageError(
        `session.child({ portion }): portion.cost is in ${show(currency)}, but the limit of the session is in ${show(above.currency)}. Give the same currency.`,
      );
    limits[kind] = { size: Math.min(size, parent.room(kind)), mode, currency, reserves: true };
  }
  return limits;
};

const nearest = (run: Run, kind: CountedKind): Limits[CountedKind] => {
  for (let one: Run | undefined = run; one !== undefined; one = one.parent)
    if (one.limits[kind] !== undefined) return one.limits[kind];
  return undefined;
};

const aPortion =
  (limits: Check): Check =>
  (path, value) => {
    if (value === 'all' || (typeof value === 'number' && value > 0 && value <= 1)) return [];
    if (typeof value === 'object') return limits(path, value);
    const message = `is ${show(value)}. Give 'all', a number above 0 and up to 1, or limits such as { calls: 50 }, or leave it out. By default, a child uses the limits of its parent.`;
    return [{ path, message }];
  };

/** `limits`: checks limits of its own. */
export const childChecks = (limits: Check): Check =>
  object(
    { id: shortName, name: shortName, portion: aPortion(limits), call: () => [] },
    "{ name: 'researcher', portion: 0.25 }",
  );
