import * as api from '@opentelemetry/api';
import { suspectOf } from '../budget/systemic.ts';
import type { BreakerboxEvents, Emitter, EventBase, LimitEvent, RouteSummary } from '../events.ts';
import { extendedText, usedOf } from '../routing/limit-text.ts';
import type { Route } from '../routing/route.ts';
import { guarded, reportThrown, safely } from '../safely.ts';
import { ATTR, type EVENT, MIXED_CATEGORY, SCHEMA_URL, SCOPE_NAME, SCOPE_VERSION } from './semconv.ts';

/** The events that are log records too. */
export type LogEvents = Omit<BreakerboxEvents, 'decision' | 'outcome'>;

/** Its name is that of the event, under `breakerbox.`. */
interface LogRecordOf<Event> {
  /** One line for a reader, such as in a list of logs. The attributes say the same to programs. */
  readonly body: (event: Event) => string;
  /** Default `INFO`. */
  readonly severity?: (event: Event) => 'INFO' | 'WARN' | 'ERROR';
  /** Beyond agent and session. Default: none. */
  readonly attributes?: (event: Event) => api.Attributes;
}

const systemicAttributes = ({ event }: Pick<LogEvents['systemic.detected'], 'event'>): api.Attributes => ({
  [ATTR.errorType]: event.category ?? MIXED_CATEGORY,
  [ATTR.layer]: event.layer,
  [ATTR.suspect]: suspectOf(event),
  ...(event.dependency !== undefined && { [ATTR.dependency]: event.dependency }),
  [ATTR.tools]: event.openings.map(({ tool }) => tool),
});

const failedTogether = ({ event }: Pick<LogEvents['systemic.detected'], 'event'>): string => {
  const { category = 'several categories', openings } = event;
  return `${[...new Set(openings.map(({ tool }) => tool))].join(', ')} (${category}; suspected: ${suspectOf(event)})`;
};

const limitAttributes = ({ limit, child, used, size, mode }: LimitEvent): api.Attributes => ({
  [ATTR.limit]: limit,
  [ATTR.limitMode]: mode,
  [ATTR.limitUsed]: used,
  [ATTR.limitSize]: size,
  ...(child !== undefined && { [ATTR.child]: child }),
});

const limitText = (event: LimitEvent): string =>
  `${usedOf(event)}${event.child === undefined ? '' : ` of sub-agent ${event.child}`}`;

const RECORDS: { readonly [Name in keyof LogEvents]: LogRecordOf<LogEvents[Name]> } = {
  'circuit.transition': {
    body: ({ tool, from, to, category, observed }) =>
      `Circuit of ${tool}: ${from} to ${to}${category ? ` (${category})` : ''}${observed ? ', only observed' : ''}`,
    // A dry run must not alert anyone: its records are INFO, and their state says that they are only observed.
    severity: ({ to, observed }) => (!observed && (to === 'open' || to === 'forced_open') ? 'WARN' : 'INFO'),
    attributes: ({ tool, from, to, category, observed }) => ({
      [ATTR.tool]: tool,
      [ATTR.stateFrom]: from,
      [ATTR.stateTo]: to,
      ...(category && { [ATTR.errorType]: category }),
      ...(observed && { [ATTR.state]: 'observe_only' }),
    }),
  },
  'systemic.detected': {
    body: (event) => `Several tools failed together: ${failedTogether(event)}`,
    severity: () => 'ERROR',
    attributes: systemicAttributes,
  },
  'systemic.resolved': {
    body: (event) => `Tools that failed together recovered: ${failedTogether(event)}; ended by ${event.by}`,
    attributes: (event) => ({ ...systemicAttributes(event), [ATTR.resolvedBy]: event.by }),
  },
  'budget.exhausted': {
    body: ({ limit }) => `The failure budget of ${limit} is used up, and the session is paused`,
    severity: () => 'ERROR',
  },
  'budget.resumed': {
    body: ({ limit }) => `The session was resumed with a failure budget of ${limit}`,
  },
  'limit.advised': {
    body: (event) => `80 % of a limit are used: ${limitText(event)}`,
    attributes: limitAttributes,
  },
  'limit.reached': {
    body: (event) =>
      `A limit of the run is reached: ${limitText(event)}${event.mode === 'pause' ? ', and calls are paused' : ''}`,
    severity: ({ mode }) => (mode === 'observe' ? 'INFO' : 'WARN'),
    attributes: limitAttributes,
  },
  'limit.lifted': {
    body: (event) => `A limit of the run is no longer reached: ${limitText(event)}`,
    attributes: limitAttributes,
  },
  'limit.extended': {
    body: (event) => `The limit of ${event.limit} was extended from ${extendedText(event)}`,
    attributes: ({ limit, child, to }) => ({
      [ATTR.limit]: limit,
      [ATTR.limitSize]: to,
      ...(child !== undefined && { [ATTR.child]: child }),
    }),
  },
  'scope.reduced': {
    body: ({ plan }) =>
      `The plan was reduced (${plan.decision}). Tasks that wait for a tool: ${plan.deferred.map(({ task }) => task).join(', ')}`,
    severity: ({ plan }) => (plan.decision === 'pause' ? 'ERROR' : 'WARN'),
    // Names of tasks come from the application and are unbounded, like those of sessions. Records may carry them.
    attributes: ({ plan }) => ({
      [ATTR.scope]: plan.decision,
      [ATTR.tasks]: plan.deferred.map(({ task }) => task),
      [ATTR.tools]: [...new Set(plan.deferred.flatMap(({ blockers }) => blockers.map(({ tool }) => tool)))],
    }),
  },
  'operator.action': {
    body: ({ action, result, tool }) => `An operator's ${action}${tool === undefined ? '' : ` of ${tool}`}: ${result}`,
    severity: ({ result }) => (result === 'refused' ? 'WARN' : 'INFO'),
    attributes: ({ action, result, tool }) => ({
      [ATTR.action]: action,
      [ATTR.result]: result,
      ...(tool !== undefined && { [ATTR.tool]: tool }),
    }),
  },
  'fleet.degraded': {
    body: ({ why = 'no reason given' }) => `The store of shared circuits does not answer: ${why}`,
    severity: () => 'WARN',
    attributes: ({ why = '' }) => ({ [ATTR.reason]: why }),
  },
  'fleet.restored': {
    body: () => 'The store of shared circuits answers again',
  },
};

/** The fields that every event has. An operator's action, and an event of the fleet, may concern all sessions. */
type AnyEvent = Omit<EventBase, 'session'> & { readonly session: string | undefined };

/**
 * Emits the log record of an event. The logs API came with API 1.10; with 1.9 there is no logger. `span`: of the decision that caused it, because
 * a call may be settled outside of its context.
 */
const logEvent = <Name extends keyof LogEvents>(
  name: Name,
  event: LogEvents[Name] & AnyEvent,
  span: api.Span | undefined,
): void => {
  const { logs } = api as Partial<typeof api>;
  if (logs === undefined) return;
  safely('the logger', () => {
    const { body, severity, attributes } = RECORDS[name];
    const severityText = severity?.(event) ?? 'INFO';
    const eventName: (typeof EVENT)[keyof typeof EVENT] = `breakerbox.${name}`;
    const logger = logs.getLogger(SCOPE_NAME, SCOPE_VERSION, { schemaUrl: SCHEMA_URL });
    const severityNumber = api.SeverityNumber[severityText];
    // An SDK from before API 1.10 does not know the question: its logger gets all records.
    if (!guarded(() => logger.enabled({ eventName, severityNumber }), true)) return;
    logger.emit({
      eventName,
      body: body(event),
      severityText,
      severityNumber,
      timestamp: event.unixMs,
      ...(span !== undefined && { context: api.trace.setSpan(api.context.active(), span) }),
      attributes: {
        [ATTR.agent]: event.agent,
        ...(event.session !== undefined && { [ATTR.conversation]: event.session }),
        ...attributes?.(event),
      },
    });
  });
};

export type PendingEvent = {
  [Name in keyof BreakerboxEvents]: { name: Name; event: BreakerboxEvents[Name] };
}[keyof BreakerboxEvents];

/** Most events that one call of a session may cause. A listener that acquires at each decision would never end. */
const MOST_PENDING = 1_000;

/**
 * Sends all pending events to listeners and log, in order, with the events that they cause: the list may grow meanwhile. It is
 * empty afterwards.
 */
export const sendPending = (pending: PendingEvent[], emitter: Emitter<BreakerboxEvents>, span?: api.Span): void => {
  for (let told = 0; pending.length > 0; told += 1) {
    const [{ name, event }] = pending.splice(0, 1) as [PendingEvent];
    if (told >= MOST_PENDING) {
      pending.length = 0;
      const what = `It causes new events without end. '${name}' and later events are dropped. Move the calls that cause events out of the listener, for example into setTimeout().`;
      reportThrown('a listener', new Error(what));
      return;
    }
    if (emitter.heard[name] === true) emitter.emit(name, event);
    if (name !== 'decision' && name !== 'outcome') logEvent(name, event as LogEvents[typeof name], span);
  }
};

/** R2: the part of a route that telemetry may hold. */
export const summaryOf = (route: Route): RouteSummary =>
  route.kind === 'alternative'
    ? { kind: route.kind, tool: route.tool, degradation: route.degradation }
    : { kind: route.kind, tool: undefined, degradation: undefined };
