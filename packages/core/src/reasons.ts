/** What the expeditor says before a tool call. `call` and `probe`: run it. `skip`: not this tool. `pause`: no tool at all. */
export type Decision = 'call' | 'probe' | 'skip' | 'pause';

/** Why, and what each reason decides. */
export const REASONS = {
  /** The circuit is closed. */
  closed: 'call',
  /** The tool was never declared or wrapped: it has no circuit, but the budget counts. */
  undeclared: 'call',
  /** The session was ended before: nothing is tracked any more, and nothing held up. */
  session_ended: 'call',
  /** The wait after an opening is over. */
  probe_due: 'probe',
  /** The circuit is open and no probe is due. */
  open: 'skip',
  /** Enough probes are on their way. */
  probe_in_flight: 'skip',
  /** The session has no failure left in its budget. */
  budget_exhausted: 'pause',
  /** Several tools failed as one event, and nobody has said that it is over. */
  systemic: 'pause',
} as const satisfies Record<string, Decision>;

export type Reason = keyof typeof REASONS;
