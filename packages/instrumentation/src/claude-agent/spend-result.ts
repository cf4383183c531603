import type { Query, SDKMessage } from '@anthropic-ai/claude-agent-sdk';
import type { Session } from '@breakerbox/core';
import { read, warnOfCurrency } from '@breakerbox/core/internal';
import { sumOf } from '../spend-answer.ts';

type Result = Extract<SDKMessage, { readonly type: 'result' }>;

interface Totals {
  readonly tokens: number;
  readonly cost: number;
}

/**
 * D3: a result tells the totals of its conversation so far, so the session gets what is new in each result of a query. A conversation that is
 * resumed or forked goes on from the totals of the earlier one: Claude Code is asked for them as the query begins. Versions without that
 * question begin at 0. So does `/clear`.
 */
export const spendingOf = (running: Query): ((session: Session, result: Result) => void) => {
  let last = NOTHING;
  let conversation: string | undefined;
  const ask = async (): Promise<void> => {
    const { session } = (await running[USAGE]?.({ skipBehaviors: true })) ?? {};
    if (conversation === undefined) last = totalsOf(read(session, 'model_usage'), read(session, 'total_cost_usd'));
  };
  ask().catch(() => {}); // The query has ended before, or cannot tell.
  return (session, result) => {
    const now = totalsOf(read(result, 'modelUsage'), read(result, 'total_cost_usd'));
    if (now.tokens === 0 && now.cost === 0) return; // The result of a crash says nothing of what was used.
    const isCleared = conversation !== undefined && conversation !== result.session_id;
    const since = isCleared || now.tokens < last.tokens ? NOTHING : last;
    last = now;
    conversation = result.session_id;
    const currencies = session.view().limits?.flatMap(({ currency }) => currency ?? []) ?? [];
    const [other] = currencies;
    const isInDollars = currencies.includes('USD');
    if (other !== undefined && !isInDollars && now.cost > 0)
      warnOfCurrency(session, 'The cost that the Claude Agent SDK reports', 'USD', other);
    session.spend({ tokens: now.tokens - since.tokens, ...(isInDollars && { cost: now.cost - since.cost }) });
  };
};

const USAGE = 'usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET';

const totalsOf = (modelUsage: unknown, cost: unknown): Totals => {
  const models = Object.values(modelUsage ?? {});
  const tokens = sumOf(...models.flatMap((usage) => COUNTS.map((count) => read(usage, count)))) ?? 0;
  return { tokens, cost: sumOf(cost) ?? 0 };
};

const NOTHING: Totals = { tokens: 0, cost: 0 };

const COUNTS = ['inputTokens', 'outputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'] as const;
