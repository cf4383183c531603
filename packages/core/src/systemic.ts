import type { Moment } from './clock.ts';
import type { ErrorCategory } from './outcome/taxonomy.ts';

/** When openings of several circuits are one event (S1). */
export interface SystemicPolicy {
  /** Circuits that opened with the same category. Whole number ≥ 2. Default 2. */
  readonly sameCategory: number;
  /** Circuits that opened, whatever their categories. Whole number ≥ 2. Default 3. */
  readonly anyCategory: number;
  /** Openings this many steps apart still belong together, in a session whose steps advance. Default 10. */
  readonly windowSteps: number;
  /** Openings this many milliseconds apart still belong together, where no step lies between them. Default 120,000. */
  readonly windowMs: number;
}

export const DEFAULT_SYSTEMIC: SystemicPolicy = {
  sameCategory: 2,
  anyCategory: 3,
  windowSteps: 10,
  windowMs: 120_000,
};

/** What a set of tools stands on together, by name; undefined where they share nothing. */
export type SharedDependency = (tools: readonly string[]) => string | undefined;

/** How the openings of a box are looked at beside each other: its policy, and what its tools stand on (S4). */
export interface Correlation extends SystemicPolicy {
  /** Left out where no tool depends on anything. */
  readonly sharedDependency?: SharedDependency | undefined;
}

/** A circuit that left closed and isn't back. */
export interface Opening {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  /** Unix milliseconds, for people. */
  readonly unixMs: number;
}

/** What several failures have in common (S4). */
export type SuspectedLayer = 'network' | 'filesystem' | 'permissions' | 'upstream' | 'dependency' | 'unknown';

/** A failure of several tools that is one event (S4). */
export interface SystemicEvent {
  /** The category all share, or undefined where they differ. */
  readonly category: ErrorCategory | undefined;
  /** `dependency`: the tools stand on something together, which is suspected before what their categories say. */
  readonly layer: SuspectedLayer;
  /** What all of the tools stand on by their `dependsOn`, or undefined where they share nothing. */
  readonly dependency: string | undefined;
  /** The circuits that opened, first to last; those that open while the event lasts join it. */
  readonly openings: readonly Opening[];
}

const LAYERS: Partial<Record<ErrorCategory, SuspectedLayer>> = {
  network: 'network',
  timeout: 'network',
  filesystem: 'filesystem',
  resource: 'filesystem',
  permission: 'permissions',
  server: 'upstream',
  rate_limit: 'upstream',
};

/**
 * Whether two moments of a session lie in one window: by steps if any lie between them, else by time. What
 * lies after `to` lies in its window.
 */
export const inWindow = (policy: SystemicPolicy, from: Moment, to: Moment): boolean => {
  const steps = to.step - from.step;
  return steps > 0 ? steps <= policy.windowSteps : to.ms - from.ms <= policy.windowMs;
};

/** S1: whether the latest opening makes one event of those that are still open. */
export const detectSystemic = (
  openings: readonly Opening[],
  latest: Opening,
  policy: Correlation,
): SystemicEvent | undefined => {
  const together = openings.filter(({ at }) => inWindow(policy, at, latest.at));
  const alike = together.filter(({ category }) => category === latest.category);
  if (alike.length >= policy.sameCategory) return systemicEvent(alike, policy.sharedDependency);
  return together.length >= policy.anyCategory ? systemicEvent(together, policy.sharedDependency) : undefined;
};

/** The report of an event with these openings (S4). */
export const systemicEvent = (
  openings: readonly Opening[],
  sharedDependency: SharedDependency = () => undefined,
): SystemicEvent => {
  const categories = new Set(openings.map(({ category }) => category));
  const [category] = categories;
  const dependency = sharedDependency(openings.map(({ tool }) => tool));
  return {
    category: categories.size === 1 ? category : undefined,
    layer: dependency === undefined ? layerOf(categories) : 'dependency',
    dependency,
    openings,
  };
};

/** The layer that all categories point to. */
const layerOf = (categories: ReadonlySet<ErrorCategory>): SuspectedLayer => {
  const [layer = 'unknown', ...others] = new Set([...categories].map((category) => LAYERS[category] ?? 'unknown'));
  return others.length === 0 ? layer : 'unknown';
};
