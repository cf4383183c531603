import type { ProbeWait } from '../circuit/schedule.ts';
import type { Reason } from '../reasons.ts';
import { describeWait, quoteTool } from './wording.ts';

/** A tool that is out. */
export interface Hold {
  readonly tool: string;
  /** Why a call of it would be held up now. */
  readonly reason: Reason;
  /** How far its next probe is away; undefined where its circuit isn't open. */
  readonly wait: ProbeWait | undefined;
}

/** W1: what would unblock a tool, so that it ends a sentence that begins 'it can go on once …'. */
export const unblockText = ({ tool, reason, wait }: Hold): string => {
  const name = quoteTool(tool);
  switch (reason) {
    case 'open':
      return wait === undefined
        ? `a probe of ${name} succeeds`
        : `a probe of ${name} succeeds, which is due ${describeWait(wait)}`;
    case 'probe_in_flight':
      return `the probe of ${name} that is under way succeeds`;
    case 'forced_open':
      return `an operator switches ${name} on again`;
    case 'not_allowed':
      return `${name} is put on the allowed list`;
    case 'unavailable':
      return `the pre-call check of ${name} passes`;
    case 'repeat':
      return `${name} is called with other arguments, or another tool first`;
    case 'budget_exhausted':
      return 'somebody lets the run go on: session.resume()';
    case 'systemic':
      return 'somebody confirms that the systemic failure is over: session.confirmRecovered()';
    default:
      return `nothing more happens: ${name} may be called now`;
  }
};
