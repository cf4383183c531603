import { type Breakerbox, createBreakerbox, type Permit, type Session, type ToolConfig } from '@breakerbox/core';
import { context } from '@opentelemetry/api';
import { NEVER, OUTAGE, TOOL } from './tool.ts';

export const AGENT = 'bench-agent';

/** A box with one tool and default settings, except for the budget: it is so large that failures can be measured. */
export const oneToolBox = (config: ToolConfig = {}, windowCalls?: number): Breakerbox =>
  createBreakerbox({
    agent: AGENT,
    tools: { [TOOL]: config },
    budget: { failures: NEVER, ...(windowCalls !== undefined && { windowCalls }) },
  });

type Run = (input: number) => Promise<number>;

/** A call in a session whose tool has failed once. The failure stays in the budget. */
export const afterFailure = (call: (session: Session) => Run): Run => {
  const session = oneToolBox({}, NEVER).session();
  session.acquire(TOOL).settle({ error: OUTAGE });
  return call(session);
};

/** Failures after which the run is resumed. */
const CYCLE = 100;

/** A budget is for one run of an agent, and resuming refills it. No real run fails a million times without a resume. */
export const resuming = (session: Session, call: Run): Run => {
  let left = CYCLE;
  return (input) => {
    left -= 1;
    if (left === 0) {
      left = CYCLE;
      session.resume();
    }
    return call(input);
  };
};

/** The loop from the documentation, around one call. */
export const byHand =
  (session: Session, run: (input: number, permit: Permit) => Promise<number>, name = TOOL) =>
  async (input: number): Promise<number> => {
    const permit = session.acquire(name);
    if (permit.decision !== 'call' && permit.decision !== 'probe')
      throw new Error(
        `The benchmark's own circuit rejects all calls, so there is nothing to measure: ${permit.message}`,
      );
    try {
      const result = await run(input, permit);
      permit.settle({ outcome: 'success' });
      return result;
    } catch (error) {
      permit.settle({ error });
      throw error;
    }
  };

/** The same, with the tool inside the decision's span. */
export const byHandInContext = (session: Session, run: Run): Run =>
  byHand(session, (input, permit) => context.with(permit.context, () => run(input)));
