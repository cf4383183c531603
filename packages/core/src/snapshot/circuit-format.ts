import { isSpanContextValid } from '@opentelemetry/api';
import type { Ledger } from '../budget/ledger.ts';
import { type Charge, NONE_EARLIER, type StrictBudget, summedUp } from '../budget/strict.ts';
import { type Correlation, type Opening, type SharedBy, systemicEvent } from '../budget/systemic.ts';
import {
  callsSince,
  DEFAULT_WINDOW_CALLS,
  type WindowBudget,
  type WindowCharge,
  withCharges,
} from '../budget/window.ts';
import {
  AS_WRITTEN,
  anyName,
  type Check,
  complete,
  writtenCount as count,
  list,
  nullable,
  number,
  oneOf,
  optional,
  show,
  toolName,
} from '../checks/checks.ts';
import { CIRCUIT_MODES, type Circuit, closedCircuit } from '../circuit/circuit.ts';
import type { Outage } from '../circuit/schedule.ts';
import { checkCounts, countsFrom, snapshotOfCounts, TRIPS } from '../circuit/trip-policies/trip-policies.ts';
import { ERROR_CATEGORIES } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { KeptCircuit } from '../tracked-circuit.ts';
import type {
  ChargeSnapshot,
  CircuitSnapshot,
  FailedMomentSnapshot,
  KeySnapshot,
  LedgerSnapshot,
  MomentSnapshot,
  OpeningSnapshot,
  OutageSnapshot,
  ProvisionalSnapshot,
  StrictBudgetSnapshot,
  WindowBudgetSnapshot,
  WindowChargeSnapshot,
} from './session-snapshot.ts';

/** How a value is written into a snapshot, checked, and read back (C11). `now` is on the clock of the process that writes or reads. */
export interface Format<Live, Kept> {
  write(live: Live, now: Moment): Kept;
  readonly check: Check;
  /** Reads what `check` has accepted. */
  read(kept: Kept, now: Moment): Live;
}

/** A value that is written as it is. */
const plain = <Value>(check: Check): Format<Value, Value> => ({ write: (one) => one, check, read: (one) => one });

/** A value that may be missing: null in the snapshot. */
const orNull = <Live, Kept>(one: Format<Live, Kept>): Format<Live | undefined, Kept | null> => ({
  write: (live, now) => (live === undefined ? null : one.write(live, now)),
  check: nullable(one.check),
  read: (kept, now) => (kept === null ? undefined : one.read(kept, now)),
});

const listOf = <Live, Kept>(one: Format<Live, Kept>): Format<readonly Live[], readonly Kept[]> => ({
  write: (live, now) => live.map((each) => one.write(each, now)),
  check: list(one.check),
  read: (kept, now) => kept.map((each) => one.read(each, now)),
});

/** An object with these keys. What has no value is left out. */
const fields = <Live extends object, Kept extends object>(
  of: {
    readonly [Key in keyof Kept]-?: Format<Key extends keyof Live ? Live[Key] : never, Kept[Key]>;
  },
): Format<Live, Kept> => {
  const formats = Object.entries(of) as [string, Format<unknown, unknown>][];
  const mapped = (from: object, change: (one: Format<unknown, unknown>, value: unknown) => unknown) =>
    Object.fromEntries(
      formats.flatMap(([key, one]) => {
        const value = change(one, (from as Record<string, unknown>)[key]);
        return value === undefined ? [] : [[key, value]];
      }),
    );
  return {
    write: (live, now) => mapped(live, (one, value) => one.write(value, now)) as Kept,
    check: complete(Object.fromEntries(formats.map(([key, { check }]) => [key, check]))),
    read: (kept, now) => mapped(kept, (one, value) => one.read(value, now)) as Live,
  };
};

/** Far more than any session reaches, and far less than where adding 1 changes nothing. */
const MOST = 2 ** 50;
const positive = number(1, AS_WRITTEN, { whole: true, most: MOST });
const ms = number(0, AS_WRITTEN, { most: MOST });
const tokens = plain<number>(number(0, AS_WRITTEN, { most: Number.MAX_SAFE_INTEGER }));
const yesOrNo = oneOf([true, false], AS_WRITTEN);
const aCategory = oneOf(ERROR_CATEGORIES, AS_WRITTEN);

const name = plain<string>(anyName);
const category = plain<Opening['category']>(aCategory);
const limits = { limit: plain<number>(positive), cycle: plain<number>(positive), consumed: plain<number>(count) };
const tokenLimit = orNull(plain<number>(positive));

/** What is `true` or left out. */
const mark: Format<true | undefined, boolean> = {
  write: (live) => live === true,
  check: yesOrNo,
  read: (kept) => kept || undefined,
};

/** A user's clock may return anything. */
export const unixMs: Format<number, number> = {
  write: (live) => (live > 0 && Number.isFinite(live) ? live : 0),
  check: number(0, AS_WRITTEN, { most: Number.MAX_SAFE_INTEGER }),
  read: (kept) => kept,
};

const moment: Format<Moment, MomentSnapshot> = {
  write: ({ step, ms: then }, now) => ({ step, ageMs: Math.max(0, now.ms - then) }),
  check: complete({ step: count, ageMs: ms } satisfies Record<keyof MomentSnapshot, Check>),
  read: ({ step, ageMs }, now) => ({ ms: now.ms - ageMs, step, stepMs: now.ms - ageMs }),
};

const failedMoment: Format<Moment, FailedMomentSnapshot> = {
  write: (at, now) => ({ ...moment.write(at, now), calls: callsSince(at, now) }),
  check: complete({ step: count, ageMs: ms, calls: optional(count) } satisfies Record<
    keyof FailedMomentSnapshot,
    Check
  >),
  read: (kept, now) => ({ ...moment.read(kept, now), calls: (now.calls ?? 0) - (kept.calls ?? 1) }),
};

const opening = fields<Opening, OpeningSnapshot>({ tool: name, category, at: moment, unixMs });

const windowCharge = fields<WindowCharge, WindowChargeSnapshot>({
  tool: name,
  category,
  at: failedMoment,
  provisional: plain(yesOrNo),
  event: mark,
  since: orNull(plain<'success' | 'closing'>(oneOf(['success', 'closing'], AS_WRITTEN))),
  uncapped: mark,
  count: { write: (live = 1) => live, check: positive, read: (kept) => (kept > 1 ? kept : undefined) },
});

const windowBudget = fields<Omit<WindowBudget, 'remaining'>, WindowBudgetSnapshot>({
  rule: plain(oneOf(['window'], AS_WRITTEN)),
  ...limits,
  tokenLimit,
  windowSteps: plain(positive),
  windowMs: plain(ms),
  windowCalls: { write: (live) => live, check: optional(positive), read: (kept = DEFAULT_WINDOW_CALLS) => kept },
  charges: listOf(windowCharge),
  spent: listOf(
    fields<WindowBudget['spent'][number], WindowBudgetSnapshot['spent'][number]>({ at: failedMoment, tokens }),
  ),
});

const charge = fields<Charge, ChargeSnapshot>({ tool: name, category, tokens, at: moment, event: mark });

/** Its provisional charges are those of a snapshot already, because they refer to openings. */
type StrictWithKept = Omit<StrictBudget, 'provisional'> & Pick<StrictBudgetSnapshot, 'provisional'>;

const beside = { beside: nullable(count) };
const aProvisional = { tool: anyName, category: aCategory, tokens: tokens.check, at: moment.check, ...beside };

const strictBudget = fields<StrictWithKept, StrictBudgetSnapshot>({
  rule: plain(oneOf(['strict'], AS_WRITTEN)),
  ...limits,
  tokenLimit,
  granted: plain(count),
  charges: listOf(charge),
  earlier: {
    write: (live) => (live.failures > 0 ? live : undefined),
    check: optional(complete({ failures: count, tokens: tokens.check, priced: count })),
    read: (kept = NONE_EARLIER) => kept,
  },
  provisional: plain(list(complete(aProvisional satisfies Record<keyof ProvisionalSnapshot, Check>))),
});

/** An opening is referred to by its place. If that is null, its circuit has closed: the charge counts with the next call. */
const writeStrict = (budget: StrictBudget, openings: readonly Opening[], now: Moment): StrictBudgetSnapshot => {
  const provisional = budget.provisional.map(({ anchor, ...one }) => {
    const { event: _, ...kept } = charge.write(one, now);
    const place = openings.findIndex(({ tool, at }) => tool === anchor.tool && at === anchor.at);
    return { ...kept, beside: place === -1 ? null : place };
  });
  return strictBudget.write({ ...budget, provisional }, now);
};

const readStrict = (kept: StrictBudgetSnapshot, openings: readonly Opening[], now: Moment): StrictBudget => {
  const { charges, earlier, provisional, ...budget } = strictBudget.read(kept, now);
  const waiting = provisional.map(({ beside: place, ...one }) => {
    const { tool, at, ...rest } = charge.read({ ...one, event: false }, now);
    const anchor = (place === null ? undefined : openings[place]) ?? { tool, at };
    return { tool, at, ...rest, anchor: { tool: anchor.tool, at: anchor.at } };
  });
  return { ...budget, ...summedUp(earlier, charges), provisional: waiting };
};

/** A ledger, with the failures of several tools that it is charged by. `shared`: what the tools of an event share, for reading. */
export interface KeptLedger {
  readonly ledger: Ledger;
  readonly correlation: Correlation;
}

const openings = listOf(opening);
const event = orNull(openings);

export const ledger = {
  write: ({ ledger: { budget, paid, exhausted }, correlation }: KeptLedger, now: Moment): LedgerSnapshot => ({
    budget: budget.rule === 'window' ? windowBudget.write(budget, now) : writeStrict(budget, correlation.openings, now),
    exhausted,
    openings: openings.write(correlation.openings, now),
    ...(correlation.sinceSuccess.length > 0 && { sinceSuccess: correlation.sinceSuccess }),
    failures: openings.write(correlation.failures, now),
    event: event.write(correlation.event?.openings, now),
    paid: correlation.event !== undefined && paid,
  }),
  check: complete({
    budget: (path, value) =>
      ((value ?? {}) as { rule?: unknown }).rule === 'strict'
        ? strictBudget.check(path, value)
        : windowBudget.check(path, value),
    exhausted: yesOrNo,
    openings: openings.check,
    sinceSuccess: optional(list(anyName)),
    failures: openings.check,
    event: event.check,
    paid: yesOrNo,
  } satisfies Record<keyof LedgerSnapshot, Check>),
  read: (kept: LedgerSnapshot, now: Moment, shared: SharedBy | undefined): KeptLedger => {
    const opened = openings.read(kept.openings, now);
    const joined = event.read(kept.event, now);
    const correlation: Correlation = {
      openings: opened,
      sinceSuccess: kept.sinceSuccess ?? [],
      failures: openings.read(kept.failures, now),
      event: joined && systemicEvent(joined, shared, joined.at(-1)?.at),
    };
    const budget =
      kept.budget.rule === 'window'
        ? withCharges(windowBudget.read(kept.budget, now))
        : readStrict(kept.budget, opened, now);
    return { correlation, ledger: { budget, event: correlation.event, paid: kept.paid, exhausted: kept.exhausted } };
  },
};

/** The same with the names of a snapshot. */
interface NamedOutage extends Omit<Outage, 'openedAt' | 'notBeforeMs' | 'held'> {
  readonly opened: Moment;
}

const outage = fields<NamedOutage, OutageSnapshot>({
  category,
  trip: orNull(plain<NonNullable<Outage['trip']>>(oneOf(TRIPS, AS_WRITTEN))),
  opened: moment,
  waitMs: plain(ms),
  waitFrom: orNull(moment),
  rung: { write: (live) => live || undefined, check: optional(count), read: (kept) => kept },
  ladder: orNull(
    fields<NonNullable<Outage['ladder']>, NonNullable<OutageSnapshot['ladder']>>({
      rung: plain(count),
      dueStep: plain(count),
    }),
  ),
  probedBy: orNull(name),
});

type StateSnapshot = Omit<KeySnapshot, 'key'>;

const writeState = (of: Circuit, now: Moment): StateSnapshot => {
  const { notBeforeMs } = of.state === 'closed' ? of : of.outage;
  return {
    state: of.state,
    generation: of.generation,
    counts: of.state === 'closed' ? snapshotOfCounts(of.counts, now.ms) : null,
    succeeded: of.state === 'half_open' ? of.succeeded : 0,
    retryAfterMs: Math.max(0, notBeforeMs - now.ms),
    outage: of.state === 'closed' ? null : outage.write({ ...of.outage, opened: of.outage.openedAt }, now),
  };
};

const stateChecks = {
  state: oneOf(['closed', 'open', 'half_open'], AS_WRITTEN),
  generation: count,
  counts: checkCounts,
  succeeded: count,
  retryAfterMs: ms,
  outage: nullable(outage.check),
} satisfies Record<keyof StateSnapshot, Check>;

const readState = (kept: StateSnapshot & Partial<Pick<CircuitSnapshot, 'latest'>>, now: Moment): Circuit => {
  const { state, generation, latest, succeeded, retryAfterMs } = kept;
  const notBeforeMs = retryAfterMs > 0 ? now.ms + retryAfterMs : 0;
  if (state === 'closed' || kept.outage === null) {
    const counts = countsFrom(kept.counts, now.ms);
    return { ...closedCircuit(generation), notBeforeMs, latest: latest ?? undefined, counts };
  }
  const { opened, ...rest } = outage.read(kept.outage, now);
  const read: Outage = { ...rest, openedAt: opened, notBeforeMs };
  return state === 'open'
    ? { state, generation, outage: read }
    : { state, generation, outage: read, leases: [], succeeded, issued: 0 };
};

const hex =
  (digits: number, form = /^[0-9a-f]+$/i): Check =>
  (path, value) =>
    typeof value === 'string' && value.length === digits && form.test(value)
      ? []
      : [{ path, message: `is ${show(value)}. Set ${digits} hexadecimal digits${AS_WRITTEN}` }];

/** A circuit, with the name of its tool or group. */
export const circuit: Format<readonly [string, KeptCircuit], CircuitSnapshot> = {
  write: ([tool, { mode, circuit: of, openedBy, keys, isControlled }], now) => ({
    tool,
    mode,
    ...(isControlled && { controlled: isControlled }),
    latest: (of.state === 'closed' ? of.latest : undefined) ?? null,
    ...writeState(of, now),
    openedBy:
      openedBy && isSpanContextValid(openedBy)
        ? { traceId: openedBy.traceId, spanId: openedBy.spanId, traceFlags: openedBy.traceFlags }
        : null,
    ...(keys &&
      keys.circuits.size > 0 && { keys: [...keys.circuits].map(([key, one]) => ({ key, ...writeState(one, now) })) }),
  }),
  check: complete({
    ...stateChecks,
    tool: toolName,
    mode: oneOf(CIRCUIT_MODES, AS_WRITTEN),
    controlled: optional(yesOrNo),
    latest: nullable(aCategory),
    openedBy: nullable(complete({ traceId: hex(32), spanId: hex(16), traceFlags: count })),
    keys: optional(list(complete({ ...stateChecks, key: hex(32, /^[0-9a-f]+$/) }))),
  } satisfies Record<keyof CircuitSnapshot, Check>),
  read: (kept, now) => {
    const circuits = kept.keys && new Map(kept.keys.map(({ key, ...one }) => [key, readState(one, now)]));
    return [
      kept.tool,
      {
        mode: kept.mode,
        isControlled: kept.controlled || undefined,
        circuit: readState(kept, now),
        openedBy: kept.openedBy === null ? undefined : { ...kept.openedBy, isRemote: true },
        keys: circuits && { circuits, generation: 0 },
      },
    ];
  },
};
