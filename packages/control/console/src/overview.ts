import type { ConsoleChange, ConsoleState, EndpointState } from '../../src/console/console-state.ts';
import type { BoxState, SessionState } from '../../src/schema.ts';

export type CircuitState = SessionState['circuits'][number];

/** A session, and the process that it lives in. */
export interface LiveSession {
  readonly agent: string;
  readonly endpoint: EndpointState;
  readonly session: SessionState;
  /** Unix milliseconds; undefined if it is not paused, or if that is not known. */
  readonly pausedUnixMs: number | undefined;
  readonly canOperate: boolean;
}

/** The circuits of a tool that are not closed, in all sessions. */
export interface ToolCircuits {
  readonly tool: string;
  readonly state: CircuitState['state'];
  readonly category: string | undefined;
  readonly openForMs: number | undefined;
  /** The one whose probe comes first. */
  readonly nextProbe: CircuitState['nextProbe'];
  readonly sessions: number;
}

/** A forced mode, and in how many processes. */
export type ForcedTool = BoxState['modes'][number] & {
  readonly processes: number;
};

type Uncounted = NonNullable<BoxState['uncounted']>[number];

/** All processes of one agent name together. */
export interface AgentOverview {
  readonly name: string;
  readonly processes: readonly EndpointState[];
  readonly silent: readonly EndpointState[];
  readonly paused: readonly LiveSession[];
  /** Active, with a circuit that is not closed, or a limit that is nearly used up. */
  readonly troubled: readonly LiveSession[];
  readonly quiet: readonly LiveSession[];
  readonly leftOut: number;
  /** Without those of forced modes, which are in `modes`. */
  readonly circuits: readonly ToolCircuits[];
  readonly modes: readonly ForcedTool[];
  /** Tools, and groups as `group:NAME`. */
  readonly tools: readonly string[];
  /** Tools most of whose calls came back with an error that is not counted, in all processes together. */
  readonly uncounted: readonly Uncounted[];
  /** The version to expect, by endpoint. */
  readonly versions: Readonly<Record<string, number>>;
  readonly canOperate: boolean;
  readonly changes: readonly ConsoleChange[];
}

export const isSilent = ({ status }: EndpointState): boolean => status === 'silent';

const canOperate = ({ status, state }: EndpointState): boolean => status !== 'ended' && state?.role === 'operate';

interface Part {
  readonly endpoint: EndpointState;
  readonly box: BoxState;
}

/** Agents, those that need a person first. */
export const overview = ({ endpoints }: ConsoleState, changes: readonly ConsoleChange[]): readonly AgentOverview[] => {
  const parts = endpoints.flatMap((endpoint): Part[] =>
    endpoint.status === 'ended' ? [] : (endpoint.state?.boxes ?? []).map((box) => ({ endpoint, box })),
  );
  const named = Map.groupBy(parts, ({ box }) => box.agent);
  const told = Map.groupBy(changes, ({ agent }) => agent);
  return [...named]
    .map(([name, of]) => agentOverview(name, of, told.get(name) ?? []))
    .toSorted((a, b) => urgency(b) - urgency(a) || a.name.localeCompare(b.name));
};

const urgency = ({ paused, circuits, silent, modes }: AgentOverview): number =>
  (paused.length > 0 ? 8 : 0) +
  (circuits.length > 0 ? 4 : 0) +
  (silent.length > 0 ? 2 : 0) +
  (modes.length > 0 ? 1 : 0);

const agentOverview = (name: string, parts: readonly Part[], changes: readonly ConsoleChange[]): AgentOverview => {
  const processes = [...new Set(parts.map(({ endpoint }) => endpoint))];
  const sessions = parts.flatMap(({ endpoint, box }) =>
    box.sessions.map((session) => liveSession(name, endpoint, session, changes)),
  );
  const active = sessions.filter(({ session }) => session.state === 'active');
  const modes = forcedTools(parts);
  return {
    name,
    processes,
    silent: processes.filter(isSilent),
    paused: sessions.filter(({ session }) => session.state !== 'active').toSorted(longestPausedFirst),
    troubled: active.filter(({ session }) => needsLook(session)),
    quiet: active.filter(({ session }) => !needsLook(session)),
    leftOut: parts.reduce((sum, { box }) => sum + box.sessionsLeftOut, 0),
    circuits: toolCircuits(sessions).filter(
      (one) => !modes.some(({ tool, mode }) => tool === one.tool && mode === one.state),
    ),
    modes,
    tools: [
      ...new Set([
        ...parts.flatMap(({ box }) => box.tools),
        ...sessions.flatMap(({ session }) => session.circuits.map(({ tool }) => tool)),
      ]),
    ].toSorted(),
    uncounted: uncountedOf(parts),
    versions: versionsOf(parts),
    canOperate: processes.some(canOperate),
    changes,
  };
};

const uncountedOf = (parts: readonly Part[]): readonly Uncounted[] => {
  const all = parts.flatMap(({ box }) => box.uncounted ?? []);
  return [...Map.groupBy(all, ({ tool }) => tool)]
    .map(([tool, of]) => ({
      tool,
      errors: of.reduce((sum, { errors }) => sum + errors, 0),
      calls: of.reduce((sum, { calls }) => sum + calls, 0),
    }))
    .toSorted((a, b) => b.errors - a.errors);
};

const longestPausedFirst = (a: LiveSession, b: LiveSession): number =>
  (a.pausedUnixMs ?? Number.POSITIVE_INFINITY) - (b.pausedUnixMs ?? Number.POSITIVE_INFINITY);

const liveSession = (
  agent: string,
  endpoint: EndpointState,
  session: SessionState,
  changes: readonly ConsoleChange[],
): LiveSession => ({
  agent,
  endpoint,
  session,
  pausedUnixMs: session.state === 'active' ? undefined : pausedUnixMs(endpoint, session, changes),
  canOperate: canOperate(endpoint) && endpoint.status === 'answers',
});

const PAUSES: Readonly<Record<string, ConsoleChange['kind']>> = {
  paused_budget: 'budget.exhausted',
  paused_systemic: 'systemic.detected',
  paused_limit: 'limit.reached',
};

/** `changes` are the newest first. */
const pausedUnixMs = (
  { id }: EndpointState,
  { id: session, state, event }: SessionState,
  changes: readonly ConsoleChange[],
): number | undefined => {
  const kind = PAUSES[state];
  const told = changes.find((one) => one.kind === kind && one.session === session && one.endpoint === id);
  return told?.unixMs ?? (state === 'paused_systemic' ? event?.sinceUnixMs : undefined);
};

/** Whether it is the circuit of a model, or of a provider of models. */
export const isOfModel = (circuit: string): boolean => /^(?:group:)?model:/.test(circuit);

/** Whether a session is no run, and has the circuits of the models of a box. */
export const isOfModels = ({ session: { circuits } }: LiveSession): boolean =>
  circuits.length > 0 && circuits.every(({ tool }) => isOfModel(tool));

/** A circuit is not closed, or a limit of it or of a sub-agent is nearly used up. */
const needsLook = ({ circuits, limits = [], children = [] }: SessionState): boolean =>
  circuits.some(isTroubled) ||
  [...limits, ...children.filter(({ ended }) => !ended).flatMap((child) => child.limits)].some(
    ({ level }) => level !== undefined,
  );

/** By its failures, not by a mode. */
const isTroubled = (circuit: CircuitState): boolean =>
  circuit.state === 'open' || circuit.state === 'half_open' || hasFailedKeys(circuit);

const hasFailedKeys = ({ openKeys, failedKeys = 0 }: CircuitState): boolean => openKeys > 0 || failedKeys > 0;

/** Circuits that are not closed, and tools whose keys fail (C14). */
export const notClosed = ({ circuits }: SessionState): readonly CircuitState[] =>
  circuits.filter((circuit) => circuit.state !== 'closed' || hasFailedKeys(circuit));

const toolCircuits = (sessions: readonly LiveSession[]): readonly ToolCircuits[] => {
  const all = sessions.flatMap(({ session }) => session.circuits.filter(({ state }) => state !== 'closed'));
  return [...Map.groupBy(all, ({ tool, state }) => JSON.stringify([tool, state])).values()]
    .map((of) => toolCircuit(of as [CircuitState, ...CircuitState[]]))
    .toSorted((a, b) => ORDER[a.state] - ORDER[b.state] || b.sessions - a.sessions);
};

const ORDER: Readonly<Record<CircuitState['state'], number>> = {
  open: 0,
  half_open: 1,
  forced_open: 2,
  disabled: 3,
  observe_only: 4,
  closed: 5,
};

const toolCircuit = (of: readonly [CircuitState, ...CircuitState[]]): ToolCircuits => {
  const [first] = of;
  const soonest = of.toSorted((a, b) => waitOf(a) - waitOf(b))[0];
  return {
    tool: first.tool,
    state: first.state,
    category: of.find(({ category }) => category !== undefined)?.category,
    openForMs: of.reduce<number | undefined>(
      (most, { openForMs }) => (openForMs === undefined ? most : Math.max(most ?? 0, openForMs)),
      undefined,
    ),
    nextProbe: soonest?.nextProbe,
    sessions: of.length,
  };
};

const waitOf = ({ nextProbe }: CircuitState): number => {
  const { steps = Number.MAX_SAFE_INTEGER, ms = Number.MAX_SAFE_INTEGER } = nextProbe ?? {};
  return Math.min(Number(steps) * 1_000, Number(ms));
};

const forcedTools = (parts: readonly Part[]): readonly ForcedTool[] => {
  const all = parts.flatMap(({ endpoint, box }) => box.modes.map((mode) => ({ endpoint, mode })));
  const key = ({ mode }: (typeof all)[number]): string =>
    JSON.stringify([mode.tool, mode.mode, mode.owner, mode.session, mode.reason]);
  return [...Map.groupBy(all, key).values()].flatMap((of) => {
    const [first] = of;
    if (first === undefined) return [];
    const untilUnixMs = Math.min(...of.map(({ mode }) => mode.untilUnixMs));
    return [{ ...first.mode, untilUnixMs, processes: new Set(of.map(({ endpoint }) => endpoint)).size }];
  });
};

/** Not for processes that do not answer, whose version may be another by now. */
const versionsOf = (parts: readonly Part[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    parts.flatMap(({ endpoint: { id, status }, box: { version } }) => (status === 'answers' ? [[id, version]] : [])),
  );
