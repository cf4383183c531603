import type { Classification, ErrorCategory } from '../index.ts';
import type { Ended, Model, ModelPermit } from './model.ts';

/** What a tool returned (O7). */
export interface Returned {
  /** What its `isFailure` says of it, if it has one. */
  readonly says: boolean | ErrorCategory | undefined;
  /** What the executor has read in it; null: a success. */
  readonly verdict?: Classification | null | undefined;
  readonly blames?: 'group' | undefined;
}

/** How a call ended, as the executor tells it. */
export type How = Ended | Returned;

/** O1. */
const IGNORED: readonly ErrorCategory[] = ['invalid_input', 'denied', 'cancelled', 'tool_error'];

/** O1, O7, C14: what a settlement comes to. */
export const judged = ({ config }: Model, { tool, isKeyless }: ModelPermit, how: How): Ended => {
  if (!('says' in how)) {
    const isOfKey = how.blames === 'key';
    if (isOfKey && !isKeyless) return ofKey(how);
    const { blames: _, ...rest } = how;
    return { ...(isOfKey ? rest : how), result: `${how.tokens}` };
  }
  const says = config.tools?.[tool]?.isFailure === undefined ? undefined : how.says;
  const { category, blames, answered, unexplained } = saidBy(says) ?? how.verdict ?? {};
  if (says === false || category === undefined)
    return { outcome: 'success', result: JSON.stringify({ says: how.says }) };
  if (blames === 'key' && how.blames !== 'group' && !isKeyless)
    return ofKey({ outcome: 'failure', category, blames, ...(answered && { answered }) });
  const outcome = IGNORED.includes(category) && saidBy(says) === undefined ? 'ignored' : 'failure';
  const told = { outcome, category, ...(answered && { answered }) } as const;
  if (how.blames) return { ...told, ...(outcome === 'failure' && { blames: how.blames }) };
  return { ...told, ...(unexplained !== undefined && { unexplained }) };
};

/** C14: what is ignored already, and what ended the call from outside, counts nowhere. */
const ofKey = ({ blames, ...how }: Ended): Ended => {
  const counts = how.outcome === 'failure' && how.category !== 'cancelled' && how.category !== 'denied';
  return { ...how, outcome: 'ignored', ...(counts && blames && { blames }) };
};

const saidBy = (says: Returned['says']): Classification | undefined => {
  if (says === true) return { category: 'server' };
  return typeof says === 'string' ? { category: says } : undefined;
};
