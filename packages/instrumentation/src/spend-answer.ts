import type { Session } from '@breakerbox/core';
import { isObject, read } from '@breakerbox/core/internal';

/** Answers of models that were counted already: frameworks show one more than once. */
const counted = new WeakSet<object>();

/**
 * D3: the limits of a session count what an answer of a model has used, once. Those of a guarded model with a run say `spent`, because the
 * guard counts them. Without counted tokens, or without limits, nothing happens.
 *
 * @param metadata The metadata of the provider in the answer.
 */
export const spendAnswer = (session: Session, answer: unknown, tokens: number | undefined, metadata: unknown): void => {
  if (tokens === undefined || !isObject(answer) || counted.has(answer)) return;
  counted.add(answer);
  if (read(read(metadata, 'breakerbox'), 'spent') !== true) session.spend({ tokens });
};

/** The sum of the counts that are known; undefined without one. */
export const sumOf = (...counts: readonly unknown[]): number | undefined => {
  const known = counts.filter((count) => Number.isFinite(count)) as number[];
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
};

/** The same for a step of the AI SDK, of any version, or of Mastra. */
export const spendStep = (session: Session, step: unknown): void => {
  const usage = read(step, 'usage');
  const tokens = sumOf(read(usage, 'inputTokens'), read(usage, 'outputTokens'));
  spendAnswer(session, step, tokens, read(step, 'providerMetadata'));
};
