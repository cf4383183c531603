import { type Check, complete, nullable, optional } from '../../checks/checks.ts';
import { consecutiveFailures } from './consecutive.ts';
import { customTrip } from './custom.ts';
import { type FailedKeys, failedKeys } from './keys.ts';
import { failureRate, slowCallRate } from './rate.ts';
import type { CountedCall, TripPolicy } from './trip-policy.ts';
import { wastedTokens } from './wasted-tokens.ts';

/** All trip policies. If one call reaches several limits, the first in this list opens the circuit (C3). */
const REGISTERED = [consecutiveFailures, failedKeys, failureRate, slowCallRate, wastedTokens, customTrip] as const;

type Registered = (typeof REGISTERED)[number];

const TRIP_POLICIES: readonly (TripPolicy & { readonly name: Registered['name'] })[] = REGISTERED;

type All<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer Every) => void
  ? Every
  : never;

/** The settings of all trip policies with their defaults, which a circuit's policy contains. */
export type ResolvedTrips = All<ReturnType<Registered['resolve']>>;

/** Checks of the settings of all trip policies (E6). */
export const TRIP_CHECKS: Readonly<All<Registered['checks']>> = Object.assign(
  {},
  ...TRIP_POLICIES.map(({ checks }) => checks),
);

export const resolveTrips = (settings: All<Parameters<Registered['resolve']>[0]>): ResolvedTrips =>
  Object.assign({}, ...TRIP_POLICIES.map((one) => one.resolve(settings)));

/**
 * What opened a circuit (C3): the name of a trip policy; `probe`: it was open, and a probe failed; `transport`: a group's
 * connection ended; `unusable`: the tool has failed with every input so far; `fleet`: other processes found that it fails.
 */
export type Trip = Registered['name'] | (typeof OTHER_TRIPS)[number];

const OTHER_TRIPS = ['probe', 'transport', 'unusable', 'fleet'] as const;

export const TRIPS: readonly Trip[] = [...TRIP_POLICIES.map(({ name }) => name), ...OTHER_TRIPS];

/** What the trip policies have counted for a closed circuit, by their names. */
export type Counts = Readonly<Record<string, unknown>>;

/** The counts after one more call; undefined if there is nothing to keep. */
export const recordCall = (
  counts: Counts | undefined,
  call: CountedCall,
  policy: ResolvedTrips,
  ms: number,
): Counts | undefined => {
  let next: Record<string, unknown> | undefined;
  for (const one of TRIP_POLICIES) {
    const before = counts?.[one.name];
    let kept = before;
    if (isFor(one, call)) kept = isSet(one, policy) ? one.record(before, call, policy, ms) : undefined;
    if (kept === undefined) continue;
    next ??= {};
    next[one.name] = kept;
  }
  return next;
};

/** The trip policy that opens the circuit with this call, if any. */
export const trippedBy = (counts: Counts = {}, call: CountedCall, policy: ResolvedTrips, ms: number) =>
  TRIP_POLICIES.find(
    (one) => isFor(one, call) && counts[one.name] !== undefined && one.tripped(counts[one.name], call, policy, ms),
  );

/** Most tools set one policy, which costs them no other. */
const isSet = ({ setting }: TripPolicy, policy: ResolvedTrips): boolean =>
  setting === undefined || policy[setting as keyof ResolvedTrips] !== undefined;

/** C14: failures that blame their keys count in no other policy. */
const isFor = ({ countsOfKey }: TripPolicy, { ofKey }: CountedCall): boolean => !ofKey || countsOfKey === true;

/** C14: the number of keys that have failed in a row. */
export const keysInRow = (counts: Counts | undefined): number =>
  (counts?.[failedKeys.name] as FailedKeys | undefined)?.row.length ?? 0;

/** Whether successes count too, because a rate, tokens or a trip policy are configured. Otherwise a success only ends the failures in a row. */
export const countsSuccesses = (policy: ResolvedTrips): boolean =>
  policy.trip !== undefined || recordCall(undefined, { category: undefined }, policy, 0) !== undefined;

/** The counts of a closed circuit as plain JSON (C11): each trip policy writes its own, by its name. */
export type CountsSnapshot = Readonly<Record<string, unknown>>;

/** The counts at `ms`; null if it has no counts. */
export const snapshotOfCounts = (counts: Counts | undefined, ms: number): CountsSnapshot | null =>
  counts === undefined ? null : mapped(counts, ({ snapshot }, kept) => snapshot.write(kept, ms));

/** The counts in a checked snapshot, on a clock that shows `ms` now. */
export const countsFrom = (kept: CountsSnapshot | null, ms: number): Counts | undefined =>
  kept === null ? undefined : mapped(kept, ({ snapshot }, one) => snapshot.read(one, ms));

const mapped = (counts: Counts, change: (policy: TripPolicy, kept: unknown) => unknown): Counts =>
  Object.fromEntries(
    TRIP_POLICIES.filter(({ name }) => counts[name] !== undefined).map((one) => [
      one.name,
      change(one, counts[one.name]),
    ]),
  );

/** Rejects a value that {@link snapshotOfCounts} can't have written; null is allowed. */
export const checkCounts: Check = nullable(
  complete(Object.fromEntries(TRIP_POLICIES.map(({ name, snapshot }) => [name, optional(snapshot.check)]))),
);
