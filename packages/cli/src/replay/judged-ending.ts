import {
  type Blamed,
  type BreakerboxConfig,
  type Classification,
  DEFAULT_JUDGEMENT,
  type ErrorCategory,
  type Outcome,
} from '@breakerbox/core';
import { classifyError, classifyResult, type ReadContext } from '@breakerbox/instrumentation';
import type { Ending } from './recording.ts';

/** How a recorded call ended, as the classifier and the configuration judge it. */
export interface JudgedEnding {
  readonly outcome: Outcome;
  readonly category: ErrorCategory | undefined;
  readonly retryAfterMs: number | undefined;
  /** `key`: the failure is about the one host, file or account that the call chose, and does not count toward the tool's circuit. */
  readonly blames: Blamed;
  /** The text gave no evidence: `tool_error` and `unknown` are what is left. */
  readonly isUnjudged: boolean;
  /** The verdict of the classifier, which core reads as live. Undefined: the recording has the outcome itself. */
  readonly verdict?: Classification;
}

/** Whether it is an error of the tool that counts in no circuit, not even in that of a key: it was neither denied nor cancelled. */
export const isIgnoredError = ({ outcome, category, blames }: JudgedEnding): boolean =>
  outcome === 'ignored' &&
  blames !== 'key' &&
  category !== undefined &&
  category !== 'denied' &&
  category !== 'cancelled';

/** O8: the ending of a call of a tool that is unusable. */
export const asUnusable = (
  judged: JudgedEnding,
  tool: string,
  { tools, defaults }: Pick<BreakerboxConfig, 'tools' | 'defaults'>,
): JudgedEnding => ({
  ...judged,
  outcome: tools?.[tool]?.outcomes?.unusable ?? defaults?.outcomes?.unusable ?? DEFAULT_JUDGEMENT.unusable,
  category: 'unusable',
});

const SUCCESS: JudgedEnding = {
  outcome: 'success',
  category: undefined,
  retryAfterMs: undefined,
  blames: 'tool',
  isUnjudged: false,
};

/** Categories of errors whose text and codes say nothing about the cause. */
const WITHOUT_EVIDENCE: readonly (ErrorCategory | undefined)[] = ['tool_error', 'unknown'];

/** Judges an ending with the classifier of `@breakerbox/instrumentation` and the configured outcomes (O1, O2). */
export const judgeEnding = (
  ending: Ending,
  tool: string,
  input: unknown,
  config: Pick<BreakerboxConfig, 'tools' | 'defaults'>,
): JudgedEnding => {
  if ('outcome' in ending) {
    const { outcome, category, retryAfterMs, blames = 'tool' } = ending;
    return outcome === 'success' ? SUCCESS : { outcome, category, retryAfterMs, blames, isUnjudged: false };
  }
  const context: ReadContext = { tool, recorded: true, ...(input !== undefined && { input }) };
  const verdict = 'error' in ending ? classifyError(ending.error, context) : classifyResult(ending.result, context);
  if (verdict === undefined) return SUCCESS;
  const { category, retryAfterMs } = verdict;
  const own = config.tools?.[tool]?.outcomes?.[category] ?? config.defaults?.outcomes?.[category];
  const outcome = own ?? DEFAULT_JUDGEMENT[category];
  const isKeyless = (config.tools?.[tool]?.key ?? config.defaults?.key) === false;
  const blames = isKeyless && verdict.blames === 'key' ? 'tool' : verdict.blames;
  return { outcome, category, retryAfterMs, blames, isUnjudged: WITHOUT_EVIDENCE.includes(category), verdict };
};
