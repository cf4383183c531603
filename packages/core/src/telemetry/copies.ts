import type { Attributes } from '@opentelemetry/api';
import { warnOnce } from '../warnings.ts';
import type { Exemplar } from './durations.ts';
import { safely } from './safely.ts';

/**
 * What copies of this package of different releases know of one another, if one process holds several: an application's and a
 * plugin's. Each copy has series of its own shape (process-state.ts) and counts for itself. A reader reads the series of all
 * copies, because each series must be reported once, by one copy, with the total.
 *
 * Frozen: the key has no version, because each release must understand every other. Fields here never change their meaning, and new
 * fields must be optional.
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
  /** For a histogram: the upper bounds of its buckets except the last, ascending. A bound belongs to its bucket. */
  readonly bounds?: readonly number[];
}

/** A series of a counter, an up-down counter or a gauge. */
export interface NumberSeries {
  /** The same object at each reading. Must not be changed. */
  readonly attributes: Attributes;
  readonly value: number;
  /** The last sampled call that was counted, if a reader asked for it. */
  readonly exemplar?: Exemplar | undefined;
}

/** A series of a histogram. */
export interface HistogramSeries {
  /** The same object at each reading. Must not be changed. */
  readonly attributes: Attributes;
  /** Calls by bucket, not cumulative; one more than there are bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  /** The last sampled call of each bucket, if a reader asked for it. */
  readonly exemplars?: readonly (Exemplar | undefined)[] | undefined;
}

/** A metric as it is now. */
export interface Reading {
  /** Empty for a histogram. */
  readonly numbers: readonly NumberSeries[];
  /** Empty for all other kinds. */
  readonly histograms: readonly HistogramSeries[];
}

/** The numbers of all copies of one shape. */
export interface Source {
  /** All metrics that it counts. */
  readonly metrics: readonly SharedMetric[];
  /** A metric by its OpenTelemetry name; undefined if it is not one of {@link metrics}. */
  read(name: string): Reading | undefined;
  /** Unix milliseconds from which it is counted; 0 if it is not counted. */
  sinceMs(name: string): number;
  /** Removes idle sessions from the gauges. Called once before each reading of them. */
  retireIdle(): void;
  /** Called when readers were added or removed. */
  readersChanged(): void;
}

/** A reader of all sources, beside an OpenTelemetry SDK. */
export interface ReaderWishes {
  /** Whether the SDK exports this reader's readings. From its own instruments it would export everything a second time. */
  readonly insteadOfSdk: boolean;
  /** Whether it wants exemplars: the calls behind the numbers. */
  readonly exemplars: boolean;
}

/** The shared object on globalThis. */
export interface Copies {
  readonly sources: Set<Source>;
  readonly readers: Set<ReaderWishes>;
  /** By meter provider and metric name: the source that reports the totals to it. */
  readonly feeders: WeakMap<object, Map<string, Source>>;
  /** The folders where the copies are installed. */
  homes?: Set<string>;
  /** The metrics were read once: by `startTelemetry()`, or a prom-client registry. */
  wasRead?: boolean;
}

const KEY = Symbol.for('@breakerbox/core:telemetry');

/** The object that all copies of this package in the process share, of any release. */
export const copies = (): Copies => {
  const globals = globalThis as { [KEY]?: Copies };
  globals[KEY] ??= { sources: new Set(), readers: new Set(), feeders: new WeakMap() };
  return globals[KEY];
};

/**
 * Whether this source is the one that reports a metric to a meter provider: the first that asks, until it gives way. Otherwise the
 * SDK would take the observations of one copy for corrections of another's.
 */
export const feeds = (provider: object, name: string, source: Source): boolean => {
  const { feeders } = copies();
  const byName = feeders.get(provider) ?? new Map<string, Source>();
  feeders.set(provider, byName);
  if (!byName.has(name)) byName.set(name, source);
  return byName.get(name) === source;
};

/** The source no longer reports to this meter provider, so another may. */
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
    all.homes.add(folderOf(home));
    if (all.homes.size > 1) warnOfCopies([...all.homes]);
  });
};

/** The folder of the package in the first line of a stack. `import.meta` would give it too, but not in a bundle for CommonJS. */
export const homeIn = (stack = ''): string | undefined =>
  /^[^\n]*?([^\s(@]*\/node_modules\/(?:\S*?\/)?@breakerbox\/core)\//.exec(stack.replace(/^\w*Error[^\n]*\n/, ''))?.[1];

/** Bundlers and loaders give one installation several addresses, which differ before this. */
const folderOf = (home: string): string => home.slice(home.indexOf('/node_modules/') + 1);

const warnOfCopies = (folders: readonly string[]): void =>
  warnOnce(
    'BREAKERBOX_TWO_COPIES',
    '',
    () =>
      `This process has ${folders.length} copies of @breakerbox/core: ${folders.join(' and ')}. An error of one copy is no instanceof a class of the other, and options of a newer release may be unknown to the older one. Install one version: npm ls @breakerbox/core shows which package brings which, and npm dedupe often joins them.`,
  );
