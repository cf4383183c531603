import { ChildLimitError, type FreshnessHint, type FreshnessLabel, type Settlement } from '@breakerbox/core';
import { atOnce, safely } from '@breakerbox/core/internal';
import type { Advise } from './advice.ts';
import type { Judge } from './judging.ts';
import { ToolUnavailableError } from './unavailable.ts';
import { orUndefined } from './untrusted.ts';

/** The end of a call. */
export type CallEnd<Output> =
  | { readonly result: Output; readonly error?: undefined }
  /** The error that it threw, or the reason that stopped it. */
  | { readonly result?: undefined; readonly error: unknown };

/** An outcome, or the value to judge as the call's result: the error that a result reports, or a thrown error that is the tool's answer. */
export type KnownEnd =
  | Extract<Settlement, { readonly outcome: unknown }>
  | { readonly outcome?: never; readonly result: unknown };

/** What the executor reads from the end of a call, and how it labels a result that may not be current. */
export interface Reading {
  /** The cost of the call in tokens (O4). */
  readonly tokens?: ((end: CallEnd<unknown>) => number | undefined) | undefined;
  /** How current its result is (F1). */
  readonly freshness?: ((result: unknown) => FreshnessHint | undefined) | undefined;
  /** The end of a call that only the framework's own form shows. Default: the end unchanged. */
  readonly known?: ((end: CallEnd<unknown>) => KnownEnd | undefined) | undefined;
  /** Adds a label to a result. Default: core's `labelled`. */
  readonly label?: (result: unknown, label: FreshnessLabel) => unknown;
  /** How the model reads the advice after an error (R5). Default: not at all, because a program gets the error. */
  readonly advise?: Advise;
}

/**
 * The settlement of a call: from the framework's own form, or else from its judge.
 *
 * @param signal The tool's signal, which has not fired.
 */
export const settlementOf = (
  end: CallEnd<unknown>,
  judge: Judge,
  input: unknown,
  known?: Reading['known'],
  signal?: AbortSignal,
): Settlement => {
  const found = known && orUndefined(() => known(end));
  if (found !== undefined && 'outcome' in found) return found;
  if (!('error' in end))
    return { result: end.result, verdict: judge.returned(end.result, input, found?.result, signal) };
  if (found !== undefined) {
    return {
      result: found.result,
      verdict: judge.byOption(end.error) ?? judge.returned(found.result, input, undefined, signal),
    };
  }
  return ignoredRejection(end.error) ?? { error: end.error, verdict: judge.thrown(end.error, input, signal) };
};

/**
 * A caller's settlement, with the judge's reading. An explicit outcome stays as it is. Never throws.
 *
 * @param ranMs How long the call ran, in milliseconds.
 */
export const withReading = (given: Settlement, judge: Judge, input: unknown, ranMs?: number): Settlement =>
  orUndefined(() => {
    if (given instanceof Error) return settlementOf({ error: given }, judge, input); // A bare error, which core accepts too.
    if ('outcome' in given && given.outcome !== undefined) return given;
    if ('error' in given) {
      const ignored = ignoredRejection(given.error);
      if (ignored) return { ...ignored, tokens: given.tokens };
      return {
        ...given,
        verdict: given.verdict ?? judge.thrown(given.error, input, given.signal, given.durationMs ?? ranMs),
      };
    }
    if (!('result' in given) || given.verdict !== undefined) return given;
    return { ...given, verdict: judge.returned(given.result, input) };
  }) ?? given;

/** The cost and the freshness that the options read from a result. */
export const readResult = (
  tool: string,
  { tokens, freshness }: Reading,
  result: unknown,
): Pick<Settlement, 'tokens' | 'freshness'> => ({
  tokens: costOf(tool, tokens, { result }),
  freshness: freshness && answerOf(`freshness() of tool '${tool}'`, () => freshness(result)),
});

/** The cost that `tokens` reads from the end of a call; undefined without `tokens`, or if it gives no number. */
export const costOf = (tool: string, tokens: Reading['tokens'], end: CallEnd<unknown>): number | undefined =>
  tokens && answerOf(`tokens() of tool '${tool}'`, () => tokens(end));

/** The synchronous answer of a user's callback; undefined if it throws or gives a promise, which may reject. */
const answerOf = <Answer>(what: string, ask: () => Answer): Answer | undefined =>
  safely(what, () => atOnce(what, ask()));

/**
 * B3: a tool that failed because another was rejected. The failures that caused the rejection are charged already. D1: a tool whose sub-agent
 * may not begin.
 */
export const ignoredRejection = (error: unknown): KnownEnd | undefined =>
  orUndefined(() => error instanceof ToolUnavailableError || error instanceof ChildLimitError)
    ? { outcome: 'ignored', category: 'denied' }
    : undefined;
