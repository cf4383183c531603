import type { BudgetOptions } from './budget/budget.ts';
import { isSlip, meant, shortened } from './checks/names.ts';
import { groupNameOf } from './circuit/policy.ts';
import type { Outcome } from './classify/taxonomy.ts';
import { isExecuted, type Reason } from './reasons.ts';
import { isObject, read } from './safely.ts';
import type { SessionTool } from './session-tools.ts';
import { hasReader } from './telemetry/otel-binding.ts';
import type { ToolSpec } from './tool.ts';
import { LEAST_SEEN } from './tool.ts';
import type { TrackedCircuit } from './tracked-circuit.ts';
import type { UnexplainedErrors } from './unusable.ts';
import { warnOnce } from './warnings/warnings.ts';

/**
 * Mistakes that change nothing and throw nothing, so that the program looks right. A session looks for them from time to time, and
 * when it ends. A warning in a correct program is worse than a missed mistake.
 */

/** What the sessions of a box showed together: one request may be too short to show a mistake. Numbers by tool. */
export interface UsageEvidence {
  /** Tools with a call that was settled. */
  readonly settled: Set<string>;
  /** Declared tools with a call that succeeded, even too late for its circuit (C7). A tool is never taken out. */
  readonly succeeded: Set<string>;
  /** O8: what declared tools without such a call have failed with. */
  readonly unexplained: Map<string, UnexplainedErrors>;
  /** Calls that ran, in sessions that have ended. */
  readonly executed: Map<string, number>;
  /** Calls that an open circuit skipped, in sessions that have ended and took it over from others. */
  readonly skipped: Map<string, number>;
  /** Calls of undeclared tools that succeeded or failed. */
  readonly undeclared: Map<string, number>;
}

export const noEvidence = (): UsageEvidence => ({
  settled: new Set(),
  succeeded: new Set(),
  unexplained: new Map(),
  executed: new Map(),
  skipped: new Map(),
  undeclared: new Map(),
});

/** The tool has succeeded, here or in the process that a session comes from (O8): one success is enough for good. */
export const noteSuccess = ({ succeeded, unexplained }: UsageEvidence, tool: string): void => {
  succeeded.add(tool);
  unexplained.delete(tool);
};

/** A model may make up names without end. */
const MOST_UNDECLARED = 100;

const add = (numbers: Map<string, number>, tool: string, more: number): number => {
  const sum = (numbers.get(tool) ?? 0) + more;
  numbers.set(tool, sum);
  return sum;
};

/** What a box knows of the tools that its program configures and uses. */
export interface UsageContext {
  readonly agent: string;
  /** Whether the box has circuits (B5). */
  readonly keepsCircuits: boolean;
  /** Names of the tools that have settings of their own. */
  readonly configured: ReadonlySet<string>;
  /** Configured tools that were neither called nor declared by an adapter yet. */
  readonly unused: Set<string>;
  /** C18: the settings of tools that the session has of its own. */
  readonly ownTools?: object | undefined;
  /** What may show a mistake in the program. */
  readonly evidence: UsageEvidence;
  /** Names of the declared tools. */
  tools(): Iterable<string>;
}

/** How a session was used, for a look at mistakes. */
export interface Look {
  readonly session: object;
  readonly tools: readonly SessionTool[];
  /** The step of the circuits. 0: `step()` was never called. */
  readonly step: number;
  /** How many calls were decided before the step began. */
  readonly decidedBefore: number;
  /** How many calls were decided. */
  readonly decided: number;
  /** Its circuits are shared, or were restored: they were open before it, and may be open after it. */
  readonly continues: boolean;
  readonly isOver: boolean;
  /** Milliseconds since the session began here. */
  ageMs(): number;
}

const executors = new WeakSet<object>();
const wrapped = new Set<string>();

/** A guard or an adapter has the session: it settles every call, and may take its time. */
export const noticeExecutor = (session: object): void => {
  executors.add(session);
  const root = read(session, 'root'); // D1: the session that counts the calls of a child.
  if (isObject(root)) executors.add(root);
};

/** Tools that were wrapped before there is a session to declare them in. */
export const noticeWrapped = (tools: readonly string[]): void => {
  for (const tool of tools) if (wrapped.size < LEAST_SEEN) wrapped.add(shortened(tool));
};

/** Number of decisions before the first look; later looks follow each time the number has doubled. */
export const FIRST_LOOK = 3;
const LATER_LOOK = 20;

/** The number of decisions after which the session looks again. */
export const nextLook = (look: number): number => (look < LATER_LOOK ? LATER_LOOK : look * 2);

export const lookForMistakes = (box: UsageContext, look: Look): void => {
  for (const used of look.tools) {
    if (!executors.has(look.session)) findUnsettled(box, look, used);
    findStepless(box, look, used);
    if (look.isOver) findMisnamed(box, used);
  }
  if (box.ownTools !== undefined) findStray(box, box.ownTools, look);
  if (look.isOver || look.decided >= LATER_LOOK) warnIfUnread();
};

const decisionsOf = ({ tally }: SessionTool): readonly (readonly [Reason, number])[] =>
  Object.entries({ ...tally.decisions, closed: tally.closed }) as [Reason, number][];

const executedOf = (used: SessionTool): number =>
  decisionsOf(used).reduce((sum, [reason, count]) => (isExecuted(reason) ? sum + count : sum), 0);

/** Parallel calls, and streams that outlive the session (E7), are correct: so it takes many, or calls of earlier steps. */
const findUnsettled = ({ agent, evidence }: UsageContext, look: Look, used: SessionTool): void => {
  const { tool, spec } = used;
  if (spec === undefined || evidence.settled.has(tool)) return;
  const own = executedOf(used);
  const executed = own + (evidence.executed.get(tool) ?? 0);
  if (look.isOver) evidence.executed.set(tool, executed);
  const isEarlier = own >= 3 && look.decidedBefore >= 3;
  const isMany = look.isOver ? executed >= 10 : executed >= LATER_LOOK && look.ageMs() >= 60_000;
  if (!isEarlier && !isMany) return;
  warnOnce(
    'BREAKERBOX_NEVER_SETTLED',
    `${agent}/${tool}`,
    () =>
      `Agent '${agent}' ran ${executed} calls of tool '${tool}', and settled none of them. Its circuit and the budget see no failure this way. Call permit.settle({ outcome: 'success' }) or permit.settle({ error }) after each call, or wrap the tool with guard() or an adapter.`,
  );
};

/** `probeAfterSteps` alone waits for steps that never come. Several calls of one turn are correct. */
const findStepless = ({ agent, evidence }: UsageContext, look: Look, used: SessionTool): void => {
  if (look.step > 0) return;
  const waits = (circuit: TrackedCircuit | undefined, own = 0): boolean => {
    if (own === 0 || circuit?.circuit.state !== 'open' || circuit.tool.policy.schedule !== 'steps') return false;
    const { name } = circuit.tool;
    const before = look.continues ? (evidence.skipped.get(name) ?? 0) : 0;
    if (look.isOver && look.continues) evidence.skipped.set(name, before + own);
    return before + own >= LATER_LOOK;
  };
  const { decisions } = used.tally;
  const found = [
    waits(used.tracked, decisions?.open) ? used.tracked : undefined,
    waits(used.group, decisions?.group_open) ? used.group : undefined,
  ].find((one) => one !== undefined);
  if (found === undefined) return;
  const { name, policy } = found.tool;
  warnOnce(
    'BREAKERBOX_NO_STEPS',
    `${agent}/${name}`,
    () =>
      `The circuit of '${name}' (agent '${agent}') is open until ${policy.probeAfterSteps[0]} steps have passed (probeAfterSteps), but session.step() was never called. So each probe waits for the longest time, maxCooldownMs (${policy.maxCooldownMs} ms). Call session.step() at the end of each turn, or set cooldownMs as well.`,
  );
};

/** A call of a tool without a circuit is over. A model may make up a name, but rarely calls the same one three times. */
export const warnOfUndeclared = (box: UsageContext, { tool, tally }: SessionTool, outcome: Outcome): void => {
  if (!box.keepsCircuits || tally.decisions?.undeclared === undefined || outcome === 'ignored') return;
  const { undeclared } = box.evidence;
  if ((undeclared.size >= MOST_UNDECLARED && !undeclared.has(tool)) || add(undeclared, tool, 1) !== 3) return;
  const names = [...box.tools()];
  if (groupNameOf(tool) !== undefined || names.length >= LEAST_SEEN) return; // Other warnings say why.
  const { agent } = box;
  warnOnce('BREAKERBOX_UNDECLARED_TOOL', `${agent}/${tool}`, () => {
    const similar = meant(tool, names);
    const fix = similar === undefined ? 'Add' : `If '${similar}' is meant, correct the name. Otherwise add`;
    return `Agent '${agent}' calls tool '${tool}', which was never declared. It has no circuit, so it is called however often it fails. ${fix} it to tools in createBreakerbox(), call box.declare('${tool}'), or wrap it with guard() or an adapter.`;
  });
};

/** Tools whose names were already compared with the configured names. */
const compared = new WeakSet<ToolSpec>();

/** A configured name that is never used and nearly equals a used one. */
const findMisnamed = ({ agent, configured, unused }: UsageContext, { tool, spec }: SessionTool): void => {
  if (spec === undefined || unused.size === 0 || configured.has(tool) || compared.has(spec)) return;
  compared.add(spec);
  const name = [...unused].find((one) => isSlip(tool, one) && !wrapped.has(one));
  if (name === undefined) return;
  warnOnce(
    'BREAKERBOX_TOOL_NAME',
    `${agent}/${name}`,
    () =>
      `Agent '${agent}' has settings for tool '${name}', but never calls it. It calls '${tool}', which has no settings. The settings have no effect. If they are for '${tool}', use that name in createBreakerbox({ tools }).`,
  );
};

/** C18: settings of the session for a tool that does not exist. Until there were many calls, an adapter may still declare it. */
const findStray = ({ agent, tools }: UsageContext, own: object, { isOver, decided }: Look): void => {
  const names = new Set(tools());
  const stray = Object.keys(own).filter((name) => !names.has(name));
  const known = [...names];
  const isLate = isOver || decided >= LATER_LOOK;
  const found = stray.find((name) => known.some((one) => isSlip(name, one))) ?? (isLate ? stray[0] : undefined);
  if (found === undefined) return;
  warnOnce('BREAKERBOX_TOOL_NAME', `${agent}/${found}`, () => {
    const similar = meant(found, known);
    const fix = similar === undefined ? 'Correct the name, or remove it' : `If '${similar}' is meant, use that name`;
    return `A session of agent '${agent}' has settings for tool '${found}', which was never declared. They have no effect. ${fix} in box.session({ tools }). box.tools lists the names.`;
  });
};

/** Warns if the budget runs out before enough failures to open a circuit: then it never opens. */
export const warnOfSmallBudget = (
  agent: string,
  { rule, failures = 5 }: BudgetOptions,
  isCorrelating: boolean,
  tools: Iterable<ToolSpec>,
): void => {
  // By the rule `window`, one tool alone uses up only a budget of 1, and not even that while its failures are provisional
  // (S3).
  const isSmall = rule === 'strict' || (failures === 1 && !isCorrelating);
  if (!isSmall) return;
  const isNeverOpened = ({ mode, policy }: ToolSpec): boolean =>
    mode === 'automatic' &&
    !policy.countsSuccesses &&
    Number.isFinite(policy.failureThreshold) &&
    failures < policy.failureThreshold;
  const found = [...tools].find(isNeverOpened);
  if (found === undefined) return;
  warnOnce(
    'BREAKERBOX_BUDGET_TOO_SMALL',
    agent,
    () =>
      `Agent '${agent}' has a failure budget of ${failures}, and tool '${found.name}' needs ${found.policy.failureThreshold} failures in a row to open its circuit. The session pauses before that, so the circuit never opens. Set budget.failures to the highest failureThreshold or more, or lower the threshold.`,
  );
};

/** The live sessions of a box, by the ids that the caller gave them. */
export type NamedSessions = Map<string, NamedSession>;

/**
 * A session that may have the same id as another session of its box. Two live sessions with one id are a mistake if both decide,
 * because each knows only half of the calls. A session that was kept by `snapshot()` and restored continues elsewhere, and may be
 * dropped without `end()`.
 */
export class NamedSession {
  readonly #agent: string;
  readonly #id: string;
  readonly #all: NamedSessions;
  /** Whether {@link decides} must be called at its next decision. A field, because every decision reads it. */
  waits = true;
  #hasDecided = false;
  #wasKept = false;
  /** The session that was made while this one lived, or that this one was made beside: a mistake once both have decided. */
  #other: NamedSession | undefined;

  constructor(agent: string, id: string, all: NamedSessions, isRestored: boolean) {
    this.#agent = agent;
    this.#id = id;
    this.#all = all;
    const other = all.get(id);
    all.set(id, this);
    if (other === undefined) return;
    // A session that was kept has gone on in the restored one: then only a later decision of the old one is a mistake.
    if (!isRestored && !other.#wasKept) this.#other = other;
    other.#other = this;
    other.waits = true;
  }

  decides(): void {
    this.#hasDecided = true;
    const other = this.#other;
    this.waits = other !== undefined && !other.#hasDecided;
    if (other === undefined || this.waits) return;
    this.#other = undefined;
    this.#warn();
  }

  /** A snapshot was taken. */
  kept(): void {
    this.#wasKept = true;
  }

  /** It ended, or idles. */
  left(): void {
    const other = this.#other;
    if (other !== undefined && other.#other === this) other.#other = undefined;
    this.#other = undefined;
    if (this.#all.get(this.#id) === this) this.#all.delete(this.#id);
  }

  #warn(): void {
    warnOnce(
      'BREAKERBOX_SAME_SESSION',
      this.#agent,
      () =>
        `Two sessions of agent '${this.#agent}' have the id '${this.#id}', and the first has not ended. Each has its own budget and, in scope 'session', its own circuits, so neither sees all failures. Keep one session for a conversation, call end() when a run is over, or continue elsewhere with snapshot(session) and restore(box, …).`,
    );
  }
}

/** Where `startTelemetry()` keeps its handle. */
const RUNNING = Symbol.for('@breakerbox/telemetry:running');
const globals = globalThis as { readonly [RUNNING]?: unknown };

/** Whether telemetry was ever there: a session may end after it does. */
let wasStarted = false;

/** Whether there is, or was, an OpenTelemetry SDK or another reader of the metrics. */
export const isRead = (): boolean => {
  wasStarted ||= globals[RUNNING] !== undefined || hasReader();
  return wasStarted;
};

type Environment = Readonly<Record<string, string | undefined>>;

const EXPORTERS = ['OTEL_METRICS_EXPORTER', 'OTEL_TRACES_EXPORTER'];
const PLACES = ['OTEL_EXPORTER_PROMETHEUS_PORT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];

/** Values that ask for nothing. A port of 0 is any port, as in tests. */
const NOTHING = ['', 'none', '0'];

/** The variable that asks for telemetry, if one does. */
const askingFor = (env: Environment): string | undefined => {
  const read = (name: string): string => env[name]?.trim().toLowerCase() ?? '';
  const isAsking = (name: string): boolean => !NOTHING.includes(read(name));
  const exporter = EXPORTERS.find(isAsking);
  if (exporter !== undefined) return exporter;
  if (EXPORTERS.every((name) => read(name) === 'none')) return undefined;
  return PLACES.find(isAsking);
};

/** Warns where a session's option, or a variable, asks for telemetry that was never started. */
export const warnIfUnread = (option?: string): void => {
  if (isRead()) return;
  const { env = {} } = (globalThis as { readonly process?: { readonly env?: Environment } }).process ?? {};
  const isOff = (name: string, off: string): boolean => env[name]?.trim().toLowerCase() === off;
  if (isOff('OTEL_SDK_DISABLED', 'true') || (option !== undefined && isOff('OTEL_TRACES_EXPORTER', 'none'))) return;
  const asking = option ?? askingFor(env);
  if (asking === undefined) return;
  warnOnce(
    'BREAKERBOX_NO_TELEMETRY',
    '',
    () =>
      `${asking} asks for telemetry, but no OpenTelemetry SDK was started, so nothing is exported. Call startTelemetry() of @breakerbox/telemetry before the first session, run the program with --import @breakerbox/telemetry/register, or start an OpenTelemetry SDK of your own.`,
  );
};
