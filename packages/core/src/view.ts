import {
  type Budget,
  type BudgetRule,
  type ChargeFacts,
  chargesOf,
  provisionalCount,
  remaining,
  tokensRemaining,
} from './budget/budget.ts';
import type { Ledger, SessionState } from './budget/ledger.ts';
import type { SystemicEvent } from './budget/systemic.ts';
import {
  type Circuit,
  categoryOf,
  failedKeysOf,
  failuresInRow,
  type ReportedState,
  reportedState,
} from './circuit/circuit.ts';
import { keyPolicyOf, openKeys } from './circuit/key-circuits.ts';
import { type CircuitPolicy, groupNameOf } from './circuit/policy.ts';
import { type ProbeWait, probeWait } from './circuit/schedule.ts';
import type { Trip } from './circuit/trip-policies/trip-policies.ts';
import { type CircuitStore, circuitMoment } from './circuit-store.ts';
import type { ErrorCategory, IgnoredByDefault } from './classify/taxonomy.ts';
import type { Moment } from './clock.ts';
import type { LimitView } from './limits/limit-view.ts';
import type { IgnoredFor } from './outcome.ts';
import type { Decision, PauseReason, Reason, SkipReason } from './reasons.ts';
import { type RejectionFacts, rejectionText, waitOf } from './routing/message.ts';
import type { ToolTally } from './session-tools.ts';
import type { ToolLookup } from './tool.ts';
import type { TrackedCircuit } from './tracked-circuit.ts';

/** A read-only view of a circuit; reading it changes nothing (C11). */
export interface CircuitView {
  /** The tool, or `group:NAME` for the circuit of a group (C13). */
  readonly tool: string;
  /** The group of a tool, without the prefix; undefined for a tool without one, and for a group. */
  readonly group: string | undefined;
  /** The state, or the mode if that isn't `automatic` (C1). The fields below then describe the dry run, or a circuit at rest. */
  readonly state: ReportedState;
  readonly generation: number;
  /** Failures in a row; 0 unless closed. */
  readonly failures: number;
  /** Keys of the tool that have failed in a row, without a success of any key in between; 0 unless closed (C14). */
  readonly failedKeys: number;
  /** The category that the circuit opened with; undefined when closed. */
  readonly category: ErrorCategory | undefined;
  /** The policy that opened the circuit (C3), or a failed probe; undefined when closed. */
  readonly trip: Trip | undefined;
  /** Milliseconds since the latest opening; undefined when closed. */
  readonly openForMs: number | undefined;
  /** The wait until the next probe; only when open. */
  readonly nextProbe: ProbeWait | undefined;
  /** Number of the tool's keys whose circuits are not closed (C14). */
  readonly openKeys: number;
  /** The circuit of the requested key. Left out if that key was not blamed yet, or if no key was requested (C14). */
  readonly key?: CircuitView;
}

/** A read-only view of a failure budget. */
export interface BudgetView {
  /** `window` or `strict` (B6). */
  readonly rule: BudgetRule;
  /** Failures of a full budget. */
  readonly limit: number;
  /** How often the budget was refilled, from 1. `resume()` begins the next cycle. */
  readonly cycle: number;
  readonly remaining: number;
  /** Final charges since the session began, as the metrics count them. */
  readonly consumed: number;
  /** Tokens that failed calls may still cost; undefined without a token budget (B4). */
  readonly tokensRemaining: number | undefined;
  /** Charges that may turn out to belong to a systemic event (S3). */
  readonly provisional: number;
}

/** A read-only view of a session. */
export interface SessionView {
  readonly id: string;
  readonly agent: string;
  readonly state: SessionState;
  readonly step: number;
  readonly budget: BudgetView;
  /** The systemic event that is not over (S4). */
  readonly systemic: SystemicEvent | undefined;
  /** Circuits of the tools that were used and of their groups, in the order of first use. */
  readonly circuits: readonly CircuitView[];
  /** The limits that hold for the run (D2), its own first; left out in a session without limits and without children. */
  readonly limits?: readonly LimitView[];
}

export const viewCircuit = (tracked: TrackedCircuit, at: Moment, box: ToolLookup, key?: string): CircuitView => {
  const { tool, mode, keys } = tracked;
  const ofKey = key && keys?.circuits.get(key);
  const group = groupNameOf(box.tool(tool.name)?.group?.name);
  const view = (circuit: Circuit, policy: CircuitPolicy): Omit<CircuitView, 'openKeys'> => ({
    tool: tool.name,
    group,
    state: reportedState(mode, circuit),
    generation: circuit.generation,
    failures: failuresInRow(circuit),
    failedKeys: failedKeysOf(circuit),
    category: categoryOf(circuit),
    trip: circuit.state === 'closed' ? undefined : circuit.outage.trip,
    openForMs: circuit.state === 'closed' ? undefined : at.ms - circuit.outage.openedAt.ms,
    nextProbe: circuit.state === 'open' ? probeWait(circuit.outage, policy, at) : undefined,
  });
  return {
    ...view(tracked.circuit, tool.policy),
    openKeys: openKeys(tracked),
    ...(ofKey && { key: { ...view(ofKey, keyPolicyOf(tracked)), openKeys: 0 } }),
  };
};

export const viewCircuits = (store: CircuitStore, own: Moment, box: ToolLookup): readonly CircuitView[] => {
  const at = circuitMoment(store, own);
  return [...store.circuits.values()].map((tracked) => viewCircuit(tracked, at, box));
};

export const viewBudget = (budget: Budget): BudgetView => ({
  rule: budget.rule,
  limit: budget.limit,
  cycle: budget.cycle,
  remaining: remaining(budget),
  consumed: budget.consumed,
  tokensRemaining: tokensRemaining(budget),
  provisional: provisionalCount(budget),
});

/** A failure that was charged to a tool, or to its group. */
export interface ChargeView extends Omit<ChargeFacts, 'at'> {
  readonly step: number;
  readonly agoMs: number;
}

/** Why a call would be called, probed, skipped or paused. Plain data. */
export interface Explanation {
  readonly tool: string;
  readonly decision: Decision;
  readonly reason: Reason;
  /**
   * What rejects the call: the name of a circuit (`web_search`, `group:github`), `key` for the circuit of its key (C14), `budget`,
   * `systemic`, or a setting (`allowedTools`, `precheck`, `loopGuard`, `limits`). Undefined if the call is made.
   */
  readonly rejectedBy: string | undefined;
  /** The wait until the next probe of that circuit; undefined if no circuit rejects the call. */
  readonly nextProbe: ProbeWait | undefined;
  /** The charges of the tool and its group that still count in the budget. */
  readonly charges: readonly ChargeView[];
  /**
   * The circuits that the call passes, in order: its group's, then its own. Its own view holds the circuit of the call's key under
   * `key`.
   */
  readonly circuits: readonly CircuitView[];
  /** The errors of the tool in this session that did not count, by category, and why each did not. */
  readonly ignored: readonly IgnoredErrors[];
  /** The text for the model. If the call is made: which errors of the tool did not count, and why; empty without such errors. */
  readonly text: string;
}

/** Errors of a tool that count in no circuit and no budget. */
export interface IgnoredErrors {
  /** `key`: they blame the one target that the call chose (C14). */
  readonly category: ErrorCategory | 'key';
  readonly times: number;
  /** Ends a sentence that begins 'it does not count, because'. */
  readonly why: string;
}

const WHY_IGNORED: Readonly<Partial<Record<ErrorCategory | 'key', string>>> = {
  tool_error: 'it is about this request, and nothing shows an outage',
  invalid_input: 'the arguments were wrong',
  denied: 'a person, a policy or another circuit refused the call',
  cancelled: 'the call was stopped from outside',
  key: 'it blames one target of the tool, and counts for that target alone',
} satisfies Record<IgnoredByDefault | 'key', string>;

const IGNORED_FOR: Readonly<Record<IgnoredFor, string>> = {
  nested: 'it counts for a call within this one',
  caller: 'the caller did not report it as a failure',
};

const ignoredErrors = ({ ignoredBy }: ToolTally): readonly IgnoredErrors[] =>
  ignoredBy.map(({ category, ignoredFor, times }) => {
    const bySettings = 'the settings of the tool ignore it';
    const why = ignoredFor === undefined ? (WHY_IGNORED[category] ?? bySettings) : IGNORED_FOR[ignoredFor];
    return { category, times, why };
  });

const ignoredText = ({ category, times, why }: IgnoredErrors): string =>
  `${times === 1 ? 'Once' : `${times} times`}, an error did not count (${category}), because ${why}.`;

/** Pure. */
export const explanationOf = (
  facts: RejectionFacts,
  ledger: Ledger,
  circuits: readonly CircuitView[],
  tally: ToolTally | undefined,
  now: Moment,
): Explanation => {
  const { tool, decision, reason, route, group } = facts;
  const names = new Set([tool, group?.name]);
  const ignored = tally === undefined ? [] : ignoredErrors(tally);
  return {
    tool,
    decision,
    reason,
    rejectedBy: route === undefined ? undefined : rejecting(facts),
    nextProbe: waitOf(facts),
    charges: chargesOf(ledger.budget)
      .filter((charge) => names.has(charge.tool))
      .map(({ at, ...charge }) => ({ ...charge, step: at.step, agoMs: Math.max(0, now.ms - at.ms) })),
    circuits,
    ignored,
    text: route === undefined ? ignored.map(ignoredText).join('\n') : rejectionText(facts),
  };
};

type OfCircuit = 'open' | 'group_open' | 'key_open' | 'probe_in_flight' | 'forced_open';
const SETTINGS: Readonly<Record<Exclude<SkipReason | PauseReason, OfCircuit>, string>> = {
  budget_exhausted: 'budget',
  systemic: 'systemic',
  not_allowed: 'allowedTools',
  unavailable: 'precheck',
  repeat: 'loopGuard',
  busy: 'maxInFlight',
  limit_reserved: 'limits',
  limit_reached: 'limits',
};

const rejecting = ({ reason, tool, mode, group, key, circuit }: RejectionFacts): string => {
  const setting: string | undefined = SETTINGS[reason as keyof typeof SETTINGS];
  if (setting !== undefined) return setting;
  if (key !== undefined) return 'key';
  if (group === undefined) return tool;
  const isOfGroup =
    reason === 'group_open' ||
    (reason === 'forced_open' && mode !== 'forced_open') ||
    (reason === 'probe_in_flight' && circuit?.state !== 'half_open');
  return isOfGroup ? group.name : tool;
};
