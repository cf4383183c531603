import { isRejected } from '../acquire.ts';
import type { Candidate, ModelList } from './candidates.ts';
import { ModelAttempt } from './model-attempt.ts';
import { probeLimits } from './model-limits.ts';
import { beginModelSpan, type ModelSpan } from './model-span.ts';
import type { ModelVerdict } from './model-verdict.ts';
import { ModelsUnavailableError, type UnansweredModel } from './models-unavailable.ts';

/** How an adapter asks one model. */
export interface Asking<Model, Answer> {
  /** The caller's signal. */
  readonly signal: AbortSignal | undefined;
  /** Whether a model can take the request. Default: it can. */
  canCarry?(candidate: Candidate<Model>): boolean;
  /**
   * Calls a model with `attempt.signal`, and waits by `attempt.wait`. Resolves when the answer is whole, or for a stream when its first
   * visible part is there; by then it has settled the attempt, or will at the end of the stream. Rejects with the provider's error.
   */
  call(candidate: Candidate<Model>, attempt: ModelAttempt): Promise<Answer>;
}

/**
 * Asks the models of a list in their order (L5). The first one whose circuit lets the call through is called; if it fails before its
 * first visible part, the next one is.
 *
 * @throws ModelsUnavailableError if no model is left. The error of the provider if another model would give the same one.
 */
export const askModels = async <Model, Answer>(
  list: ModelList<Model>,
  asking: Asking<Model, Answer>,
): Promise<Answer> => {
  const { signal } = asking;
  const span = beginModelSpan(list);
  const unanswered: UnansweredModel[] = [];
  let first: { readonly error: unknown } | undefined;
  const note = (one: UnansweredModel): void => {
    unanswered.push(one);
    span.tried(one);
  };
  for (const candidate of list.candidates) {
    throwIfLeft(signal, span);
    const { model, index } = candidate;
    if (asking.canCarry?.(candidate) === false) {
      note({ model, why: 'unsupported' });
      continue;
    }
    const permit = list.session.acquire(candidate.handle.name);
    if (isRejected(permit)) {
      note({ model, why: 'skipped', ...stateOf(list, candidate) });
      continue;
    }
    const isLast = index === list.candidates.length - 1;
    const limits = permit.decision === 'probe' && !isLast ? probeLimits(list.limits) : list.limits;
    const attempt = new ModelAttempt(permit, candidate, limits, [...unanswered], signal, span, list.unixNow);
    try {
      return await span.within(() => asking.call(candidate, attempt));
    } catch (thrown) {
      const { verdict, error } = attempt.failed(thrown);
      const { category, status } = verdict;
      first ??= { error };
      if (!goesOn(verdict, index, list)) {
        span.ended(verdict);
        throw error;
      }
      const { untilUnixMs } = stateOf(list, candidate);
      note({ model, why: 'failed', category, status, untilUnixMs });
    }
  }
  throwIfLeft(signal, span);
  return fail(list, unanswered, first, span);
};

/** The caller's own error, if it no longer waits. */
const throwIfLeft = (signal: AbortSignal | undefined, span: ModelSpan): void => {
  if (signal?.aborted !== true) return;
  span.ended(undefined);
  throw signal.reason;
};

/** L3: whether the next model is asked. */
const goesOn = ({ next }: ModelVerdict, index: number, { options }: ModelList<unknown>): boolean => {
  if (next === 'as fallback') return index > 0;
  if (next === 'too long') return index > 0 || options.onContextTooLong === 'next';
  return next === 'always';
};

const fail = (
  { candidates }: ModelList<unknown>,
  unanswered: readonly UnansweredModel[],
  first: { readonly error: unknown } | undefined,
  span: ModelSpan,
): never => {
  const [primary] = candidates;
  primary?.handle.unanswered();
  span.ended({ category: unanswered.find(({ category }) => category !== undefined)?.category ?? 'unknown' });
  // One model alone is a circuit: its error is the caller's.
  if (candidates.length === 1 && first !== undefined) throw first.error;
  throw new ModelsUnavailableError(unanswered, first?.error);
};

/** Why a model is skipped, and until when. Undefined values: its circuit is closed. */
const stateOf = (
  { session, unixNow }: ModelList<unknown>,
  { handle }: Candidate<unknown>,
): Pick<UnansweredModel, 'category' | 'untilUnixMs' | 'isForced'> => {
  const { circuits, nextProbe } = session.explain(handle.name);
  const isForced = circuits.some(({ state }) => state === 'forced_open');
  if (isForced) return { category: undefined, untilUnixMs: undefined, isForced };
  const open = circuits.find(({ state }) => state !== 'closed');
  const waitMs = Math.ceil(Math.max(nextProbe?.ms ?? 0, nextProbe?.notBeforeMs ?? 0));
  return { category: open?.category, untilUnixMs: waitMs > 0 ? unixNow() + waitMs : undefined };
};
