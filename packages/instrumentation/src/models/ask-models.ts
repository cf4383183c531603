import type { Permit, Session } from '@breakerbox/core';
import { askForAnswer, beginModelCall } from '@breakerbox/core/internal';
import { isRejected } from '../acquire.ts';
import { activeSession } from '../active-session.ts';
import { giveTurnBack, noteModel, takeTurn } from '../last-turn.ts';
import { sessionHere } from '../running-calls.ts';
import type { Candidate, GuardModelsOptions, ModelList } from './candidates.ts';
import { ModelAttempt } from './model-attempt.ts';
import { probeLimits } from './model-limits.ts';
import { beginModelSpan, type ModelSpan } from './model-span.ts';
import type { ModelVerdict } from './model-verdict.ts';
import { warnOfShortLimit, warnWithoutSession } from './model-warnings.ts';
import { ModelsUnavailableError, RunLimitError, type UnansweredModel } from './models-unavailable.ts';

/** How an adapter asks one model. */
export interface Asking<Model, Answer> {
  /** The caller's signal. */
  readonly signal: AbortSignal | undefined;
  /** Whose key the call uses, if tenants bring keys of their own (C14). Default: all calls use one. */
  readonly tenant?: string | undefined;
  /** The most tokens that the answer may have, for the estimate of the call (D3). Default: not known. */
  readonly maxOutputTokens?: number | undefined;
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
 * @throws ModelsUnavailableError if no model is left. RunLimitError if a limit of the run is reached, and a model has answered since. The error of the provider if another model would give the same one.
 */
export const askModels = async <Model, Answer>(
  list: ModelList<Model>,
  asking: Asking<Model, Answer>,
): Promise<Answer> => {
  const { signal } = asking;
  const span = beginModelSpan(list);
  warnWithoutSession(list);
  const unanswered: UnansweredModel[] = [];
  const failed: { first?: { readonly error: unknown } } = {};
  let waitMs = longestWait(list.options);
  for (const candidate of list.candidates) {
    let asked = await askOne(list, candidate, asking, span, unanswered, failed);
    while ('why' in asked && asked.waitMs !== undefined && asked.waitMs <= waitMs) {
      waitMs -= asked.waitMs;
      await pause(asked.waitMs, signal);
      asked = await askOne(list, candidate, asking, span, unanswered, failed);
    }
    if ('answer' in asked) return asked.answer;
    const { waitMs: _, ...one } = asked;
    unanswered.push(one);
    span.tried(one);
  }
  throwIfLeft(signal, span);
  return fail(list, unanswered, failed.first, span);
};

/** A model that did not answer. `waitMs`: it is only rate-limited, and may be asked again after so many milliseconds. */
type NoAnswer = UnansweredModel & { readonly waitMs?: number | undefined };

const askOne = async <Model, Answer>(
  list: ModelList<Model>,
  candidate: Candidate<Model>,
  asking: Asking<Model, Answer>,
  span: ModelSpan,
  tried: readonly UnansweredModel[],
  failed: { first?: { readonly error: unknown } },
): Promise<{ readonly answer: Answer } | NoAnswer> => {
  const { signal } = asking;
  throwIfLeft(signal, span);
  const { model, index } = candidate;
  if (asking.canCarry?.(candidate) === false) return { model, why: 'unsupported' };
  const { tenant } = asking;
  const { name } = candidate.handle;
  const permit = list.session.acquire(name, tenant === undefined ? undefined : { key: tenant });
  if (isRejected(permit)) {
    if (permit.reason === 'key_open') return { model, why: 'skipped', isOfTenant: true };
    const state = stateOf(list, candidate);
    return {
      model,
      why: 'skipped',
      ...state,
      ...(state.category === 'rate_limit' && { waitMs: untilOf(list, state) }),
    };
  }
  const given = list.options.session ?? activeSession();
  const session = given && sessionHere(given);
  if (session !== undefined) noteModel(session);
  const last = session && lastAnswer(session, permit, span);
  const call = session && beginModelCall(session, name, asking.maxOutputTokens);
  const isLast = index === list.candidates.length - 1;
  const limits = permit.decision === 'probe' && !isLast ? probeLimits(list.limits) : list.limits;
  const attempt = new ModelAttempt(
    permit,
    candidate,
    limits,
    [...tried],
    signal,
    span,
    list.unixNow,
    tenant !== undefined,
    call && { call, last },
  );
  try {
    return { answer: await span.within(() => asking.call(candidate, attempt)) };
  } catch (thrown) {
    const { verdict, error } = attempt.failed(thrown);
    const { category, status, wait } = verdict;
    failed.first ??= { error };
    warnOfShortLimit(list, index, signal);
    if (!goesOn(verdict, index, list)) {
      span.ended(verdict);
      throw error;
    }
    const state = stateOf(list, candidate);
    const isLimited = category === 'rate_limit' && typeof wait === 'number';
    const waitMs = isLimited ? Math.max(wait, untilOf(list, state) ?? 0) : undefined;
    return { model, why: 'failed', category, status, untilUnixMs: state.untilUnixMs, waitMs };
  }
};

/**
 * D2: once a limit pauses the run, a model answers once more.
 *
 * @throws RunLimitError if it has.
 */
const lastAnswer = (session: Session, permit: Permit, span: ModelSpan): ReturnType<typeof askForAnswer> => {
  const isOpen = takeTurn(session);
  const last = permit.wouldDecide === undefined ? askForAnswer(session, isOpen) : undefined;
  if (last?.limit === undefined) return isOpen && last ? { ...last, failed: () => giveTurnBack(session) } : last;
  permit.settle({ outcome: 'ignored', category: 'denied' });
  span.ended({ category: 'denied' });
  throw new RunLimitError(last.limit);
};

const LONGEST_WAIT_MS = 10_000;

/** L5: how long a request waits for models that are only rate-limited, because another one would have to read the whole prompt again. */
const longestWait = ({ prefer, maxWaitMs = LONGEST_WAIT_MS }: GuardModelsOptions): number =>
  prefer === 'cache' ? maxWaitMs : -1;

const untilOf = ({ unixNow }: ModelList<unknown>, { untilUnixMs }: Pick<UnansweredModel, 'untilUnixMs'>) =>
  untilUnixMs === undefined ? undefined : untilUnixMs - unixNow();

/** Ends at once when the caller leaves. */
const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms + 1); // A timer may end a moment early.
    signal?.addEventListener('abort', end);
    if (signal?.aborted === true) end();
  });

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
