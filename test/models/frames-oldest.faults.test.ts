import { Agent } from '@mastra/core/agent';
import { Agent as OldAgent } from 'mastra-oldest/agent';
import { describe, expect, test, vi } from 'vitest';
import { anthropicFrame } from './frame-anthropic.ts';
import { mastraFrame } from './frame-mastra.ts';
import { modelContract, pairFor } from './frames.ts';

// The oldest versions that docs/frameworks.md claims. OpenAI's client of the oldest OpenAI Agents retries unless it is told not to.
vi.mock('@anthropic-ai/sdk', () => import('anthropic-sdk-oldest'));
vi.mock('@anthropic-ai/sdk/helpers/beta/zod', () => import('anthropic-sdk-oldest/helpers/beta/zod'));
vi.mock('@mastra/core/agent', () => import('mastra-oldest/agent'));
vi.mock('@mastra/core/mastra', () => import('mastra-oldest/mastra'));
vi.mock('@mastra/core/tools', () => import('mastra-oldest/tools'));

describe("Anthropic's SDK 0.84", () => modelContract(anthropicFrame));
describe('Mastra 1.42', () => modelContract(mastraFrame));

test('L1: these are the oldest versions', async () => {
  const { model, primary } = await pairFor(anthropicFrame, 'messages');
  await anthropicFrame.ask(model, false);
  expect(primary.calls[0]?.headers['user-agent']).toContain('0.84.0');
  expect(Agent).toBe(OldAgent);
});
