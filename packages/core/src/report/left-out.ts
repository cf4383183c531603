import type { FreshnessKind } from '../freshness.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { DeferredReport, ScopeReport, StandInReport } from './scope.ts';
import type { HeldUpReport, ToolReport } from './tools.ts';
import { entriesOf } from './values.ts';

/** An entry of work that was not done as asked (W2). */
export type LeftOut =
  /** Calls that were not made. */
  | ({ readonly kind: 'held_up'; readonly tool: string; readonly category: ErrorCategory | null } & HeldUpReport)
  /** A task that has to wait. */
  | ({ readonly kind: 'deferred' } & DeferredReport)
  /** A task in which an alternative does the work of another tool. */
  | ({ readonly kind: 'degraded'; readonly task: string } & StandInReport)
  /** Results that may not be current. */
  | { readonly kind: 'label'; readonly tool: string; readonly label: FreshnessKind; readonly times: number };

/** W2: nothing is dropped silently. Tasks come first, because people wait for them. */
export const leftOutOf = (tools: readonly ToolReport[], scope: ScopeReport | null): readonly LeftOut[] => [
  ...(scope?.deferred ?? []).map((one) => ({ kind: 'deferred' as const, ...one })),
  ...(scope?.achievable ?? []).flatMap(({ task, degraded }) =>
    degraded.map((one) => ({ kind: 'degraded' as const, task, ...one })),
  ),
  ...tools.filter(({ heldUp }) => heldUp.skipped + heldUp.paused > 0).map(heldUp),
  ...tools.flatMap(({ tool, labels }) =>
    entriesOf(labels).map(([label, times]) => ({ kind: 'label' as const, tool, label, times })),
  ),
];

const heldUp = ({ tool, category, heldUp: calls }: ToolReport): LeftOut => ({
  kind: 'held_up',
  tool,
  category,
  ...calls,
});
