import { accountsOf, circuitNow, count, type Model, type ModelSession, post, tell } from './model.ts';
import { endEvent, eventReport, joinEvent, noticeExhaustion, recordClosing, recordOpening } from './model-account.ts';
import { type ModelCircuit, restage } from './model-circuit.ts';
import type { When } from './rules.ts';

/** C12: what other sessions did to the circuits that they share with this one. */
export const catchUp = (model: Model, session: ModelSession): void => {
  const { board } = session.home;
  if (board === undefined || board.changes === session.seen.changes) return;
  session.seen.changes = board.changes;
  if (board.recoveries !== session.seen.recoveries) {
    session.seen.recoveries = board.recoveries;
    over(model, session, board.recoveredBy);
  }
  for (const { tool, at } of session.real.openings) {
    if (board.openings.some((one) => one.tool === tool && one.ms === at.ms)) continue;
    for (const account of accountsOf(session, false)) recordClosing(account, tool);
  }
  for (const { tool, category, ms } of board.openings) {
    const [joined] = accountsOf(session, false)
      .filter((account) => recordOpening(account, { tool, category, at: learnt(model, session, ms) }, model.systemic))
      .filter((account) => account === session.real);
    if (joined?.event) tell(model, session, 'systemic.detected', JSON.stringify(eventReport(joined.event)));
  }
  const known = board.event;
  if (known !== undefined) {
    const here = () =>
      known.map(({ tool, category, ms }) => ({ id: -1, tool, category, at: learnt(model, session, ms) }));
    const [joined] = accountsOf(session, false)
      .filter((account) => joinEvent(account, here(), model.systemic))
      .filter((account) => account === session.real);
    if (joined?.event) tell(model, session, 'systemic.detected', JSON.stringify(eventReport(joined.event)));
  }
  shareEvent(session);
  notice(model, session);
};

/** S1, C12: of what another session saw only the time counts: beyond the window, it is beyond it by steps too. */
const learnt = (model: Model, session: ModelSession, ms: number): When => {
  const { windowMs = 120_000, windowSteps = 10 } = model.systemic ?? {};
  return { ms, step: model.ms - ms <= windowMs ? session.step : session.step - windowSteps - 1 };
};

/** C12: what pauses one pauses all. */
export const shareEvent = (session: ModelSession): void => {
  const { event } = session.real;
  if (event === undefined || session.home.board?.event !== undefined) return;
  post(session, (board) => {
    board.event = event.map(({ tool, category, at }) => ({ tool, category, ms: at.ms }));
  });
};

/** C12: others hear of a closing. */
export const postClosing = (session: ModelSession, tool: string): void =>
  post(session, (board) => {
    board.openings = board.openings.filter((one) => one.tool !== tool);
  });

/** S5, P3: an event is over, and each circuit of it waits anew. */
export const recovered = (model: Model, session: ModelSession, by: 'operator' | 'time'): void => {
  const { event } = session.real;
  for (const circuit of session.home.circuits) {
    const own = circuit.mode === 'observe_only' ? session.shadow?.event : event;
    if (own !== undefined)
      restage(circuit, { at: circuitNow(model, session).when, taken: takenBeside(session, circuit) });
  }
  if (event !== undefined) {
    session.box.scores.clear();
    if (session.home.board !== undefined) session.seen.recoveries += 1;
    post(session, (board) => {
      board.openings = [];
      board.event = undefined;
      board.recoveries += 1;
      board.recoveredBy = by;
    });
  }
  over(model, session, by);
};

const over = (model: Model, session: ModelSession, by: 'operator' | 'time'): void => {
  const { event } = session.real;
  for (const account of accountsOf(session, false)) endEvent(account);
  if (event) tell(model, session, 'systemic.resolved', JSON.stringify(eventReport(event)), by);
};

/** P3: whether another tool on a ladder probes on a step; what is only observed takes none from the others (C1). */
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

export const notice = (model: Model, session: ModelSession): void => {
  for (const account of accountsOf(session, false)) {
    if (!noticeExhaustion(account) || account !== session.real) continue;
    count(model, 'budgetExhaustions');
    tell(model, session, 'budget.exhausted', account.limit, account.cycle);
  }
};
