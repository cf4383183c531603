import { BreakerboxUsageError } from '@breakerbox/core';
import { isObject, read, safely } from '@breakerbox/core/internal';
import { type SessionSource, sessionFinder } from '../acquire.ts';
import { aValue } from '../options.ts';
import { rejectedBefore } from '../run-tool.ts';

const WHERE = 'breakerApproval()';

/**
 * Asks the session before a person about the tools of `toolApproval` of AI SDK 7: a person does not approve a call that is rejected then.
 * Give the result to `generateText`, `streamText` or an agent in place of your `toolApproval`. A call that would ask a person, and that the
 * session rejects now, is denied at once. The model reads the rejection as the reason. All other answers stay the same. `needsApproval` of a tool
 * needs no more than `guardTools`.
 *
 * @throws BreakerboxUsageError when `session` is not a session, or `toolApproval` is neither an object nor a function.
 *
 * @example
 * ```ts
 * const toolApproval = breakerApproval({ refund: 'user-approval' }, session);
 * await generateText({ model, tools: guardTools(tools, session), toolApproval, prepareStep: breakerPrepareStep(session), prompt });
 * ```
 */
export function breakerApproval<Approval extends object>(toolApproval: Approval, session: SessionSource): Approval {
  const adapter = { findSession: sessionFinder(session, WHERE), where: WHERE };
  const decide = async (status: unknown, tool: string, input: unknown, callId: string): Promise<unknown> => {
    const given = await status;
    if (!asksPerson(given)) return given;
    const rejection = safely(WHERE, () => rejectedBefore(adapter, { tool, input, callId }));
    return rejection === undefined ? given : { type: 'denied', reason: rejection.message };
  };
  if (typeof toolApproval === 'function') {
    const ofAll = toolApproval as unknown as (call: ApprovalCall) => unknown;
    const asking = async (call: ApprovalCall): Promise<unknown> => {
      const { toolName, input, toolCallId } = call.toolCall;
      return decide(ofAll(call), toolName, input, toolCallId);
    };
    return asking as unknown as Approval;
  }
  if (!isObject(toolApproval)) {
    throw new BreakerboxUsageError(
      `${WHERE}: got ${aValue(toolApproval)} instead of an object or a function. Pass the toolApproval that you would pass to generateText.`,
    );
  }
  const asking = (tool: string, given: unknown): unknown => {
    if (typeof given !== 'function') {
      if (!asksPerson(given)) return given;
      return (input: unknown, { toolCallId }: SingleCall) => decide(given, tool, input, toolCallId);
    }
    return (input: unknown, call: SingleCall) => decide(given(input, call), tool, input, call.toolCallId);
  };
  return Object.fromEntries(
    Object.entries(toolApproval).map(([tool, given]) => [tool, asking(tool, given)]),
  ) as Approval;
}

/** What the SDK gives a function for all tools. */
interface ApprovalCall {
  readonly toolCall: { readonly toolName: string; readonly toolCallId: string; readonly input: unknown };
}

/** What it gives a function for one tool, after the input. */
interface SingleCall {
  readonly toolCallId: string;
}

const asksPerson = (status: unknown): boolean => (read(status, 'type') ?? status) === 'user-approval';
