import type { Figures } from '../play.ts';

/** A column of the tables. */
export interface Measure {
  readonly key: MeasureKey;
  readonly title: string;
  readonly digits: number;
  /** Of the figure that is shown. Default 1. */
  readonly factor?: number;
  /** Default: less is better. */
  readonly moreIsBetter?: boolean;
}
export type MeasureKey =
  | 'success'
  | Exclude<keyof Figures, 'tasks' | 'succeeded' | 'calls' | 'tokens' | 'seconds' | 'rejected' | 'recoveries'>;

/** From left to right. */
export const MEASURES: readonly Measure[] = [
  { key: 'success', title: 'tasks done, %', digits: 1, factor: 100, moreIsBetter: true },
  { key: 'deadCalls', title: 'calls into a dead tool', digits: 1 },
  { key: 'wastedTokens', title: 'tokens wasted', digits: 0 },
  { key: 'tokensAfterFailure', title: 'tokens after the first failure', digits: 0 },
  { key: 'secondsAfterFailure', title: 'seconds after it', digits: 0 },
  { key: 'goodRejected', title: 'good calls refused', digits: 1 },
  { key: 'goodAvoided', title: 'good calls avoided', digits: 1 },
  { key: 'pauses', title: 'pauses', digits: 2 },
  { key: 'falsePauses', title: 'false pauses', digits: 2 },
  { key: 'recoverySeconds', title: 'recovery noticed after, s', digits: 0 },
  { key: 'dollars', title: 'cents', digits: 1, factor: 100 },
];
