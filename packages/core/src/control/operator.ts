import type { BoxContext } from '../box-context.ts';
import type { Breakerbox } from '../breakerbox.ts';
import { BreakerboxUsageError, show } from '../checks/checks.ts';
import { isModelCircuit, shortened } from '../checks/names.ts';
import type { Clock } from '../clock.ts';
import type { OperatorAction, OperatorActionEvent } from '../events.ts';
import type { LimitView } from '../limits/limit-view.ts';
import { modelContexts } from '../models/model-contexts.ts';
import type { Session } from '../session-api.ts';
import { type BoxInternals, boxInternals, boxListeners, sessionInternals } from '../session-internals.ts';
import { sendPending } from '../telemetry/logs.ts';
import { seriesOf } from '../telemetry/series.ts';
import {
  cover,
  FORCED_MODES,
  type Forced,
  type ForcedMode,
  type ForcedModes,
  fullAt,
  modeFor,
  nextExpiry,
  unexpired,
  withMode,
  withoutMode,
} from './forced-modes.ts';
import type { ActionResult, CountedAction, ForcedModeView, ForceOptions, Operator } from './operator-api.ts';
import { createRoster, nameOf, operatedSession } from './roster.ts';

const HOUR_MS = 3_600_000;
const MOST_MS = 7 * 24 * HOUR_MS;

/** One for each box, because several operators act on the same modes. */
const operators = new WeakMap<BoxContext, Operator>();

/**
 * The operator's side of a box: forced modes, live sessions and their actions (A3). All calls for one box return the same object. A
 * box that was never given to this function pays nothing for it.
 *
 * @throws BreakerboxUsageError if `box` is not a box.
 *
 * @example
 * ```ts
 * const operator = operate(box);
 * operator.force('web_search', { mode: 'forced_open', owner: 'ada', reason: 'the index is being rebuilt' });
 * operator.release('web_search', { owner: 'ada' });
 * ```
 */
export const operate = (box: Breakerbox): Operator => {
  const internals = boxInternals(box, 'operate(box)');
  const { context, modelsOf } = internals;
  if (modelsOf !== undefined) return operate(modelsOf as Breakerbox); // It forces their modes too.
  const known = operators.get(context);
  if (known !== undefined) return known;
  const made = createOperator(internals);
  operators.set(context, made);
  return made;
};

const createOperator = ({ context, scope }: BoxInternals): Operator => {
  const { clock } = context;
  const overrides = context.overrides.common;
  const roster = createRoster();
  let forced: ForcedModes = [];

  const change = (next: ForcedModes): void => {
    if (next === forced) return;
    forced = next;
    overrides.untilMs = nextExpiry(next);
    overrides.version += 1;
  };

  const current = (): ForcedModes => {
    change(unexpired(forced, clock.now()));
    return forced;
  };

  overrides.version += 1;
  overrides.roster = roster; // Sessions that began before are listed from their next use.
  overrides.operators = (session, circuits, changes) => {
    const modes = current();
    for (const tracked of circuits) {
      const mode = modeFor(modes, tracked.tool.name, session.id);
      if (mode === (tracked.covered && tracked.mode)) continue;
      const covers = () => cover(tracked, mode);
      if (changes === undefined) covers();
      else changes.changeMode(tracked, covers);
    }
  };

  const view = ({ sinceMs, untilMs, isRemote: _, ...rest }: Forced): ForcedModeView => ({
    ...rest,
    untilUnixMs: Math.round(rest.sinceUnixMs + untilMs - sinceMs),
  });

  const counted = (action: CountedAction, isCounted = true): void => {
    if (isCounted) countAction(context, action);
  };

  const onSession = (
    action: OperatorAction,
    id: string,
    isCounted: boolean | undefined,
    run: (session: Session) => boolean,
  ): ActionResult => {
    const session = roster.find(id);
    if (session === undefined) return { result: 'unknown_session', session: undefined };
    const result = run(session) ? 'done' : 'stale';
    counted({ action, result, session: id }, isCounted);
    return { result, session: operatedSession(session) };
  };

  return {
    force: (given, options) => {
      const tool = circuitName(given, 'force', context, scope, options.isDeclared);
      const made = checked(tool, options, scope, clock);
      const most = fullAt(current(), made);
      if (most !== undefined)
        throw new BreakerboxUsageError(
          `operate(box).force(${show(given)}, …): the tool has ${most} forced modes${made.isRemote ? ' of other processes' : ''} already, which is the most. Release some, or force one mode for all sessions.`,
        );
      change(withMode(current(), made));
      counted({ action: ACTIONS[made.mode], result: 'done', tool, session: made.session }, options.isCounted);
      return view(made);
    },
    release: (given, options) => {
      const tool = circuitName(given, 'release', context, scope, options.isDeclared);
      const { session } = options;
      const owner = required(options.owner, 'owner', `release(${show(tool)}, …)`);
      const before = current();
      change(withoutMode(before, { tool, owner, session }));
      const result = forced === before ? 'unknown' : 'done';
      counted({ action: 'release', result, tool, session }, options.isCounted);
      return result === 'done';
    },
    get version() {
      current();
      return overrides.version;
    },
    scope,
    knows: (tool) => isDeclared(context, tool) && (scope !== 'none' || isModelCircuit(tool)),
    modes: () => current().map(view),
    leftMs: ({ tool, owner, session }) => {
      const of = current().find((one) => one.tool === tool && one.owner === owner && one.session === session);
      return of === undefined ? 0 : of.untilMs - clock.now();
    },
    sessions: () => roster.all().map((session) => operatedSession(session)),
    session: (id) => {
      const session = roster.find(id);
      return session && operatedSession(session, id);
    },
    count: (action) => counted(action),
    resume: (id, { cycle, isCounted } = {}) =>
      onSession('resume', id, isCounted, (session) => {
        if (cycle !== undefined && session.view().budget.cycle !== cycle) return false;
        session.resume();
        return true;
      }),
    extend: (id, limit, by, { size, isCounted } = {}) => {
      const all = roster.findLimited(id, limit);
      const names = all.map(nameOf);
      const [one, ...others] = all;
      if (one === undefined) return { result: 'unknown_session', session: undefined, extended: [], names };
      if (others.length > 0) {
        counted({ action: 'extend', result: 'unknown', session: id }, isCounted);
        return { result: 'ambiguous', session: undefined, extended: [], names };
      }
      const { session, run } = one;
      const { root } = sessionInternals(session, 'extend(session)');
      const seen = run?.view(clock.now()).find((one) => one.limit === limit);
      const result = extending(seen, size);
      const extended = result === 'done' ? root.extendFor(run, limit, by) : [];
      counted({ action: 'extend', result: result === 'unknown_limit' ? 'unknown' : result, session: id }, isCounted);
      return { result, session: operatedSession(session, id), extended, names };
    },
    confirmRecovered: (id, { event, isCounted } = {}) =>
      onSession('confirm', id, isCounted, (session) => {
        if (event !== undefined && operatedSession(session).event !== event) return false;
        session.confirmRecovered();
        return true;
      }),
  };
};

const extending = (seen: LimitView | undefined, expected: number | undefined): 'done' | 'stale' | 'unknown_limit' => {
  if (seen === undefined) return 'unknown_limit';
  return expected !== undefined && expected !== seen.size ? 'stale' : 'done';
};

/** Tools, groups, and the circuits of models (L2). */
const isDeclared = (box: BoxContext, name: string): boolean =>
  box.tool(name) !== undefined || box.group(name) !== undefined || modelContexts.get(box)?.knows(name) === true;

/** With a misspelt name, the tool that was meant would stay as it is. */
const circuitName = (
  given: unknown,
  call: string,
  box: BoxContext,
  scope: BoxInternals['scope'],
  mustExist = true,
): string => {
  const tool = typeof given === 'string' ? shortened(given) : show(given);
  if (scope === 'none' && !isModelCircuit(tool)) {
    throw new BreakerboxUsageError(
      `operate(box).${call}(${show(given)}, …): this box keeps no circuits (scope 'none'), so the mode would have no effect. Give the box another scope.`,
    );
  }
  if (!mustExist || isDeclared(box, tool)) return tool;
  throw new BreakerboxUsageError(
    `operate(box).${call}(${show(given)}, …): no tool or group of that name is declared in the box of agent '${box.agent}'. Correct the name (box.tools lists the tools; groups are 'group:NAME'), or declare the tool before.`,
  );
};

const checked = (tool: string, options: ForceOptions, scope: BoxInternals['scope'], clock: Clock): Forced => {
  const call = `force(${show(tool)}, …)`;
  const { mode, session, expiresInMs = HOUR_MS, isRemote = false } = options;
  const fault = (what: string) => new BreakerboxUsageError(`operate(box).${call}: ${what}`);
  if (!FORCED_MODES.includes(mode))
    throw fault(`mode is ${show(mode)}, which no operator can force. Give one of ${FORCED_MODES.join(', ')}.`);
  if (!(expiresInMs > 0 && expiresInMs <= MOST_MS))
    throw fault(`expiresInMs is ${show(expiresInMs)}. Give milliseconds above 0, at most ${MOST_MS} (7 days).`);
  if (session !== undefined && scope === 'process') {
    throw fault(
      `session is given, but the sessions of this box share their circuits (scope 'process'). Leave session out.`,
    );
  }
  const owner = required(options.owner, 'owner', call);
  const reason = required(options.reason, 'reason', call);
  const sinceMs = clock.now();
  const untilMs = sinceMs + expiresInMs;
  return { tool, mode, owner, reason, session, isRemote, sinceMs, sinceUnixMs: clock.unixNow(), untilMs };
};

const required = (value: unknown, name: string, call: string): string => {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new BreakerboxUsageError(`operate(box).${call}: ${name} is ${show(value)}. Give a string that is not empty.`);
};

const ACTIONS: Readonly<Record<ForcedMode, OperatorAction>> = {
  forced_open: 'force_open',
  disabled: 'disable',
  observe_only: 'observe',
};

/** A6: counts an action, and sends it to listeners and log. Who acted is in neither: it is the caller's to record. */
const countAction = (
  { agent, clock, series, emitter }: BoxContext,
  { action, result, tool, session }: CountedAction,
): void => {
  seriesOf(series, 'operatorActions', action, result).value += 1;
  const event: OperatorActionEvent = { agent, session, unixMs: clock.unixNow(), action, result, tool };
  sendPending([{ name: 'operator.action', event }], emitter);
};

/**
 * Calls `listener` for each box that is made in this process from now on, until you call the returned function. An error that a
 * listener throws is reported to OpenTelemetry's `diag`.
 *
 * @example
 * ```ts
 * const stop = onNewBox((box) => box.on('circuit.transition', ({ tool, to }) => logger.warn({ tool, to })));
 * ```
 */
export const onNewBox = (listener: (box: Breakerbox) => void): (() => void) => {
  const listeners = boxListeners().add(listener);
  return () => void listeners.delete(listener);
};
