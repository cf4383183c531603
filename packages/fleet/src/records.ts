import { ERROR_CATEGORIES, type ErrorCategory } from '@breakerbox/core';
import type { StoredAction, StoredCircuit } from './protocol.ts';
import { ACTION_FIELDS, CIRCUIT_FIELDS, LONGEST, readFields } from './record-fields.ts';

/** A circuit as the store keeps it. In Redis it is JSON, so its names are short. Times are the store's own milliseconds. */
export interface CircuitRecord {
  /** State. */
  readonly s: StoredCircuit['state'];
  /** Generation. */
  readonly g: number;
  /** Category. Another release may know more of them. */
  readonly c: string;
  /** When it was opened, reopened or closed. */
  readonly t: number;
  /** The wait from then to the next probe. */
  readonly w: number;
  /** While pending: when each process last saw it open. */
  readonly n?: Readonly<Record<string, number>>;
  /** Who holds the probe, by which token, and until when. */
  readonly h?: string;
  readonly k?: string;
  readonly u?: number;
  /** 1: another process waits for the probe. */
  readonly d?: 1;
}

/** An action as the store keeps it, under its key. */
export interface ActionRecord {
  /** Id. */
  readonly i: string;
  /** Body. */
  readonly b: string;
  /** When it was asked for, until when the mode is forced, and until when the store keeps it. */
  readonly m: number;
  readonly o: number;
  readonly u: number;
}

/** Something that the store keeps, with the version of its last change. */
export interface Versioned<Record> {
  readonly version: number;
  readonly record: Record;
}

/** A clock that is set may go back so far without an effect. */
export const CLOCK_STEP_MS = 1_000;

/** A time in the future is of a clock that was ahead, such as that of a main server that failed. Then the wait is over. */
const ageOf = ({ t, w }: CircuitRecord, nowMs: number): number =>
  t > nowMs + CLOCK_STEP_MS ? w : Math.max(0, nowMs - t);

const CATEGORIES: ReadonlySet<string> = new Set(ERROR_CATEGORIES);

const isCategory = (category: string): category is ErrorCategory => CATEGORIES.has(category);

/** A circuit as processes hear of it, at a time of the store. */
export const storedCircuit = (
  id: string,
  { version, record }: Versioned<CircuitRecord>,
  nowMs: number,
): StoredCircuit => ({
  id,
  version,
  state: record.s,
  generation: record.g,
  category: isCategory(record.c) ? record.c : 'unknown',
  ageMs: ageOf(record, nowMs),
  waitMs: record.w,
  seenBy: Object.keys(record.n ?? {}).length,
  probe:
    record.h !== undefined && (record.u ?? 0) > nowMs
      ? { holder: record.h, leaseMs: (record.u ?? 0) - nowMs, isWanted: record.d === 1 }
      : undefined,
});

/** One that was made in the future is of a clock that was ahead. The processes that have carried it out say so again. */
export const isKept = ({ m, u }: ActionRecord, nowMs: number): boolean => u > nowMs && m <= nowMs + CLOCK_STEP_MS;

/** An action as processes hear of it. Undefined if it is over. */
export const storedAction = (
  key: string,
  { version, record }: Versioned<ActionRecord>,
  nowMs: number,
): StoredAction | undefined => {
  if (!isKept(record, nowMs)) return undefined;
  const { i: id, b: body, m: made, o, u } = record;
  const ageMs = Math.max(0, nowMs - made);
  return { key, id, version, made, ageMs, body, leftMs: Math.max(0, o - nowMs), keptMs: u - nowMs };
};

/** A field of the hash in Redis: a version, a space, and JSON. Undefined unless all of it fits, and is no newer than the whole. */
const parsed = <Fields>(
  [name, value]: readonly [name: string, value: string],
  newest: number,
  rules: Parameters<typeof readFields>[0],
  longest: { readonly name: number; readonly value: number },
): Versioned<Fields> | undefined => {
  if (Buffer.byteLength(name) > longest.name || Buffer.byteLength(value) > longest.value) return undefined;
  const [, digits = '', json = ''] = /^(\d+) (.*)$/s.exec(value) ?? [];
  const version = Number(digits);
  if (digits === '' || version > newest) return undefined;
  try {
    const record = readFields<Fields>(rules, JSON.parse(json));
    return record && { version, record };
  } catch {
    return undefined; // It is not JSON.
  }
};

/** A circuit of the hash, at a time of the store whose version is `newest`. */
export const parseCircuit = (id: string, value: string, newest: number, nowMs: number): StoredCircuit | undefined => {
  const longest = { name: LONGEST.circuitName, value: LONGEST.circuit };
  const circuit = parsed<CircuitRecord>([id, value], newest, CIRCUIT_FIELDS, longest);
  return circuit && storedCircuit(id, circuit, nowMs);
};

/** An action of the hash. `undefined` if it is over; `unfit` if it does not fit. */
export const parseActionRecord = (
  key: string,
  value: string,
  newest: number,
  nowMs: number,
): StoredAction | undefined | 'unfit' => {
  const longest = { name: LONGEST.actionName, value: LONGEST.action };
  const action = parsed<ActionRecord>([key, value], newest, ACTION_FIELDS, longest);
  return action === undefined ? 'unfit' : storedAction(key, action, nowMs);
};
