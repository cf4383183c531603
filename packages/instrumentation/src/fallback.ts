import { type AlternativeRoute, labelled } from '@breakerbox/core';
import {
  annotated,
  asClause,
  atOnce,
  dropAlternative,
  LOSS,
  quoteTool,
  safely,
  type TriedEnd,
} from '@breakerbox/core/internal';
import type { Rejection } from './acquire.ts';
import { type Advise, adviseError, adviseResult } from './advice.ts';
import type { Run } from './run.ts';

/** The answer in place of a call, or the error that the other tool threw. */
export type Answer = ({ readonly value: unknown } | { readonly error: unknown }) & {
  /** Why it is no answer: the tool threw or reported an error. Undefined for an end that says nothing about the tool, such as an abort. */
  readonly unanswered?: TriedEnd | undefined;
};

/** The answer of another tool's call, which may end by an error. */
export const answerOf = (end: Promise<unknown>, unanswered: () => TriedEnd | undefined): Promise<Answer> =>
  end.then(
    (value) => ({ value, unanswered: unanswered() }),
    (error: unknown) => ({ error, unanswered: unanswered() }),
  );

/** The value of an answer. Throws the error of another tool that threw. */
export const valueIn = (answer: Answer): unknown => {
  if ('error' in answer) throw answer.error;
  return answer.value;
};

/**
 * Calls a tool with its own decision, and no further tool in its place; undefined if that decision rejects the call.
 *
 * @param usualMs Milliseconds that it has if it has no time limit of its own. Default: as many as it takes.
 */
export type DirectCall = (input: unknown, usualMs?: number) => Promise<Answer | undefined>;

/** How an executor answers a rejected call with another result. */
export interface FallbackOptions {
  /** How the executor calls a tool in place of another; undefined if it cannot. */
  readonly find: (tool: string) => DirectCall | undefined;
  /** Adds the label to the tool's last good result. Default: core's `labelled`. */
  readonly label?: typeof labelled | undefined;
  /** Adds the note to the alternative's result. Default: core's `annotated`. */
  readonly note?: typeof annotated | undefined;
  /** How the model reads the advice after an error of the alternative (R5). Default: not at all, because a program gets the error. */
  readonly advise?: Advise | undefined;
}

/**
 * The answer to a call that may not run: the last good result (F2), or an alternative that is called in place (R4), at most one hop.
 * Undefined if there is neither. The promise gives undefined if the alternative may not be called either, and rejects if the
 * alternative throws. An alternative that did not answer ends with the advice, which says why the first tool was not called (R5).
 */
export const fallbackFor = (
  permit: Rejection,
  input: unknown,
  { find, label = labelled, note = annotated, advise }: FallbackOptions,
): Promise<{ readonly value: unknown } | undefined> | undefined => {
  const { tool, route } = permit;
  if (route?.kind === 'stale') return Promise.resolve({ value: label(route.result, route.label) });
  const call = route?.kind === 'alternative' && route.adapt !== undefined ? find(route.tool) : undefined;
  if (route?.kind !== 'alternative' || call === undefined) return undefined;
  return (async () => {
    const adapted = adaptedInput(tool, route, input);
    const answer = adapted && (await call(adapted.input));
    if (answer === undefined) return undefined;
    const { unanswered } = answer;
    if (unanswered !== undefined) dropAlternative(permit, unanswered);
    const advised = unanswered === undefined ? undefined : permit.message;
    if ('error' in answer) throw advised === undefined ? answer.error : adviseError(answer.error, advised, advise);
    const value = note(answer.value, 'note', noteOf(tool, route));
    return { value: advised === undefined ? value : adviseResult(value, advised, advise) };
  })();
};

/** What a run says about a call that it made. */
type Made = Pick<Run, 'failed' | 'instead' | 'caller' | 'withoutAlternative'>;

/** The most milliseconds of an alternative after a failure, where no tool has a time limit: a failing call must not hang. */
const LONGEST_MS = 30_000;

/**
 * R5: the end of a call that was made. If its error left the tool unavailable, an alternative that may be called in place answers at
 * once, by its own decision and within its own time limit, or 30 s without one. Unless that succeeds, the end stays, and the advice
 * says how the alternative ended. In a pause there is no alternative (R2).
 *
 * @throws the caller's reason if the caller stops the alternative.
 */
export const orAlternative = async <Output>(
  tool: string,
  run: Made,
  end: Promise<Output>,
  input: unknown,
  { find, note = annotated }: FallbackOptions,
): Promise<Output> => {
  let ended: { readonly value: unknown } | { readonly error: unknown } = await end.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  const { instead: route, failed, caller } = run;
  const isWanted = route?.kind === 'alternative' && route.adapt !== undefined && caller?.aborted !== true;
  const call = isWanted ? find(route.tool) : undefined;
  if (route?.kind === 'alternative' && call !== undefined) {
    const adapted = adaptedInput(tool, route, input);
    const answer = adapted && (await call(adapted.input, LONGEST_MS).catch(asFailed));
    if (answer !== undefined && 'value' in answer && answer.unanswered === undefined) {
      return note(answer.value, 'note', noteOf(tool, route, `which failed (${failed})`)) as Output;
    }
    caller?.throwIfAborted();
    if (adapted !== undefined)
      ended = run.withoutAlternative(answer ? (answer.unanswered ?? 'failed') : 'rejected') ?? ended;
  }
  if ('error' in ended) throw ended.error;
  return ended.value as Output;
};

const asFailed = (error: unknown): Answer => ({ error, unanswered: 'failed' });

const adaptedInput = (
  tool: string,
  route: AlternativeRoute,
  input: unknown,
): { readonly input: unknown } | undefined => {
  const what = `adapt() of tool '${tool}' for '${route.tool}'`;
  return safely(what, () => ({ input: atOnce(what, route.adapt?.(input)) }));
};

/** Says which tool answered and what is lost by it, so that the reader does not take the answer for the tool's own. */
const noteOf = (
  tool: string,
  { tool: other, degradation, note }: AlternativeRoute,
  why = 'which is unavailable',
): string => {
  const loss = [...(note === undefined ? [] : [asClause(note)]), LOSS[degradation]].join('; ');
  return `answered by ${quoteTool(other)} in place of ${quoteTool(tool)}, ${why}: ${loss}`;
};
