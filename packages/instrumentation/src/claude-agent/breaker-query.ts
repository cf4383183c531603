import type { Query, SDKMessage } from '@anthropic-ai/claude-agent-sdk';
import { BreakerboxUsageError } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import { type SessionSource, sessionFinder } from '../acquire.ts';
import { aValue } from '../options.ts';
import { overlay } from '../overlay.ts';
import { hasMethod } from '../untrusted.ts';
import { callsOf } from './conversation-calls.ts';
import { spendingOf } from './spend-result.ts';

/**
 * Returns the same query. When it ends for any reason, the calls of its conversation are given up: they cost nothing, and a probe's
 * place is free again. Claude Code calls no hook when you leave the loop early by `break`, `return()` or `close()`, when the query is
 * aborted, or when a hook defers a call. Without `guardQuery`, a probe's place is then taken until its lease ends.
 *
 * The limits of the session count the tokens and the cost of each result (D3). Claude Code tells them when a turn is over, and those of sub-agents
 * with them. What a conversation used before it was resumed or forked does not count: Claude Code is asked for that once, as the query begins.
 *
 * @param session The source that `breakerHooks` got.
 * @throws BreakerboxUsageError when `session` is not a session, or `running` is not a query.
 *
 * @example
 * ```ts
 * const running = guardQuery(query({ prompt, options: { hooks: breakerHooks(session) } }), session);
 * for await (const message of running) if (isEnough(message)) break;
 * ```
 */
export function guardQuery<Running extends Query>(running: Running, session: SessionSource): Running {
  const where = 'guardQuery()';
  const findSession = sessionFinder(session, where);
  const calls = callsOf(findSession());
  if (!hasMethod(running, 'next') || !hasMethod(running, 'close')) {
    throw new BreakerboxUsageError(
      `${where}: got ${aValue(running)} instead of a query, so the hooks cannot see when it ends. Pass the result of query().`,
    );
  }
  const spend = spendingOf(running);
  const conversations = new Set<string>();
  const giveUp = (): void => void safely(where, () => calls.giveUp(({ session_id }) => conversations.has(session_id)));

  const watch = async (step: Promise<IteratorResult<SDKMessage, void>>): Promise<IteratorResult<SDKMessage, void>> => {
    try {
      const { done, value } = await step;
      if (done) giveUp();
      else if (value.session_id !== undefined) conversations.add(value.session_id);
      if (!done && value.type === 'result') safely(where, () => spend(findSession(), value));
    } catch {
      giveUp();
    }
    return step;
  };

  const guarded: Running = overlay(
    running,
    new Map<PropertyKey, unknown>([
      ['next', () => watch(running.next())],
      ['return', () => watch(running.return())],
      ['throw', (error: unknown) => watch(running.throw(error))],
      [
        'close',
        () => {
          running.close();
          giveUp();
        },
      ],
      [Symbol.asyncIterator, () => guarded],
      [Symbol.asyncDispose, () => watch(running.return()).then(() => {})],
    ]),
  );
  return guarded;
}
