import { circuitNow, count, flush, type Model, type ModelSession, now } from './model.ts';
import { followEvent, left, noticeExhaustion, passTime } from './model-budget.ts';
import { type ModelCircuit, restage } from './model-circuit.ts';
import { type Correlation, endEvent, eventReport } from './model-correlation.ts';
import { noteFleetEvent } from './model-fleet-event.ts';
import { correlating, type Side, sidesOf } from './model-home.ts';
import { isReached } from './model-limits.ts';
import { EVENT } from './model-wish.ts';

/** Whether an event pauses the sessions that it concerns (S2). */
export const pauses = (model: Model, { event }: Correlation): boolean =>
  event !== undefined && model.systemic?.pause === 'all';

/** S2, B1: of what decides, or of what would if the observed tools counted. */
export const stateOf = (model: Model, { correlation, budget }: Pick<Side, 'correlation' | 'budget'>) => {
  if (pauses(model, correlation)) return 'paused_systemic';
  return budget?.by.exhausted ? 'paused_budget' : 'active';
};

/** S3, C12: each budget pays for the event that concerns it. */
export const follow = (model: Model, session: ModelSession): void => {
  const around = correlating(model, session);
  for (const { correlation, budget } of sidesOf(session, false)) if (budget) followEvent(budget, correlation, around);
};

/** B1, S3: what time has brought, and other sessions. */
export const pass = (model: Model, session: ModelSession): void => {
  follow(model, session);
  const around = correlating(model, session);
  for (const { correlation, budget } of sidesOf(session, false)) {
    if (budget && !pauses(model, correlation)) passTime(budget, now(model, session), correlation, around);
  }
  notice(model, session);
};

/** B1: once all consequences of a call are known. */
export const notice = (model: Model, session: ModelSession): void => {
  for (const { budget, isReal } of sidesOf(session, false)) {
    if (budget === undefined || !noticeExhaustion(budget) || !isReal) continue;
    count(model, 'budgetExhaustions');
    flush(model, session, 'budget.exhausted', budget.by.limit, budget.by.cycle);
  }
};

/** What the gauges show of a session. */
export const shownOf = (model: Model, session: ModelSession): ModelSession['shown'] => ({
  state: shownState(model, session),
  remaining: left(session.real),
  event: session.home.real.event !== undefined,
});

/** D2: a limit comes after what failures pause. */
export const shownState = (model: Model, session: ModelSession): ModelSession['shown']['state'] => {
  const state = stateOf(model, { correlation: session.home.real, budget: session.real });
  return state === 'active' && isReached(model, session) ? 'paused_limit' : state;
};

/** What the gauges show from now on, and the one counter that depends on it. */
export const show = (model: Model, session: ModelSession): void => {
  const { real } = session;
  noteFleetEvent(model, session.box);
  session.shown = shownOf(model, session);
  const { remaining } = session.shown;
  const isLow = remaining <= 1 && remaining < real.by.limit;
  if (isLow && !session.low) count(model, 'budgetLow');
  if (isLow) session.low = true;
  if (remaining === real.by.limit) session.low = false;
};

type By = 'operator' | 'time' | 'probe' | 'fleet';

/** S5, P3: an event is over, and each circuit of it waits again. */
export const recovered = (model: Model, session: ModelSession, by: By, observed = false): void => {
  const { home } = session;
  const event = observed ? undefined : home.real.event;
  const waiting = home.circuits.filter(
    (one) => (one.mode === 'observe_only' ? home.dryRun?.event : event) !== undefined,
  );
  for (const one of waiting) one.ladder = undefined;
  for (const one of waiting) {
    restage(one, { at: circuitNow(model, session).when, taken: takenBeside(session, one) });
  }
  for (const { correlation } of sidesOf(session, observed)) endEvent(correlation);
  if (event === undefined) return;
  // G8: what was said about this event is not about the next one, unless it is open for all.
  if (session.box.wishes.get(EVENT)?.outage === undefined) session.box.wishes.delete(EVENT);
  session.box.scores.clear();
  flush(model, session, 'systemic.resolved', JSON.stringify(eventReport(event)), by);
};

/** P3: whether another circuit on a ladder probes on a step; what is only observed takes none from the others (C1). */
export const takenBeside =
  ({ home }: ModelSession, own: ModelCircuit) =>
  (step: number): boolean =>
    home.circuits.some(
      (one) =>
        one !== own &&
        (one.mode !== 'observe_only' || own.mode === 'observe_only') &&
        one.state === 'open' &&
        one.ladder?.dueStep === step,
    );
