import { read, warnOnce } from '@breakerbox/core/internal';
import { activeSession } from '../active-session.ts';
import type { ModelList } from './candidates.ts';

/** L1: without a session nothing counts what models use for the limits of a run. */
export const warnWithoutSession = ({ agent, options, limitsUsage }: ModelList<unknown>): void => {
  if (!limitsUsage() || options.session !== undefined || activeSession() !== undefined) return;
  warnOnce(
    'BREAKERBOX_MODEL_SESSION',
    agent,
    () =>
      `A model of agent '${agent}' was asked without a session, so guardModels() counts nothing of it for the limits of tokens and cost. Give guardModels() the option session, or ask the model within withSession(session, run).`,
  );
};

/** L4: the caller's own time limit has to leave time for the models that are behind. */
export const warnOfShortLimit = (
  { agent, candidates, limits }: ModelList<unknown>,
  index: number,
  signal: AbortSignal | undefined,
): void => {
  const [one, next] = [candidates[index], candidates[index + 1]];
  if (next === undefined || signal?.aborted !== true || read(signal.reason, 'name') !== 'TimeoutError') return;
  const { firstByteMs, attemptMs } = limits;
  warnOnce(
    'BREAKERBOX_MODEL_TIME_LIMIT',
    agent,
    () =>
      `The time limit of the caller ended a call of ${one?.model} before ${next.model} could be asked. It has to be longer than the limits of all models together: ${firstByteMs * candidates.length} ms until the first part of a stream, ${attemptMs * candidates.length} ms without a stream. Give the call more time, or guardModels() a lower firstByteMs and attemptMs.`,
  );
};

/** L6: a client that retries by itself meets the same outage, and the guard sees one long call. */
export const warnOfRetries = (model: string, retries: unknown, fix: string): void => {
  if (typeof retries !== 'number' || retries <= 0) return;
  warnOnce(
    'BREAKERBOX_MODEL_RETRIES',
    model,
    () =>
      `The client of ${model} retries a failed call ${retries} times before guardModels() sees the failure, so the next model is asked late. ${fix}`,
  );
};
