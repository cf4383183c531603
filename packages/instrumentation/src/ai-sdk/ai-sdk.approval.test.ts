import { createBreakerbox, type Session } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { generateText, isStepCount, type ModelMessage, tool } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { watchedSession } from '../test-support/watched-session.ts';
import { breakerApproval, breakerPrepareStep, guardTools } from './ai-sdk.ts';

const refundsWith = (threshold: number) =>
  createBreakerbox({
    agent: 'test-agent',
    tools: {
      refund_api: {
        failureThreshold: threshold,
        alternatives: [{ tool: 'manual_refund', degradation: 'low', adapt: (input) => input }],
      },
      manual_refund: {},
    },
  }).session();

const APPROVAL = { toolApproval: { manual_refund: 'user-approval' } };
const LISTED = { inPlace: ['manual_refund'], toolApproval: {} };

const inputSchema = z.object({ n: z.number() });

describe('R5: an alternative that a person has to approve is never called in place', () => {
  test.each([
    ['toolApproval of generateText', {}, APPROVAL, {}],
    ['needsApproval of the tool', { needsApproval: true }, {}, LISTED],
    ['toolApproval that is given to guardTools', {}, APPROVAL, { ...LISTED, ...APPROVAL }],
    ['a reason in it', {}, {}, { ...LISTED, toolApproval: { manual_refund: { type: 'user-approval', reason: 'x' } } }],
    ['a function for the tool', {}, {}, { ...LISTED, toolApproval: { manual_refund: () => 'approved' } }],
    ['a function for all tools', {}, {}, { ...LISTED, toolApproval: () => undefined }],
  ])('R4, R5: %s: neither on the failure nor on the skip; the model reads of it', async (_, own, call, guarding) => {
    const session = refundsWith(1);
    const paid = vi.fn(async () => 'refunded');
    const tools = guardTools(
      {
        refund_api: tool({
          inputSchema,
          execute: async (): Promise<string> => {
            throw Object.assign(new Error('Service Unavailable'), { status: 503 });
          },
        }),
        manual_refund: tool({ inputSchema, ...own, execute: paid }),
      },
      session,
      guarding,
    );
    const { model, heard } = scriptedModel([
      [{ tool: 'refund_api', input: { n: 1 } }],
      [{ tool: 'refund_api', input: { n: 2 } }],
      'Done.',
    ]);
    const settings = { model, tools, prepareStep: breakerPrepareStep(session), prompt: 'go', stopWhen: isStepCount(6) };
    await generateText({ ...settings, ...call } as Parameters<typeof generateText>[0]);
    expect(paid).not.toHaveBeenCalled();
    expect(heard()).toHaveLength(2);
    for (const text of heard()) expect(text).toContain("Use 'manual_refund' instead");
  });

  test.each([{ manual_refund: 'approved' }, { manual_refund: { type: 'not-applicable' } }, { refund_api: 'denied' }])(
    'R4: with toolApproval %j no person would be asked, so it is called in place',
    async (toolApproval) => {
      const session = refundsWith(1);
      const failing = tool({ inputSchema, execute: async (): Promise<string> => Promise.reject({ status: 503 }) });
      const tools = guardTools(
        { refund_api: failing, manual_refund: tool({ inputSchema, execute: async () => 'refunded' }) },
        session,
        { ...LISTED, toolApproval },
      );
      const options = { toolCallId: '1', messages: [] } as never;
      expect(await tools.refund_api.execute?.({ n: 1 }, options)).toContain('refunded');
    },
  );

  test('R5, E6: without toolApproval it is not known which tools a person has to approve, so inPlace is refused', () => {
    expect(() => guardTools({}, refundsWith(1), { inPlace: ['manual_refund'] })).toThrow(
      /options\.inPlace: lists tools .* Set toolApproval to the value that you give generateText, or to \{\} if a person approves none/,
    );
    expect(() => guardTools({}, refundsWith(1), { inPlace: [] })).not.toThrow();
  });

  test('E6: toolApproval is an object or a function', () => {
    expect(() => guardTools({}, refundsWith(1), { toolApproval: true as never })).toThrow(
      /options\.toolApproval: is of type boolean/,
    );
  });
});

describe('R4: the session is asked before a person', () => {
  const refunding = (session: Session, own: object, calling: object = {}) => {
    const paid = vi.fn(async () => 'refunded');
    const tools = guardTools({ refund: tool({ inputSchema, ...own, execute: paid }) }, session);
    const script = [[{ tool: 'refund', input: { n: 1 } }], 'Done.'];
    const say = async (messages: ModelMessage[]) => {
      const { model, heard } = scriptedModel(script);
      const stopWhen = isStepCount(6);
      const { content, response } = await generateText({ model, tools, messages, stopWhen, ...calling });
      const asked = content.filter((part) => part.type === 'tool-approval-request' && part.isAutomatic !== true);
      return {
        asked: asked as { approvalId: string }[],
        heard: heard(),
        messages: [...messages, ...response.messages],
      };
    };
    return { paid, say, tools };
  };
  const unavailable = () => {
    const { session, decisions } = watchedSession({ tools: { refund: {} } });
    session.control('refund', 'forced_open');
    return { session, decisions };
  };
  const GO: ModelMessage[] = [{ role: 'user', content: 'go' }];
  const SKIPPED = expect.stringContaining("Tool 'refund' is unavailable");

  const GIVEN = [
    ['needsApproval', { needsApproval: true }, undefined],
    ['needsApproval as a function', { needsApproval: async () => true }, undefined],
    ['toolApproval', {}, { refund: 'user-approval' }],
    ['toolApproval with a reason', {}, { refund: { type: 'user-approval', reason: 'money' } }],
    ['toolApproval with a function for the tool', {}, { refund: () => 'user-approval' }],
    ['toolApproval as a function', {}, async () => 'user-approval'],
  ] as const;

  test.each(GIVEN)('%s: a call that is rejected now is rejected at once', async (_, own, given) => {
    const { session, decisions } = unavailable();
    const calling = given && { toolApproval: breakerApproval(given, session) };
    const { paid, say } = refunding(session, own, calling);
    const { asked, heard } = await say(GO);
    expect(asked).toEqual([]);
    expect(heard).toEqual([SKIPPED]);
    expect(decisions).toEqual(['refund: skip']);
    expect(paid).not.toHaveBeenCalled();
  });

  test.each(GIVEN)('%s: a person is asked about a call that may run, and it runs once', async (_, own, given) => {
    const { session, decisions } = watchedSession({ tools: { refund: {} } });
    const calling = given && { toolApproval: breakerApproval(given, session) };
    const { paid, say } = refunding(session, own, calling);
    const { asked, messages } = await say(GO);
    expect(asked).toHaveLength(1);
    expect(decisions).toEqual([]); // The person may take hours.
    const { approvalId } = asked[0] as { approvalId: string };
    await say([
      ...messages,
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true }] },
    ]);
    expect(paid).toHaveBeenCalledOnce();
    expect(decisions).toEqual(['refund: call']);
  });

  test('a call about which no person was asked does not run, even if the tool is available again', async () => {
    const { session } = unavailable();
    const { paid, tools } = refunding(session, { needsApproval: true });
    const { refund } = tools;
    const options = { toolCallId: '1', messages: [] } as never;
    expect(await (refund.needsApproval as (...given: unknown[]) => unknown)({ n: 1 }, options)).toBe(false);
    session.control('refund', 'automatic');
    await expect(refund.execute?.({ n: 1 }, options)).rejects.toThrow(/^Tool 'refund' is unavailable/);
    expect(paid).not.toHaveBeenCalled();
  });

  test.each([['denied'], ['approved'], [undefined], [{ type: 'denied', reason: 'no' }]])(
    'toolApproval %j asks no person, so it stays',
    async (status) => {
      const { session, decisions } = unavailable();
      expect(breakerApproval({ refund: status }, session)).toEqual({ refund: status });
      const all = breakerApproval(() => status, session) as (given: object) => unknown;
      expect(await all({ toolCall: { toolName: 'refund', toolCallId: '1', input: {} } })).toEqual(status);
      expect(decisions).toEqual([]);
    },
  );

  test('E6: breakerApproval takes an object or a function', () => {
    expect(() => breakerApproval(true as never, refundsWith(1))).toThrow(
      /breakerApproval\(\): got a value of type boolean instead/,
    );
  });
});
