import type { CircuitMode } from './circuit/circuit.ts';
import { rejects } from './passes.ts';
import type { SessionTool } from './session-tools.ts';
import type { InFlight, TrackedCircuit } from './tracked-circuit.ts';

type Counted = Pick<SessionTool, 'tracked' | 'group'>;

/** C17: whether the tool or its group has as many calls under way as it may have. */
export const isBusy = ({ tracked, group }: Counted, mode: CircuitMode, ms: number): boolean =>
  isFull(tracked, ms) || (group !== undefined && rejects(group, mode) && isFull(group, ms));

const isFull = (tracked: TrackedCircuit | undefined, ms: number): boolean => {
  if (tracked?.inFlight === undefined) return false;
  let count = 0;
  for (const untilMs of tracked.inFlight.values()) if (untilMs > ms) count += 1;
  return count >= (tracked.tool.policy.maxInFlight ?? Number.POSITIVE_INFINITY);
};

/** C17: where a call counts while it is under way; undefined for nearly all calls. */
export const countedIn = ({ tracked, group }: Counted, ms: number): readonly InFlight[] | undefined => {
  const own = current(tracked, ms);
  const ofGroup = current(group, ms);
  if (own === undefined) return ofGroup && [ofGroup];
  return ofGroup === undefined ? [own] : [own, ofGroup];
};

const current = (tracked: TrackedCircuit | undefined, ms: number): InFlight | undefined => {
  if (tracked?.tool.policy.maxInFlight === undefined) return undefined;
  tracked.inFlight ??= new Map();
  for (const [call, untilMs] of tracked.inFlight) if (untilMs <= ms) tracked.inFlight.delete(call);
  return tracked.inFlight;
};
