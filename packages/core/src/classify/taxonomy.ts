/**
 * What can go wrong with a tool call (O1): `error.type` in telemetry. Reports and docs use this order.
 */
export const ERROR_CATEGORIES = [
  'network', // the peer can't be reached: refused, reset, no such host, TLS
  'timeout', // no answer in time, ours or the peer's
  'rate_limit', // asked too often
  'permission', // credentials or rights are missing or have run out
  'filesystem', // the disk or the file system can't be used
  'server', // the peer answered that it is broken
  'resource', // something is used up: disk, memory, file handles, quota, credit
  'unknown', // failed, and nothing says why
  'unusable', // the tool has failed with every input so far, and nothing says why (O8)
  'invalid_input', // the model's own bad arguments
  'denied', // a person or a policy refused the call
  'cancelled', // the caller aborted
  'tool_error', // the tool works, and says that this request cannot be done
] as const;

/** Why a call did not succeed: one of `ERROR_CATEGORIES`. */
export type ErrorCategory = (typeof ERROR_CATEGORIES)[number];

/** Whether the call was ended from outside, so that the tool gave no answer. */
export const isFromOutside = (category: ErrorCategory | undefined): boolean =>
  category === 'cancelled' || category === 'denied';

/** How a settled call counts. `ignored` is counted in metrics, but affects neither circuit nor budget. */
export type Outcome = 'success' | 'failure' | 'ignored';

/** How a call that did not succeed counts. */
export type Judgement = Exclude<Outcome, 'success'>;

const JUDGEMENTS = {
  network: 'failure',
  timeout: 'failure',
  rate_limit: 'failure',
  permission: 'failure',
  filesystem: 'failure',
  server: 'failure',
  resource: 'failure',
  unknown: 'failure',
  unusable: 'failure',
  invalid_input: 'ignored',
  denied: 'ignored',
  cancelled: 'ignored',
  tool_error: 'ignored',
} as const satisfies Record<ErrorCategory, Judgement>;

/**
 * How each category counts unless a tool's settings override it (O1): outages are failures, the others say nothing about health.
 */
export const DEFAULT_JUDGEMENT: Readonly<Record<ErrorCategory, Judgement>> = Object.freeze(JUDGEMENTS);

/** Categories that are ignored unless a tool's settings override it. */
export type IgnoredByDefault = {
  [One in ErrorCategory]: (typeof JUDGEMENTS)[One] extends 'ignored' ? One : never;
}[ErrorCategory];
