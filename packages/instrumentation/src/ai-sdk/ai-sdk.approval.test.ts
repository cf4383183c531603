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

const inputSchema = z.object({ n: z.number() });

describe('R5: an alternative that a person has to approve is never called in place', () => {
  test.each([
    ['toolApproval of generateText', {}, { toolApproval: { manual_refund: 'user-approval' } }, undefined],
    ['needsApproval of the tool', { needsApproval: true }, {}, ['manual_refund']],
  ])('R4, R5: %s: neither on the failure nor on the skip; the model reads of it', async (_, own, call, inPlace) => {
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
      inPlace === undefined ? {} : { inPlace },
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
});
