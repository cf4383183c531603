import type { SDKMessage } from '@anthropic-ai/claude-agent-sdk';
import type { Session } from '@breakerbox/core';
import { read } from '@breakerbox/core/internal';
import { sumOf } from '../spend-answer.ts';

type Result = Extract<SDKMessage, { readonly type: 'result' }>;

interface Totals {
  readonly tokens: number;
  readonly cost: number;
}

/** The latest totals of each conversation of a session. */
const totals = new WeakMap<Session, Map<string, Totals>>();

/** D3: a result tells the totals of its conversation so far, so the session gets what is new. `/clear` begins at 0 again. */
export const spendResult = (session: Session, result: Result): void => {
  const known = totals.get(session) ?? new Map<string, Totals>();
  totals.set(session, known);
  const models = Object.values(read(result, 'modelUsage') ?? {});
  const tokens = sumOf(...models.flatMap((usage) => COUNTS.map((count) => read(usage, count)))) ?? 0;
  const now = { tokens, cost: sumOf(read(result, 'total_cost_usd')) ?? 0 };
  const before = known.get(result.session_id) ?? NOTHING;
  known.set(result.session_id, now);
  const isReset = now.tokens < before.tokens;
  const since = isReset ? NOTHING : before;
  const isInDollars = session.view().limits?.some(({ currency }) => currency === 'USD') === true;
  session.spend({ tokens: now.tokens - since.tokens, ...(isInDollars && { cost: now.cost - since.cost }) });
};

const NOTHING: Totals = { tokens: 0, cost: 0 };

const COUNTS = ['inputTokens', 'outputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'] as const;
