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

/** A circuit that left closed and isn't back. */
export interface Opening {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  /** Unix milliseconds, for people. */
  readonly unixMs: number;
}

/** What several failures have in common (S4). */
export type SuspectedLayer = 'network' | 'filesystem' | 'permissions' | 'upstream' | 'unknown';

/** A failure of several tools that is one event (S4). */
export interface SystemicEvent {
  /** The category all share, or undefined where they differ. */
  readonly category: ErrorCategory | undefined;
  readonly layer: SuspectedLayer;
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

/** Whether two moments of a session lie in one window: by steps if any lie between them, else by time. */
export const inWindow = (policy: SystemicPolicy, from: Moment, to: Moment): boolean => {
  const steps = to.step - from.step;
  return steps > 0 ? steps <= policy.windowSteps : to.ms - from.ms <= policy.windowMs;
};

/** S1: whether the latest opening makes one event of those that are still open. */
export const detectSystemic = (
  openings: readonly Opening[],
  latest: Opening,
  policy: SystemicPolicy,
): SystemicEvent | undefined => {
  const together = openings.filter(({ at }) => inWindow(policy, at, latest.at));
  const alike = together.filter(({ category }) => category === latest.category);
  if (alike.length >= policy.sameCategory) return systemicEvent(alike);
  return together.length >= policy.anyCategory ? systemicEvent(together) : undefined;
};

/** The report of an event with these openings. */
export const systemicEvent = (openings: readonly Opening[]): SystemicEvent => {
  const layers = new Set(openings.map(({ category }) => LAYERS[category] ?? 'unknown'));
  const categories = new Set(openings.map(({ category }) => category));
  const [layer = 'unknown'] = layers;
  const [category] = categories;
  return {
    category: categories.size === 1 ? category : undefined,
    layer: layers.size === 1 ? layer : 'unknown',
    openings,
  };
};
