import { type AlternativeRoute, labelled } from '@breakerbox/core';
import { annotated, asClause, atOnce, LOSS, quoteTool, safely } from '@breakerbox/core/internal';
import { hasMethod } from './has-method.ts';
import type { Refusal } from './unavailable.ts';

/** What came back in place of a refused call. */
export interface Answer {
  readonly value: unknown;
}

/** Calls a tool under a decision of its own, and no other in its place; undefined where that decision is against it. */
export type DirectCall = (input: unknown) => Promise<Answer | undefined>;

/** How an executor stands in for a refused call. */
export interface StandIns {
  /** How the executor calls a tool in place of another; undefined where it can't. */
  readonly find: (tool: string) => DirectCall | undefined;
  /** The tool's last good result with its label. Default: core's `labelled`. */
  readonly label?: typeof labelled;
  /** What the alternative gave with a note. Default: core's `annotated`. */
  readonly note?: typeof annotated;
}

/**
 * What answers a call that must not be made: the last good result (F2), or an alternative that is called in place (R4), one
 * hop at most. Undefined where nothing can; what is promised is undefined where the alternative isn't to be called either.
 * An alternative that throws rejects it.
 */
export const otherwise = (
  permit: Refusal,
  input: unknown,
  { find, label = labelled, note = annotated }: StandIns,
): Promise<Answer | undefined> | undefined => {
  const { route } = permit;
  if (route?.kind === 'stale') return Promise.resolve({ value: label(route.result, route.label) });
  if (route?.kind !== 'alternative' || route.adapt === undefined) return undefined;
  const call = find(route.tool);
  return call && inPlace(permit.tool, route, input, call, note);
};

const inPlace = async (
  tool: string,
  route: AlternativeRoute,
  input: unknown,
  call: DirectCall,
  note: typeof annotated,
): Promise<Answer | undefined> => {
  const adapted = adaptedInput(tool, route, input);
  const answer = adapted && (await call(adapted.input));
  return answer && { value: note(answer.value, 'note', noteOf(tool, route)) };
};

const adaptedInput = (
  tool: string,
  route: AlternativeRoute,
  input: unknown,
): { readonly input: unknown } | undefined => {
  const what = `adapt() of tool '${tool}' for '${route.tool}'`;
  return safely(what, () => ({ input: atOnce(what, route.adapt?.(input)) }));
};

export const isThenable = (value: unknown): value is PromiseLike<unknown> => hasMethod(value, 'then');

/** Which tool answered and what is lost by it: who reads the answer must not take it for the tool's own. */
const noteOf = (tool: string, { tool: other, degradation, note }: AlternativeRoute): string => {
  const loss = [...(note === undefined ? [] : [asClause(note)]), LOSS[degradation]].join('; ');
  return `answered by ${quoteTool(other)} in place of ${quoteTool(tool)}, which is unavailable: ${loss}`;
};
