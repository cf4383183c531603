import type { Attributes } from '@opentelemetry/api';
import { warnOnce } from '../warnings.ts';
import type { Exemplar } from './durations.ts';
import { safely } from './safely.ts';

/*
 * What copies of this package of different releases know of one another, where one process holds several: an application's and a
 * plugin's. Each has cells of a shape of its own (process-state.ts), so that each counts for itself; and whoever reads reads all
 * of them, for a series must be reported once, by one, with all that was counted.
 *
 * Frozen: no version stands in the key, because each release has to understand every other. What is here never changes its
 * meaning; what is added has to be optional.
 */

/** A metric as all copies describe it. */
export interface SharedMetric {
  /** OpenTelemetry's name. */
  readonly name: string;
  /** Prometheus' name. */
  readonly prometheus: string;
  readonly unit: string;
  readonly description: string;
  readonly kind: 'counter' | 'updowncounter' | 'gauge' | 'histogram';
  /** Of a histogram: the upper bounds of its buckets but the last, ascending; each belongs to its bucket. */
  readonly bounds?: readonly number[];
}

/** A series of a counter, an up-down counter or a gauge. */
export interface NumberSeries {
  /** The same object at each reading, and not to be written to. */
  readonly attributes: Attributes;
  readonly value: number;
  /** The last sampled call that was counted, if some reader wants to know. */
  readonly exemplar?: Exemplar | undefined;
}

/** A series of a histogram. */
export interface HistogramSeries {
  /** The same object at each reading, and not to be written to. */
  readonly attributes: Attributes;
  /** Calls by bucket, not cumulated; one more than there are bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  /** The last sampled call by bucket, if some reader wants to know. */
  readonly exemplars?: readonly (Exemplar | undefined)[] | undefined;
}

/** A metric as it is now. */
export interface Reading {
  /** None of a histogram. */
  readonly numbers: readonly NumberSeries[];
  /** None of anything else. */
  readonly histograms: readonly HistogramSeries[];
}

/** What copies of one shape have counted. */
export interface Source {
  /** All that it counts. */
  readonly metrics: readonly SharedMetric[];
  /** A metric by OpenTelemetry's name; undefined if it is none of {@link metrics}. */
  read(name: string): Reading | undefined;
  /** Unix milliseconds from which it is counted; 0 if it isn't. */
  sinceMs(name: string): number;
  /** Takes sessions that idle out of the gauges: once before each reading of them. */
  retireIdle(): void;
  /** Readers have come or gone. */
  readersChanged(): void;
}

/** Somebody who reads all sources, besides whatever OpenTelemetry SDK there is. */
export interface ReaderWishes {
  /** Its readings are what the SDK exports: from its instruments it would export all of it a second time. */
  readonly insteadOfSdk: boolean;
  /** Wants to know which calls the numbers are made of. */
  readonly exemplars: boolean;
}

/** What is on globalThis. */
export interface Copies {
  readonly sources: Set<Source>;
  readonly readers: Set<ReaderWishes>;
  /** By meter provider and a metric's name, which source tells it the sums of all. */
  readonly feeders: WeakMap<object, Map<string, Source>>;
  /** Where the copies are installed. */
  homes?: Set<string>;
}

const KEY = Symbol.for('@breakerbox/core:telemetry');

/** What all copies of this package in the process share, of whatever release. */
export const copies = (): Copies => {
  const globals = globalThis as { [KEY]?: Copies };
  globals[KEY] ??= { sources: new Set(), readers: new Set(), feeders: new WeakMap() };
  return globals[KEY];
};

/**
 * Whether this source is the one to tell a meter provider of a metric: the first that asks, until it gives way. The SDK would
 * otherwise take what one copy observes for a correction of what another did.
 */
export const feeds = (provider: object, name: string, source: Source): boolean => {
  const { feeders } = copies();
  const byName = feeders.get(provider) ?? new Map<string, Source>();
  feeders.set(provider, byName);
  if (!byName.has(name)) byName.set(name, source);
  return byName.get(name) === source;
};

/** The source tells this meter provider nothing any more: another may. */
export const giveWay = (provider: object, source: Source): void => {
  const byName = copies().feeders.get(provider);
  for (const [name, feeder] of byName ?? []) if (feeder === source) byName?.delete(name);
};

let isNoticed = false;

/** Warns where the process has another installed copy of this package. Copies in bundles and in workspaces are not known. */
export const noticeCopy = (): void => {
  if (isNoticed) return;
  isNoticed = true;
  safely('looking for other copies of @breakerbox/core', () => {
    const home = homeIn(new Error().stack);
    if (home === undefined) return;
    const all = copies();
    all.homes ??= new Set();
    all.homes.add(home);
    if (all.homes.size > 1) warnOfCopies([...all.homes]);
  });
};

/** The folder of the package in the first line of a stack. `import.meta` would say it too, but not in a bundle for CommonJS. */
export const homeIn = (stack = ''): string | undefined =>
  /^[^\n]*?([^\s(@]*\/node_modules\/(?:\S*?\/)?@breakerbox\/core)\//.exec(stack.replace(/^\w*Error[^\n]*\n/, ''))?.[1];

const warnOfCopies = (homes: readonly string[]): void =>
  warnOnce('BREAKERBOX_TWO_COPIES', '', () => {
    const folders = homes.map((home) => home.slice(home.indexOf('/node_modules/') + 1));
    return `This process has ${homes.length} copies of @breakerbox/core: ${folders.join(' and ')}. An error of one copy is no instanceof a class of the other, and options of a newer release may be unknown to the older one. Install one version: npm ls @breakerbox/core shows which package brings which, and npm dedupe often joins them.`;
  });
