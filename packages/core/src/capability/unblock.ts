import type { ProbeWait } from '../circuit/schedule.ts';
import type { Reason } from '../reasons.ts';
import { describeWait, quoteTool } from './wording.ts';

/** A tool that is unavailable. */
export interface Hold {
  readonly tool: string;
  /** Why a call of it would be rejected now. */
  readonly reason: Reason;
  /**
   * The wait until the next probe of the circuit that rejects the call: the tool's, its group's (C13), or that of the systemic
   * event (S5). Undefined if no probe is awaited.
   */
  readonly wait: ProbeWait | undefined;
}

/** W1: what would unblock a tool, so that it ends a sentence that begins 'it can go on once …'. */
export const unblockText = ({ tool, reason, wait }: Hold): string => {
  const name = quoteTool(tool);
  const due = wait === undefined ? '' : `, which is due ${describeWait(wait)}`;
  switch (reason) {
    case 'open':
      return `a probe of ${name} succeeds${due}`;
    case 'group_open':
      return `a probe of a tool in the group of ${name} succeeds${due}`;
    case 'key_open':
      return `a probe of this target by ${name} succeeds${due}`;
    case 'probe_in_flight':
      return `the probe for ${name} that is under way succeeds`;
    case 'forced_open':
      return `an operator switches ${name} on again`;
    case 'not_allowed':
      return `${name} is put on the allowed list`;
    case 'unavailable':
      return `the pre-call check of ${name} passes`;
    case 'repeat':
      return `${name} is called with other arguments, or another tool first`;
    case 'budget_exhausted':
      return 'the session is resumed: session.resume()';
    case 'systemic':
      return wait === undefined
        ? 'the systemic failure is confirmed as over: session.confirmRecovered()'
        : `a probe of an affected tool succeeds${due}, or the systemic failure is confirmed as over: session.confirmRecovered()`;
    default:
      return `nothing more happens: ${name} may be called now`;
  }
};
