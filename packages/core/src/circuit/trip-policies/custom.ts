import { type Check, functions, isRecord, oneOf, optional, orLeaveOut, text } from '../../checks/checks.ts';
import { ERROR_CATEGORIES, type ErrorCategory } from '../../classify/taxonomy.ts';
import { atOnce, safely } from '../../safely.ts';
import type { CountedCall, TripPolicy } from './trip-policy.ts';

/** A call that is over and counts, as your own trip policy sees it. */
export interface TripCall {
  /** Undefined if the call succeeded. */
  readonly category: ErrorCategory | undefined;
  /** Milliseconds. */
  readonly durationMs: number;
  /** Tokens that the call has cost; 0 if unknown (O4). */
  readonly tokens: number;
  /**
   * Monotonic milliseconds. Only differences to those of earlier calls mean something. Counts may keep it: in a session that is
   * restored, the time between counts as passed (C11).
   */
  readonly ms: number;
}

/**
 * A trip policy of your own (C3): it opens the circuit beside the built-in ones. Both functions must be pure and fast, because they run in
 * the decision. An error in them, or a promise, goes to OpenTelemetry's `diag`. In `record`, the call then counts for nothing here, and
 * earlier counts stay. In `tripped`, the circuit does not open here with this call. Counts begin again when the circuit closes.
 *
 * @example Opens when a paid tool has failed three times in all since the circuit last closed
 * ```ts
 * const thrice: CustomTripPolicy<number> = {
 *   name: 'thrice',
 *   record: (failures = 0, { category }) => (category === undefined ? failures : failures + 1),
 *   tripped: (failures) => failures >= 3,
 * };
 * createBreakerbox({ agent: 'research-agent', tools: { paid_search: { trip: thrice } } });
 * ```
 */
export interface CustomTripPolicy<Counts = unknown> {
  /** For snapshots: counts of another name are not read. Not empty. */
  readonly name: string;
  /** The counts after one more call. `undefined` keeps nothing. Return plain JSON if you take snapshots. */
  record(counts: Counts | undefined, call: TripCall): Counts | undefined;
  /** Whether the circuit opens with this call, which the counts contain. */
  tripped(counts: Counts, call: TripCall): boolean;
  /** The category of an opening by a call that succeeded. Default: that of the latest failure. */
  readonly category?: ErrorCategory;
}

export interface CustomCounts {
  readonly of: string;
  readonly counts: unknown;
  /** Added to the clock for {@link TripCall.ms}, after a restore: the clock of another process begins elsewhere. */
  readonly aheadMs: number;
  /** `record` failed at the latest call, which these counts do not contain. */
  readonly isWithoutLatest?: true;
}

const check: Check = (path, value) => {
  const issues = functions(['record', 'tripped'], 'they say when the circuit opens.')(path, value);
  if (issues.length > 0) return issues;
  const { name, category } = value as CustomTripPolicy;
  return [...named(`${path}.name`, name), ...known(`${path}.category`, category)];
};

const named = text('snapshots know its counts by it.', 'name');

const known = optional(oneOf(ERROR_CATEGORIES, orLeaveOut('Then it is that of the latest failure.')));

/** C11: what {@link TripCall.ms} was when the snapshot was taken. Older snapshots do not say it. */
interface CustomCountsSnapshot extends Pick<CustomCounts, 'of' | 'counts'> {
  readonly ms?: number;
}

const callOf = ({ category, durationMs = 0, tokens = 0 }: CountedCall, ms: number): TripCall => ({
  category,
  durationMs,
  tokens,
  ms,
});

/** Types forbid promises, but not every caller has types. A promise is an error as one that is thrown: undefined. */
const answerOf = <T>(what: string, ask: () => T): { readonly answer: T } | undefined =>
  safely(what, () => ({ answer: atOnce(what, ask()) }));

const asWritten: Check = (path, value) =>
  isRecord(value) && typeof value.of === 'string' && (value.ms === undefined || Number.isFinite(value.ms))
    ? []
    : [{ path, message: 'is not what snapshot(session) wrote.' }];

export const customTrip = {
  name: 'custom',
  setting: 'trip',
  checks: { trip: check },
  resolve: ({ trip }) => ({ trip }),
  record: (kept, call, { trip }, ms) => {
    if (trip === undefined) return undefined;
    const before = kept?.of === trip.name ? kept : undefined;
    const aheadMs = before?.aheadMs ?? 0;
    const next = answerOf('record() of a trip policy', () => trip.record(before?.counts, callOf(call, ms + aheadMs)));
    if (next === undefined) return before && { ...before, isWithoutLatest: true };
    return next.answer === undefined ? undefined : { of: trip.name, counts: next.answer, aheadMs };
  },
  tripped: ({ counts, aheadMs, isWithoutLatest }, call, { trip }, ms) =>
    !isWithoutLatest &&
    answerOf('tripped() of a trip policy', () => trip?.tripped(counts, callOf(call, ms + aheadMs)))?.answer === true,
  snapshot: {
    write: ({ of, counts, aheadMs }, ms) => ({ of, counts, ms: ms + aheadMs }),
    check: asWritten,
    read: (kept, now) => {
      const { of, counts, ms = now } = kept as CustomCountsSnapshot;
      return { of, counts, aheadMs: ms - now };
    },
  },
} as const satisfies TripPolicy<
  { readonly trip?: CustomTripPolicy | undefined },
  { readonly trip: CustomTripPolicy | undefined },
  CustomCounts
>;
