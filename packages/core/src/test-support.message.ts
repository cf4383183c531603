import { createLedger } from './budget/ledger.ts';
import type { SystemicEvent } from './budget/systemic.ts';
import { createWindowBudget } from './budget/window.ts';
import { type Circuit, closedCircuit, fail } from './circuit/circuit.ts';
import { resolvePolicy } from './circuit/policy.ts';
import { REASONS } from './reasons.ts';
import { type RejectionFacts, rejectionText } from './routing/message.ts';
import type { AlternativeRoute } from './routing/route.ts';

/** Facts for texts to a model, with every field filled. */

export const policy = resolvePolicy({ failureThreshold: 1 });
export const at = { ms: 1_000, step: 4, stepMs: 1_000 };
const failure = { category: 'network', retryAfterMs: undefined, durationMs: 5, tokens: 0 } as const;
export const open: Circuit = fail(closedCircuit(), closedCircuit(), failure, policy, at);
export const due = { ms: 99_000, step: 40, stepMs: 99_000 };
export const ledger = createLedger(createWindowBudget({ limit: 5 }));

export const facts = (given: Partial<RejectionFacts> = {}): RejectionFacts => ({
  reason: 'open',
  decision: REASONS[given.reason ?? 'open'],
  tool: 'web_search',
  mode: 'automatic',
  circuit: open,
  policy,
  group: undefined,
  key: undefined,
  event: undefined,
  gate: undefined,
  limit: undefined,
  ledger,
  at,
  takesTurns: true,
  hasWorked: true,
  route: { kind: 'defer' },
  ...given,
});

export const say = (given: Partial<RejectionFacts> = {}) => rejectionText(facts(given));

export const GO_ON = 'Continue without it, and say in your answer what is missing.';

export const alternative: AlternativeRoute = {
  kind: 'alternative',
  tool: 'news_search',
  method: undefined,
  degradation: 'low',
  note: 'recent items only',
  adapt: undefined,
};

export const groupOf = (circuit: Circuit): RejectionFacts['group'] => ({
  name: 'group:github',
  mode: 'automatic',
  circuit,
  policy,
});

export const opening = (tool: string) => ({ tool, category: 'network', at, unixMs: 0 }) as const;
export const event: SystemicEvent = {
  category: 'network',
  layer: 'network',
  dependency: undefined,
  group: undefined,
  openings: [opening('a'), opening('b')],
};
