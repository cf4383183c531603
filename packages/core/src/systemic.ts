import type { Moment } from './clock.ts';
import type { ErrorCategory } from './outcome/taxonomy.ts';

/** When openings, or failures, of several tools are one event (S1). */
export interface SystemicPolicy {
  /** Circuits that opened with the same category. Whole number ≥ 2. Default 2. */
  readonly sameCategory: number;
  /** Circuits that opened, whatever their categories. Whole number ≥ 2. Default 3. */
  readonly anyCategory: number;
  /** Failures of several tools in one category, with no success of any tool in between, whether or not a circuit is open. Whole number ≥ 2. Default 5. */
  readonly sharedFailures: number;
  /** How many tools those failures must be of. Whole number ≥ 2. Default 3. */
  readonly sharedTools: number;
  /** Openings and failures this many steps apart still belong together, in a session whose steps advance. Default 10. */
  readonly windowSteps: number;
  /** Openings and failures this many milliseconds apart still belong together, where no step lies between them. Default 120,000. */
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

/** What all of these tools depend on, by name; undefined where they share nothing. */
export type SharedDependency = (tools: readonly string[]) => string | undefined;

/** The group that all of these tools are in; `group:NAME` is in NAME. Undefined where they have none in common. */
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

/** A failure of several tools that is one event (S4). */
export interface SystemicEvent {
  /** The category all share; undefined where they differ, and where it is `unknown` (O6). */
  readonly category: ErrorCategory | undefined;
  /** `dependency`, then `group`: what the tools share is suspected before what their categories say. */
  readonly layer: SuspectedLayer;
  /** What all of the tools depend on by their `dependsOn`, or undefined where they share nothing. */
  readonly dependency: string | undefined;
  /** The group that all of the tools are in, or undefined where they have none in common. */
  readonly group: string | undefined;
  /**
   * The circuits that opened, first to last, and those that joined while the event lasts. Of an event that failures made, also tools
   * whose circuits are closed: each with its first failure.
   */
  readonly openings: readonly Opening[];
  /** When it was detected. An event that grows keeps the same object, so that it is known as the same event. */
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
 * Whether two moments of a session lie in one window: by steps if any lie between them, else by time. What
 * lies after `to` lies in its window.
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
