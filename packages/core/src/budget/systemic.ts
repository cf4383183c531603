import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';

/** When openings or failures of several tools count as one event (S1). */
export interface SystemicPolicy {
  /** Number of circuits that opened with the same category. Whole number ≥ 2. Default 2. */
  readonly sameCategory: number;
  /** Number of circuits that opened, of any category. Whole number ≥ 2. Default 3. */
  readonly anyCategory: number;
  /**
   * Number of failures of several tools in one category, with no success of any tool in between, whether or not a circuit is open.
   * Whole number ≥ 2. Default 5.
   */
  readonly sharedFailures: number;
  /** Number of different tools among those failures. Whole number ≥ 2. Default 3. */
  readonly sharedTools: number;
  /** Largest distance in steps between openings or failures that belong together, in a session whose steps advance. Default 10. */
  readonly windowSteps: number;
  /**
   * Largest distance in milliseconds between openings or failures that belong together, if no step lies between them. Default
   * 120,000.
   */
  readonly windowMs: number;
}

export const DEFAULT_SYSTEMIC: SystemicPolicy = {
  sameCategory: 2,
  anyCategory: 3,
  sharedFailures: 5,
  sharedTools: 3,
  windowSteps: 10,
  windowMs: 120_000,
};

/** The name that all of these tools depend on; undefined if they share nothing. */
export type SharedDependency = (tools: readonly string[]) => string | undefined;

/** The group of all of these tools; `group:NAME` is in NAME. Undefined if they have no group in common. */
export type SharedGroup = (tools: readonly string[]) => string | undefined;

/** A circuit that left closed and has not closed since. */
export interface Opening {
  /** The tool, or `group:NAME` for the circuit of a group (C13). */
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  /** Unix milliseconds, for people. */
  readonly unixMs: number;
}

/** What several failures have in common (S4). */
export type SuspectedLayer = 'network' | 'filesystem' | 'permissions' | 'upstream' | 'dependency' | 'group' | 'unknown';

/** A failure of several tools that counts as one event (S4). */
export interface SystemicEvent {
  /** The category that all share; undefined if they differ, and if it is `unknown` (O6). */
  readonly category: ErrorCategory | undefined;
  /** The suspected layer: `dependency` first, then `group`, then the layer that the categories point to. */
  readonly layer: SuspectedLayer;
  /** What all of the tools depend on by their `dependsOn`; undefined if they share nothing. */
  readonly dependency: string | undefined;
  /** The group of all of the tools; undefined if they have none in common. */
  readonly group: string | undefined;
  /**
   * The circuits that opened, first to last, and those that joined while the event lasts. If failures began the event, also tools
   * whose circuits are closed, each with its first failure.
   */
  readonly openings: readonly Opening[];
  /** When it was detected. An event that grows keeps the same object, so that it is recognised as the same event. */
  readonly began?: Moment | undefined;
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
 * Whether two moments of a session are in one window: by steps if any lie between them, otherwise by time. A moment after `to` is
 * in its window.
 */
export const inWindow = (policy: SystemicPolicy, from: Moment, to: Moment): boolean => {
  const steps = to.step - from.step;
  return steps > 0 ? steps <= policy.windowSteps : to.ms - from.ms <= policy.windowMs;
};

/** The report of an event with these openings (S4). */
export const systemicEvent = (
  openings: readonly Opening[],
  sharedDependency?: SharedDependency | undefined,
  sharedGroup?: SharedGroup | undefined,
  began?: Moment | undefined,
): SystemicEvent => {
  const categories = new Set(openings.map(({ category }) => category));
  const [category] = categories;
  const tools = openings.map(({ tool }) => tool);
  const dependency = sharedDependency?.(tools);
  const group = sharedGroup?.(tools);
  return {
    category: categories.size === 1 && category !== 'unknown' ? category : undefined,
    layer: suspected(categories, dependency, group),
    dependency,
    group,
    openings,
    ...(began && { began }),
  };
};

const suspected = (
  categories: ReadonlySet<ErrorCategory>,
  dependency: string | undefined,
  group: string | undefined,
): SuspectedLayer => {
  if (dependency !== undefined) return 'dependency';
  return group === undefined ? layerOf(categories) : 'group';
};

/** The layer that all categories point to. */
const layerOf = (categories: ReadonlySet<ErrorCategory>): SuspectedLayer => {
  const [layer = 'unknown', ...others] = new Set([...categories].map((category) => LAYERS[category] ?? 'unknown'));
  return others.length === 0 ? layer : 'unknown';
};
