import type { LimitKind, LimitMode } from './limits.ts';

/** A limit of a run, as it is now. */
export interface LimitView {
  readonly limit: LimitKind;
  /** The id of the session that has it: this one, or one above it in the tree (D1). */
  readonly session: string;
  /** What may be used. Of `durationMs`: without the time that is kept for the final answer. */
  readonly size: number;
  /** What is used, with the estimates of calls under way (D3), by the session and by its children. */
  readonly used: number;
  /** The part of `used` that calls which failed were expected to use, because they did not say (D3). */
  readonly estimated: number;
  /** The part of `used` that calls under way are expected to use (D3). Of steps: 1 while other calls of a step of the session that you ask may begin. */
  readonly underWay: number;
  /** What children have reserved, and not used (D1). */
  readonly reserved: number;
  /** The part of `reserved` that is kept for the last answers of sub-agents. It counts for `level` (D3). Left out if nothing is kept. */
  readonly kept?: number;
  readonly mode: LimitMode;
  /** The currency of a limit of money; undefined for others. */
  readonly currency: string | undefined;
  /** `advised` once 80 % are used, `reached` at 100 %, without what calls under way are expected to use; undefined below. */
  readonly level: 'advised' | 'reached' | undefined;
}

/** Why limits reject a call. */
export interface LimitObjection {
  readonly reason: 'limit_reached' | 'limit_reserved';
  readonly limit: LimitView;
}

/** What a call has used, as far as it said so. */
export interface Usage {
  /** Number of tokens. */
  readonly tokens?: number | undefined;
  /** Money, in the currency of the limit. */
  readonly cost?: number | undefined;
}

/** What was used, for the metrics (D7). */
export interface Spent {
  readonly tokens?: number | undefined;
  readonly cost?: number | undefined;
  /** Of the cost; undefined if it is not known. */
  readonly currency?: string | undefined;
}

/** A limit that was extended. */
export interface ExtendedLimit {
  /** The id of the session that has the limit. */
  readonly session: string;
  readonly from: number;
  readonly to: number;
}

/** The same limit without the estimates of calls under way (D3). */
export const withoutUnderWay = (view: LimitView): LimitView => ({
  ...view,
  used: Math.max(0, view.used - view.underWay),
});
