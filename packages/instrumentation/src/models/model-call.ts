import type { ErrorCategory, Outcome } from '@breakerbox/core';
import { orUndefined } from '../untrusted.ts';
import { groupOf, providerOf } from './candidates.ts';
import { judgeModelError, type ModelVerdict, UNREADABLE } from './model-verdict.ts';

/** A call of a model that no guard made, such as one of a recording. */
export interface ModelCall {
  /** The id of the provider, such as `openai` or `openai.responses`. */
  readonly provider: string;
  /** The name of the model at its provider. */
  readonly model: string;
  /** What the call failed with. Leave it out for an answer. */
  readonly error?: unknown;
  /** When it failed. Unix milliseconds. Default: now. */
  readonly unixMs?: number;
}

/** How `guardModels` would have named and judged a call. */
export interface ModelCallVerdict {
  /** `PROVIDER/MODEL`. */
  readonly name: string;
  /** The circuit that it shares with the models of its provider, without the prefix. */
  readonly group: string;
  readonly outcome: Outcome;
  /** Undefined for an answer. */
  readonly category: ErrorCategory | undefined;
  /** `group`: the failure is that of the provider or its key, for all of its models. */
  readonly blames: 'group' | undefined;
  /** How long the circuit has to wait, in milliseconds; `longest` for credit that is used up. */
  readonly wait: number | 'longest' | undefined;
  /** Whether the next model of a list would have been asked. */
  readonly asksNext: boolean;
}

/**
 * What a call of a model means (L3), for calls that `guardModels` did not make. Never throws, also for an error that cannot be read.
 *
 * @example
 * ```ts
 * classifyModelCall({ provider: 'openai', model: 'gpt-5', error: { status: 529 } }).category; // 'server'
 * ```
 */
export const classifyModelCall = ({ provider, model, unixMs = Date.now(), ...failed }: ModelCall): ModelCallVerdict => {
  const of = providerOf(provider);
  const named = { name: `${of}/${model}`, group: groupOf(of, model, undefined) };
  if (!('error' in failed)) {
    return { ...named, outcome: 'success', category: undefined, blames: undefined, wait: undefined, asksNext: false };
  }
  const verdict: ModelVerdict = orUndefined(() => judgeModelError(failed.error, unixMs)) ?? UNREADABLE;
  const { outcome, category, blames, wait, next } = verdict;
  return { ...named, outcome, category, blames, wait, asksNext: next === 'always' };
};
