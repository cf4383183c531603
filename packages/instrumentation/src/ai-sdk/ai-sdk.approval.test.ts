import { createBreakerbox } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { generateText, isStepCount, tool } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { breakerPrepareStep, guardTools } from './ai-sdk.ts';

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
