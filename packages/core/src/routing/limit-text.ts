import { type ExtendedLimit, type LimitView, withoutUnderWay } from '../limits/limit-view.ts';
import type { LimitKind } from '../limits/limits.ts';
import { formatDuration } from './wording.ts';

/** Limits in the words that a model and a person read. */

const UNITS: Readonly<Record<Exclude<LimitKind, 'cost' | 'durationMs'>, string>> = {
  calls: 'tool calls',
  steps: 'turns',
  tokens: 'tokens',
};

/** Rounded down: what is not used up must not read as if it were. */
const figure = (value: number): string => Math.floor(value).toLocaleString('en-US');

/** Of less than 1, three digits that count: a run may cost a part of a cent. */
const money = (value: number): number => Number(Math.abs(value) < 1 ? value.toPrecision(3) : value.toFixed(2));

/** Money that is used, which must not read as all of it before it is. */
const usedMoney = (used: number, size: number): number =>
  used < size && money(used) >= money(size) ? used : money(used);

/** The same of time. */
const usedTime = (used: number, size: number): string => {
  const told = formatDuration(used);
  return used < size && told === formatDuration(size) ? `${Math.floor(used / 1_000)} s` : told;
};

/** `14,000 tool calls`, `5 USD`, `10 min`. */
export const amountOf = (value: number, { limit, currency }: Pick<LimitView, 'limit' | 'currency'>): string => {
  if (limit === 'durationMs') return formatDuration(value);
  if (limit === 'cost') return `${money(value)} ${currency}`;
  return `${figure(value)} ${UNITS[limit]}`;
};

/** `14,000 tool calls to 15,000 tool calls`; money without its currency, which the event does not know. */
export const extendedText = ({
  limit,
  from,
  to,
}: Pick<LimitView, 'limit'> & Pick<ExtendedLimit, 'from' | 'to'>): string =>
  [from, to].map((value) => amountOf(value, { limit, currency: '' }).trim()).join(' to ');

/** `11,200 of 14,000 tool calls`, and of tokens and money what is kept, because that counts too (D3). */
export const usedOf = (view: Pick<LimitView, 'limit' | 'used' | 'size' | 'currency' | 'kept'>): string =>
  view.kept === undefined
    ? spentOf(view)
    : `${spentOf(view)} (${amountOf(view.kept, view)} kept for the last answers of sub-agents)`;

/** `11,200 of 14,000 tool calls`. */
export const spentOf = (view: Pick<LimitView, 'limit' | 'used' | 'size' | 'currency'>): string => {
  const { limit, used, size, currency } = view;
  if (limit === 'durationMs') return `${usedTime(used, size)} of ${formatDuration(size)}`;
  if (limit === 'cost') return `${usedMoney(used, size)} of ${money(size)} ${currency}`;
  return `${figure(used)} of ${figure(size)} ${UNITS[limit]}`;
};

/** D2: why all calls are paused, without a full stop. */
export const reachedText = (view: LimitView): string => {
  if (view.limit === 'durationMs') return `the ${formatDuration(view.size)} that this run has for tool calls are over`;
  const known = withoutUnderWay(view);
  if (view.size === 0) return `this run was given no ${amountOf(0, view).slice(2)}`; // D1: a part that was rounded down to nothing.
  const isKept = view.level === 'reached';
  const by = isKept
    ? 'the rest is kept for the last answers of sub-agents'
    : 'calls under way are expected to use the rest';
  const rest = known.used < view.size ? `, and ${by}` : '';
  return `this run has used ${spentOf(known)}${rest}`;
};

/** D1: why a call of the run itself is skipped, without a full stop. */
export const reservedText = (view: LimitView): string =>
  `the ${amountOf(Math.max(0, view.size - view.used), view)} that are left are reserved for sub-agents`;

/** Why no model may answer (D2), without a full stop. */
export const unansweredText = (view: LimitView): string =>
  view.level === 'reached' || view.used >= view.size ? reachedText(view) : reservedText(view);

/** D2: what the model reads once a limit is near. Empty without such a limit. Of limits of the same kind, it reads the one with least left. */
export const adviceOf = (near: readonly LimitView[]): string => {
  if (near.length === 0) return '';
  const known = near.map(withoutUnderWay);
  const left = ({ size, used }: LimitView): number => size - used;
  const told = known.filter((one, index) =>
    known.every((other, place) => {
      const isAhead = left(other) < left(one) || (left(other) === left(one) && place < index);
      return other.limit !== one.limit || !isAhead;
    }),
  );
  const end = told.some((one) => left(one) <= 0 || one.level === 'reached')
    ? 'Finish now, and begin nothing new.'
    : 'Finish what you have begun with what is left, and begin nothing new.';
  return `This run has used ${told.map(usedOf).join(', and ')}. ${end}`;
};
