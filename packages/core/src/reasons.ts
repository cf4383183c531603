/**
 * The decision of a session before a tool call. `call` and `probe`: run the tool. `skip`: do not run this tool. `pause`: run no
 * tool at all.
 */
export type Decision = 'call' | 'probe' | 'skip' | 'pause';

/** The reasons for a decision, and the decision of each. */
export const REASONS = {
  /** The circuit is closed. */
  closed: 'call',
  /** The tool was never declared or wrapped: it has no circuit, but the budget counts. */
  undeclared: 'call',
  /** The box keeps no circuits: the budget alone counts (B5). */
  no_circuit: 'call',
  /** The circuit is switched off: the call touches neither circuit nor budget (C1). */
  disabled: 'call',
  /** The circuit is only observed, and would have skipped the call (C1). */
  would_skip: 'call',
  /** The circuit is only observed, and the session would have been paused (C1). */
  would_pause: 'call',
  /** The wait after an opening is over. */
  probe_due: 'probe',
  /** The same for the circuit of the tool's group: one call probes for all of its tools (C13). */
  group_probe_due: 'probe',
  /** The same for the circuit of the call's key (C14). */
  key_probe_due: 'probe',
  /** The circuit is open and no probe is due. */
  open: 'skip',
  /** The circuit of the tool's group is open and no probe is due (C13). */
  group_open: 'skip',
  /** The circuit of the call's key is open and no probe is due (C14). */
  key_open: 'skip',
  /** No probe slot is free. */
  probe_in_flight: 'skip',
  /** An operator has switched the tool off (C1). */
  forced_open: 'skip',
  /** The tool isn't on the list of those that may be called (K2). */
  not_allowed: 'skip',
  /** The tool's pre-call check says that it can't be used (K1). */
  unavailable: 'skip',
  /** As many calls of the tool, or of its group, are under way as may be (C17). */
  busy: 'skip',
  /** The same call has failed in the same way too often (O5). */
  repeat: 'skip',
  /** What is left of a limit of the run is reserved for sub-agents (D1). */
  limit_reserved: 'skip',
  /** The session has no failure left in its budget. */
  budget_exhausted: 'pause',
  /**
   * Several tools failed from one cause, and the event is not over. In scope `process` it decides `skip` (S2): see {@link
   * decisionOf}.
   */
  systemic: 'pause',
  /** The run has used up one of its limits (D2). */
  limit_reached: 'pause',
} as const satisfies Record<string, Decision>;

export type Reason = keyof typeof REASONS;

type ReasonOf<Made extends Decision> = {
  [One in Reason]: (typeof REASONS)[One] extends Made ? One : never;
}[Reason];
export type PauseReason = ReasonOf<'pause'>;
/** With `systemic`, which skips only the affected tools in scope `process` (S2). */
export type SkipReason = ReasonOf<'skip'> | 'systemic';

type ByReason<Value> = Readonly<Partial<Record<Reason, Value>>>;

/** The decision of a systemic event: `skip` if it concerns only the affected tools (S2). */
export type SystemicDecision = 'pause' | 'skip';

/** The decision for a reason in a box. */
export const decisionOf = (reason: Reason, systemic: SystemicDecision): Decision =>
  reason === 'systemic' ? systemic : REASONS[reason];

/** Whether the circuits that let the call through get its result. */
export const isAnswered = (reason: Reason): boolean => reason === 'closed' || REASONS[reason] === 'probe';

/** Whether the tool is to be run. */
export const isExecuted = (reason: Reason): boolean => {
  if (reason === 'closed') return true; // Almost every call.
  const decision: Decision = REASONS[reason];
  return decision === 'call' || decision === 'probe';
};

/** C1: whether the result of a call that was let through for this reason touches circuit and budget. A probe's always does. */
const COUNTS: ByReason<boolean> = {
  closed: true,
  undeclared: true,
  no_circuit: true,
  disabled: false,
  would_skip: false,
  would_pause: false,
} satisfies Record<ReasonOf<'call'>, boolean>;

export const isCounted = (reason: Reason): boolean => COUNTS[reason] ?? true;

/** What would have been decided for an observed tool (C1). */
export const wouldDecide = (reason: Reason): Decision => {
  if (reason === 'would_skip') return 'skip';
  return reason === 'would_pause' ? 'pause' : REASONS[reason];
};

/** What a reason to skip a call says of the tool. */
interface Skip {
  /** The call waits for the next probe of this circuit. */
  readonly waitsFor?: 'tool' | 'group' | 'key' | 'event';
  /** F2: the tool is unavailable, so a last good result may answer. Not if the call itself is rejected, or the tool is not allowed. */
  readonly isUnavailable?: true;
  /** The tool itself works: the same call may go a moment later. */
  readonly isForNow?: true;
  /** G4: the call could have been a probe that many processes share. */
  readonly asksForProbe?: true;
}

/** A new reason to skip calls is a type error until it says here what it means. */
export const SKIPS: ByReason<Skip> = {
  open: { waitsFor: 'tool', isUnavailable: true, asksForProbe: true },
  group_open: { waitsFor: 'group', isUnavailable: true, asksForProbe: true },
  key_open: { waitsFor: 'key', isUnavailable: true },
  probe_in_flight: { isUnavailable: true, asksForProbe: true },
  forced_open: { isUnavailable: true },
  unavailable: { isUnavailable: true },
  systemic: { waitsFor: 'event', asksForProbe: true },
  busy: { isForNow: true },
  limit_reserved: { isForNow: true },
  not_allowed: {},
  repeat: {},
} satisfies Record<SkipReason, Skip>;

/** The circuit that a call probes for each reason. */
export const PROBES: ByReason<'tool' | 'group' | 'key'> = {
  probe_due: 'tool',
  group_probe_due: 'group',
  key_probe_due: 'key',
} satisfies Record<ReasonOf<'probe'>, 'tool' | 'group' | 'key'>;
