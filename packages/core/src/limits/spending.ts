import type { Clock } from '../clock.ts';
import { read } from '../safely.ts';
import { warnOnce } from '../warnings/warnings.ts';
import type { LimitView, Spent } from './limit-view.ts';
import { pausesRun, type Run } from './run.ts';

/** For executors: what they ask of the run of a session. Not part of the public API. */

/** The session of a run. */
interface Owner {
  /** The run has used something: its limits are looked at. */
  runChanged(run: Run): void;
  /** D7: the metrics count it. */
  countSpent(spent: Spent): void;
}

const runOf = (session: object): Run | undefined => read(session, 'run') as Run | undefined;

/** A call of a model that is under way. */
export interface ModelCall {
  /** The call is over: what it has used, and whether it succeeded. */
  end(usage: Spent, succeeded: boolean): void;
}

/**
 * D3: a model is called for this session. Call `end(usage, succeeded)` on the result once, when the call is over; then do not call
 * `session.spend()` for it. In a session without limits, only the metrics count it.
 */
export const beginModelCall = (session: object, name: string, maxOutputTokens?: number | undefined): ModelCall => {
  const owner = session as Owner;
  const run = runOf(session);
  if (run === undefined) return { end: (usage) => owner.countSpent(usage) };
  const call = run.beginModel(name, clockOf(session).now(), maxOutputTokens);
  owner.runChanged(run);
  return {
    end: (usage, succeeded) => {
      const { cost, currency = run.currency } = usage;
      const isOther = run.currency !== undefined && currency !== run.currency;
      if (isOther && cost !== undefined)
        warnOfCurrency(session, `The price of '${name}'`, `${currency}`, `${run.currency}`);
      // The limit cannot count money of another currency. The metrics can.
      const spent = call.end(isOther ? { tokens: usage.tokens } : usage, succeeded);
      owner.countSpent({ ...spent, ...(isOther && { cost }), currency });
      owner.runChanged(run);
    },
  };
};

/** D3: money that the limit of a session cannot count. `what`: the beginning of a sentence, such as `The price of 'model:a/b'`. */
export const warnOfCurrency = (session: object, what: string, other: string, currency: string): void =>
  warnOnce(
    'BREAKERBOX_OTHER_CURRENCY',
    what,
    () =>
      `${what} is in ${other}, but the limit of cost of agent '${read(session, 'agent')}' is in ${currency}, so the limit counts none of this money. Give both in the same currency.`,
  );

const clockOf = (session: object): Clock => read(read(session, 'box'), 'clock') as Clock;

/** D4: whether the session has no more time for calls. */
export const isTimeOver = (session: object): boolean =>
  runOf(session)
    ?.view(clockOf(session).now())
    .some((limit) => limit.limit === 'durationMs' && pausesRun(limit)) === true;

/** D2: an adapter begins a turn. So `step()` comes before turns from now on, also if it came after them by hand. */
export const beginTurn = (session: { step(): void }): void => {
  const run = runOf(session);
  if (run !== undefined) run.payer.beginsSteps = true;
  session.step();
};

/** D2: the request of a model that may be the last one of its run. */
export interface LastAnswer {
  /** Why no model may answer; undefined if one may. */
  readonly limit: LimitView | undefined;
  /** No model has answered, so that one still may. */
  failed(): void;
}

/**
 * D2: a model is about to be asked for this session. Undefined if it has no limits. `isOpen`: when its turn began, no limit was reached, so that
 * it does not know that it has to finish.
 */
export const askForAnswer = (session: object, isOpen?: boolean): LastAnswer | undefined => {
  const run = runOf(session);
  if (run === undefined) return undefined;
  return { limit: run.askModel(clockOf(session).now(), isOpen), failed: () => run.unanswered() };
};
