import type { SDKMessage } from '@anthropic-ai/claude-agent-sdk';
import type { Session } from '@breakerbox/core';
import { read, warnOfCurrency } from '@breakerbox/core/internal';
import { processWide } from '../process-wide.ts';
import { sumOf } from '../spend-answer.ts';

type Result = Extract<SDKMessage, { readonly type: 'result' }>;

interface Totals {
  readonly tokens: number;
  readonly cost: number;
}

/**
 * The latest totals of each conversation. For all sessions: a conversation that is resumed goes on from its total, often with another session, such
 * as one that was restored.
 */
const totals = processWide('claude-totals', () => new Map<string, Totals>());

/** Most conversations kept. */
const REMEMBERED = 10_000;

/** D3: a result tells the totals of its conversation so far, so the session gets what is new. `/clear` begins at 0 again. */
export const spendResult = (session: Session, result: Result): void => {
  const models = Object.values(read(result, 'modelUsage') ?? {});
  const tokens = sumOf(...models.flatMap((usage) => COUNTS.map((count) => read(usage, count)))) ?? 0;
  const now = { tokens, cost: sumOf(read(result, 'total_cost_usd')) ?? 0 };
  if (now.tokens === 0 && now.cost === 0) return; // The result of a crash says nothing of what was used.
  const before = totals.get(result.session_id) ?? NOTHING;
  remember(result.session_id, now);
  const isReset = now.tokens < before.tokens;
  const since = isReset ? NOTHING : before;
  const currencies = session.view().limits?.flatMap(({ currency }) => currency ?? []) ?? [];
  const [other] = currencies;
  const isInDollars = currencies.includes('USD');
  if (other !== undefined && !isInDollars && now.cost > 0)
    warnOfCurrency(session, 'The cost that the Claude Agent SDK reports', 'USD', other);
  session.spend({ tokens: now.tokens - since.tokens, ...(isInDollars && { cost: now.cost - since.cost }) });
};

const remember = (conversation: string, now: Totals): void => {
  totals.delete(conversation);
  totals.set(conversation, now);
  const [oldest] = totals.size > REMEMBERED ? totals.keys() : [];
  if (oldest !== undefined) totals.delete(oldest);
};

const NOTHING: Totals = { tokens: 0, cost: 0 };

const COUNTS = ['inputTokens', 'outputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'] as const;
