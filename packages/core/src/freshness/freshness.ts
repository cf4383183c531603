import { BreakerboxUsageError, show } from '../checks/checks.ts';

/** Why a result may not be current (F1). A fresh one has no label. */
export const FRESHNESS_KINDS = ['stale', 'cached', 'unverified', 'freshness_unknown'] as const;

export type FreshnessKind = (typeof FRESHNESS_KINDS)[number];

/** A label for a result that may not be current (F1). */
export interface FreshnessLabel {
  /**
   * | kind | means |
   * |---|---|
   * | `stale` | older than the task, or the last good result in place of a new one |
   * | `cached` | identical to the last result for these arguments |
   * | `unverified` | the executor says that the result was not checked |
   * | `freshness_unknown` | the executor says that the time of retrieval is unknown |
   */
  readonly kind: FreshnessKind;
  /** When the result was retrieved, in Unix milliseconds; undefined if unknown. */
  readonly retrievedUnixMs: number | undefined;
}

/** The facts that decide the label of a result. */
export interface FreshnessFacts {
  /** When it was retrieved, in Unix milliseconds. Null: unknown. Undefined: now. */
  readonly retrievedUnixMs: number | null | undefined;
  /** When the task began, in Unix milliseconds. */
  readonly taskUnixMs: number;
  /** Whether it is identical to the last result for these arguments. */
  readonly identical: boolean;
  /** False: the executor says that the result was not checked. */
  readonly verified: boolean | undefined;
  /** Now, in Unix milliseconds. */
  readonly unixMs: number;
}

/** F1: the label of a result, by the first kind that applies; undefined if it is fresh. A time that is not a number is unknown. */
export const labelOf = (facts: FreshnessFacts): FreshnessLabel | undefined => {
  const { retrievedUnixMs = facts.unixMs, identical, verified } = facts;
  const known = retrievedUnixMs !== null && Number.isFinite(retrievedUnixMs) ? retrievedUnixMs : undefined;
  const label = (kind: FreshnessKind): FreshnessLabel => ({ kind, retrievedUnixMs: known });
  if (known !== undefined && known < facts.taskUnixMs) return label('stale');
  if (identical) return label('cached');
  if (verified === false) return label('unverified');
  return known === undefined ? label('freshness_unknown') : undefined;
};

const MEANING: Readonly<Record<FreshnessKind, string>> = {
  stale: '',
  cached: 'identical to the last answer, ',
  unverified: 'not checked, ',
  freshness_unknown: '',
};

/**
 * The label as text, for people and models.
 *
 * @throws BreakerboxUsageError if `label` is not a label.
 *
 * @example
 * ```ts
 * describeFreshness({ kind: 'stale', retrievedUnixMs: Date.UTC(2026, 10, 20, 21, 14, 3) });
 * // 'stale: retrieved 2026-11-20 21:14:03 UTC'
 * ```
 */
export const describeFreshness = (label: FreshnessLabel): string => {
  const { kind, retrievedUnixMs } = ((label as unknown) ?? {}) as FreshnessLabel;
  if (!FRESHNESS_KINDS.includes(kind)) {
    throw new BreakerboxUsageError(
      `describeFreshness(${show(label)}): this is not a freshness label. Give permit.freshness, or the label of ` +
        'a stale route.',
    );
  }
  return `${kind}: ${MEANING[kind]}${describeTime(retrievedUnixMs)}`;
};

const describeTime = (unixMs: number | undefined): string => {
  const date = new Date(unixMs ?? Number.NaN); // A time beyond the calendar is no date either.
  if (Number.isNaN(date.getTime())) return 'retrieved at an unknown time';
  return `retrieved ${date.toISOString().replace('T', ' ').replace(/\..*/, '')} UTC`;
};

/**
 * The result together with its label, in a form that reaches the model: see {@link annotated}, under `freshness`.
 *
 * @example
 * ```ts
 * labelled('12 degrees', { kind: 'stale', retrievedUnixMs: Date.UTC(2026, 10, 20, 21, 14, 3) });
 * // '[stale: retrieved 2026-11-20 21:14:03 UTC]\n12 degrees'
 * ```
 */
export const labelled = (result: unknown, label: FreshnessLabel): unknown =>
  annotated(result, 'freshness', describeFreshness(label));

/**
 * A result together with a text about it, in a form that reaches the model. The given result is never changed.
 *
 * | result | becomes |
 * |---|---|
 * | text | the words in square brackets on a line of its own, then the text |
 * | MCP result (`content` is a list of typed parts) | a copy with one more text part at the start |
 * | plain object | a copy with the words under `key` |
 * | anything else, or an object that has the key already | `{ result, [key]: words }` |
 */
export const annotated = (result: unknown, key: string, words: string): unknown => {
  if (typeof result === 'string') return `[${words}]\n${result}`;
  try {
    if (isPlain(result)) {
      const { content } = result;
      if (isContent(content)) return { ...result, content: [{ type: 'text', text: `[${words}]` }, ...content] };
      if (!Object.hasOwn(result, key)) return { ...result, [key]: words };
    }
  } catch {
    // The result can't be copied because reading it throws. The receiver gets it as it is.
  }
  return { result, [key]: words };
};

/** A plain object, as JSON makes it. An instance of a class would lose its methods in a copy. */
export const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** Part of an MCP result's content. All of its parts have a `type`; a list of anything else is another kind of result. */
export interface ContentPart {
  readonly type: string;
  readonly text?: unknown;
}

export const isContent = (value: unknown): value is readonly ContentPart[] =>
  Array.isArray(value) &&
  value.every(
    (part: unknown) => typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string',
  );
