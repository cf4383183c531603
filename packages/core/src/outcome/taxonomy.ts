/** What can go wrong with a tool call (O1). The order is the order of reports and docs. */
export const ERROR_CATEGORIES = [
  'network',
  'timeout',
  'rate_limit',
  'permission',
  'filesystem',
  'server',
  'resource',
  'unknown',
  'invalid_input',
  'denied',
  'cancelled',
  'tool_error',
] as const;

/**
 * Why a call did not succeed: the value of `error.type` in telemetry.
 *
 * | category | means |
 * |---|---|
 * | `network` | the peer can't be reached: refused, reset, no such host, TLS |
 * | `timeout` | no answer in time, ours or the peer's |
 * | `rate_limit` | asked too often |
 * | `permission` | credentials or rights are missing or have run out |
 * | `filesystem` | a file or folder can't be used |
 * | `server` | the peer answered that it is broken |
 * | `resource` | something is used up: disk, memory, file handles, quota |
 * | `unknown` | failed, and nothing says why |
 * | `invalid_input` | the model's own bad arguments |
 * | `denied` | a person or a policy refused the call |
 * | `cancelled` | the caller aborted |
 * | `tool_error` | the tool ran and reported a business error, such as MCP `isError` |
 */
export type ErrorCategory = (typeof ERROR_CATEGORIES)[number];

/** How a settled call counts. `ignored` is counted in metrics, and touches neither circuit nor budget. */
export type Outcome = 'success' | 'failure' | 'ignored';

/** How a call that did not succeed counts. */
export type Judgement = Exclude<Outcome, 'success'>;

/** How each category counts unless a tool says otherwise (O1): outages are failures, the rest is no sign of health. */
export const DEFAULT_JUDGEMENT: Readonly<Record<ErrorCategory, Judgement>> = Object.freeze({
  network: 'failure',
  timeout: 'failure',
  rate_limit: 'failure',
  permission: 'failure',
  filesystem: 'failure',
  server: 'failure',
  resource: 'failure',
  unknown: 'failure',
  invalid_input: 'ignored',
  denied: 'ignored',
  cancelled: 'ignored',
  tool_error: 'ignored',
});
