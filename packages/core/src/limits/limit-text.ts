import { formatDuration } from '../routing/wording.ts';
import type { LimitView } from './limit-view.ts';
import type { LimitKind } from './limits.ts';

/** Limits in the words that a model and a person read. */

const UNITS: Readonly<Record<Exclude<LimitKind, 'cost' | 'durationMs'>, string>> = {
  calls: 'tool calls',
  steps: 'turns',
  tokens: 'tokens',
};

const figure = (value: number): string => Math.round(value).toLocaleString('en-US');

/** `14,000 tool calls`, `5 USD`, `10 min`. */
export const amountOf = (value: number, { limit, currency }: Pick<LimitView, 'limit' | 'currency'>): string => {
  if (limit === 'durationMs') return formatDuration(value);
  if (limit === 'cost') return `${Number(value.toFixed(2))} ${currency}`;
  return `${figure(value)} ${UNITS[limit]}`;
};

/** `11,200 of 14,000 tool calls`. */
export const usedOf = (view: Pick<LimitView, 'limit' | 'used' | 'size' | 'currency'>): string => {
  const { limit, used, size, currency } = view;
  if (limit === 'durationMs') return `${formatDuration(used)} of ${formatDuration(size)}`;
  if (limit === 'cost') return `${Number(used.toFixed(2))} of ${Number(size.toFixed(2))} ${currency}`;
  return `${figure(used)} of ${figure(size)} ${UNITS[limit]}`;
};

/** D2: why all calls are paused, without a full stop. */
export const reachedText = (view: LimitView): string => {
  if (view.limit === 'durationMs') return `the ${formatDuration(view.size)} that this run has for tool calls are over`;
  return `this run has used ${usedOf(view)}`;
};

/** D1: why a call of the run itself is skipped, without a full stop. */
export const reservedText = (view: LimitView): string =>
  `the ${amountOf(Math.max(0, view.size - view.used), view)} that are left are reserved for sub-agents`;

/** D2: what the model reads once a limit is near. Empty without such a limit. */
export const adviceOf = (near: readonly LimitView[]): string =>
  near.length === 0
    ? ''
    : `This run has used ${near.map(usedOf).join(', and ')}. Finish what you have begun with what is left, and begin nothing new.`;
