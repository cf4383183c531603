import { type ChargeFacts, chargesOf } from './budget/budget.ts';
import type { Ledger } from './budget/ledger.ts';
import type { ProbeWait } from './circuit/schedule.ts';
import type { Moment } from './clock.ts';
import type { Decision, Reason } from './reasons.ts';
import { type RejectionFacts, rejectionText, waitOf } from './routing/message.ts';
import type { CircuitView } from './view.ts';

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
   * `systemic`, or a setting (`allowedTools`, `precheck`, `loopGuard`). Undefined if the call is made.
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
  /** The text for the model; empty if the call is made. */
  readonly text: string;
}

/** Pure. */
export const explanationOf = (
  facts: RejectionFacts,
  ledger: Ledger,
  circuits: readonly CircuitView[],
  now: Moment,
): Explanation => {
  const { tool, decision, reason, route, group } = facts;
  const names = new Set([tool, group?.name]);
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
    text: route === undefined ? '' : rejectionText(facts),
  };
};

const SETTINGS: Readonly<Partial<Record<Reason, string>>> = {
  budget_exhausted: 'budget',
  systemic: 'systemic',
  not_allowed: 'allowedTools',
  unavailable: 'precheck',
  repeat: 'loopGuard',
};

const rejecting = ({ reason, tool, mode, group, key, circuit }: RejectionFacts): string => {
  const setting = SETTINGS[reason];
  if (setting !== undefined) return setting;
  if (key !== undefined) return 'key';
  if (group === undefined) return tool;
  const isOfGroup =
    reason === 'group_open' ||
    (reason === 'forced_open' && mode !== 'forced_open') ||
    (reason === 'probe_in_flight' && circuit?.state !== 'half_open');
  return isOfGroup ? group.name : tool;
};
