import { diag } from '@opentelemetry/api';
import { type BudgetOptions, createBudget } from './budget/budget.ts';
import { keptChains } from './capability/kept-chains.ts';
import type { Capability } from './capability/map.ts';
import { routeOf } from './capability/route.ts';
import {
  type CircuitPolicy,
  gatePolicy,
  resolveGroupPolicy,
  resolveKeyPolicy,
  resolvePolicy,
} from './circuit/policy.ts';
import { hasWindows } from './circuit/trips/counts.ts';
import { systemClock } from './clock.ts';
import {
  type BreakerboxConfig,
  type GroupConfig,
  mergeTool,
  type RestoreOptions,
  type SessionOptions,
  settings,
  type ToolConfig,
  validateConfig,
  validateRestoreOptions,
  validateSessionOptions,
  validateTool,
} from './config.ts';
import type { SessionContext, SystemicRules } from './context.ts';
import { NO_CORRELATION } from './correlation.ts';
import { createEmitter } from './emitter.ts';
import type { BreakerboxEvents } from './events.ts';
import { Expeditor } from './expeditor.ts';
import { circuitNameOf, groupNameOf } from './groups.ts';
import { DEFAULT_REPEATS } from './loop-guard.ts';
import { freshMemory } from './memory.ts';
import { noEvidence, warnOfSmallBudget } from './mistakes.ts';
import { shortened, someNames } from './names.ts';
import { DEFAULT_JUDGEMENT } from './outcome/taxonomy.ts';
import { createPrecheckBoard, type Precheck } from './precheck.ts';
import { createRecoveryWatch } from './recovery.ts';
import { recall } from './restore.ts';
import { safeClock } from './safe-clock.ts';
import { NamedSession, type NamedSessions } from './same-id.ts';
import { boundedDeclare } from './seen-tools.ts';
import type { Session } from './session.ts';
import { checkSnapshot } from './snapshot-checks.ts';
import { circuitStore } from './store.ts';
import { DEFAULT_SYSTEMIC, type SystemicEvent } from './systemic.ts';
import { noticeCopy } from './telemetry/copies.ts';
import { agentCells, followProviders } from './telemetry/hub.ts';
import { groupCells, outcomeCell, toolCells } from './telemetry/metrics.ts';
import { safely } from './telemetry/safely.ts';
import { OTHER_TOOL } from './telemetry/semconv.ts';
import { startSessionSpan } from './telemetry/spans.ts';
import { isObserved, warnIfUnobserved } from './telemetry/started.ts';
import type { CircuitSpec, ToolSettings, ToolSpec } from './tool.ts';
import { checkListener } from './usage.ts';

/** The state that all runs of one agent share. Create one at start and keep it. */
export interface Breakerbox {
  readonly agent: string;
  /** Starts a run with its own circuits, steps and failure budget. Call `end()` on it when the run is over. */
  session(options?: SessionOptions): Session;
  /**
   * Continues a session from a `session.snapshot()`, in this process or another: its circuits, steps, modes and budget. The time
   * since the snapshot counts as passed, by the wall clock or by `elapsedMs`. Probes that were under way may be sent again (C11).
   * The circuit of a tool that is not declared here is kept until the tool is declared.
   *
   * @throws BreakerboxConfigError if it is not a snapshot, or is a snapshot of another agent. The error lists everything that is
   * wrong in it, up to 100 faults.
   *
   * @example
   * ```ts
   * await store.put(conversationId, JSON.stringify(session.snapshot()));
   * // in another process
   * const session = box.restore(JSON.parse(await store.get(conversationId)));
   * ```
   */
  restore(snapshot: unknown, options?: RestoreOptions): Session;
  /**
   * Gives a tool a circuit and series. A tool that is already configured or declared keeps its settings, so adapters may declare
   * the tools that they wrap.
   *
   * @throws BreakerboxConfigError if the settings can't work.
   */
  declare(tool: string, config?: ToolConfig): void;
  /**
   * Runs all pre-call checks at once and waits for their answers, so that the first decisions can use them (K3). Never rejects. A
   * check that takes longer than 5 s counts as available.
   */
  precheck(): Promise<void>;
  /** Names of the declared tools. */
  readonly tools: readonly string[];
  /**
   * Calls `listener` for each event of that name, until you call the returned function. An error that a listener throws is reported
   * to OpenTelemetry's `diag` and has no other effect.
   *
   * @throws BreakerboxUsageError if there is no such event, or if the listener is not a function.
   *
   * @example
   * ```ts
   * box.on('circuit.transition', ({ tool, from, to }) => logger.warn({ tool, from, to }));
   * ```
   */
  on<Name extends keyof BreakerboxEvents>(name: Name, listener: (event: BreakerboxEvents[Name]) => void): () => void;
}

/** S5: in scope `process`, the default time after which a systemic event is probed. */
const PROBE_AFTER_MS = 300_000;
const CHAIN_BACKOFF_MS = 300_000;

/**
 * Creates the box of an agent.
 *
 * @throws BreakerboxConfigError if the configuration can't work. The error lists everything that is wrong, up to 100 faults (E6).
 *
 * @example
 * ```ts
 * const box = createBreakerbox({ agent: 'research-agent', tools: { web_search: { profile: 'fast' } } });
 * const session = box.session({ id: conversationId });
 * ```
 */
export const createBreakerbox = (config: BreakerboxConfig): Breakerbox => {
  validateConfig(config);
  const { agent, defaults = {}, maxTools = 200, scope = 'session' } = config;
  const clock = safeClock(config.clock ?? systemClock);
  const cells = agentCells(agent);
  const emitter = createEmitter<BreakerboxEvents>();
  const tools = new Map<string, ToolSpec>();
  const groups = new Map<string, CircuitSpec>();
  const configured = new Set(Object.keys(config.tools ?? {}));
  const unused = new Set(configured);
  const named: NamedSessions = new Map();
  let version = 0;

  const declare = (given: string, toolConfig: ToolConfig = {}): void => {
    const name = typeof given === 'string' ? shortened(given) : given; // A server may list a very long name. Calls cut it the same way.
    unused.delete(name);
    if (tools.has(name)) return;
    validateTool(name, toolConfig, defaults, capabilities);
    if (Object.keys(toolConfig).length > 0) configured.add(name);
    checkBudget(config.budget, [put(name, toolConfig)]);
    followProviders();
  };

  const put = (name: string, toolConfig: ToolConfig): ToolSpec => {
    const treated = toolSettings(defaults, toolConfig, scope);
    const ownCells = toolCells(cells, name, maxTools, treated.outcomes);
    const successes = outcomeCell(ownCells, 'success', undefined);
    const tool: ToolSpec = { name, ...treated, group: undefined, cells: ownCells, successes };
    tools.set(name, tool);
    if (toolConfig.group === false) ungrouped.add(name);
    else if (toolConfig.group !== undefined) putInGroup(name, toolConfig.group);
    chains.forget();
    version += 1;
    return tool;
  };

  /** Sessions that share circuits open them together, so each needs only a part of the failures. */
  const checkBudget = (budget: BreakerboxConfig['budget'], some: Iterable<ToolSpec>): void => {
    if (scope === 'session') warnOfSmallBudget(agent, budgetOptions(budget), config.systemic !== false, some);
  };

  /** Tools that must have no group, even if an adapter names one. */
  const ungrouped = new Set<string>();

  /** C13: the first group that a tool is given stays its group. */
  const putInGroup = (name: string, group: string): void => {
    const tool = tools.get(name);
    if (tool === undefined || tool.group !== undefined || ungrouped.has(name)) return;
    tool.group = groupOf(group);
    version += 1;
  };

  const groupOf = (group: string): CircuitSpec => {
    const name = circuitNameOf(group);
    const known = groups.get(name);
    if (known !== undefined) return known;
    const made = groupSpec(group, config.groups?.[group] ?? {});
    groups.set(name, made);
    return made;
  };

  const groupSpec = (group: string, { mode, ...own }: GroupConfig): CircuitSpec => ({
    name: circuitNameOf(group),
    mode: mode ?? (defaults.mode === 'observe_only' ? 'observe_only' : 'automatic'),
    policy: inScope(resolveGroupPolicy(own), scope),
    cells: groupCells(cells, circuitNameOf(group), maxTools),
  });

  const sharedGroup = (names: readonly string[]): string | undefined => {
    const groupOfOne = (name: string) => groupNameOf(name) ?? groupNameOf(tools.get(name)?.group?.name);
    const [first = '', ...others] = names;
    const group = groupOfOne(first);
    return group !== undefined && others.every((name) => groupOfOne(name) === group) ? group : undefined;
  };

  /** S2: the tools of an event, the members of its groups, and what depends on them. */
  const affectedBy = ({ openings }: SystemicEvent): ReadonlySet<string> => {
    const names = new Set(openings.map(({ tool }) => tool));
    const members = [...tools.values()].filter(({ group }) => group !== undefined && names.has(group.name));
    return chains.withDependents([...names, ...members.map(({ name }) => name)]);
  };

  const capabilities = (): Record<string, Capability> =>
    Object.fromEntries([...tools].map(([name, { capability }]) => [name, capability]));

  const chains = keptChains(capabilities);

  const prechecks = createPrecheckBoard({
    maxAgeMs: config.precheckMaxAgeMs ?? 30_000,
    onScore: (tool, availability) => {
      const cell = tools.get(tool)?.cells.prechecks[availability];
      if (cell !== undefined) cell.value += 1;
    },
  });

  const { recovery, pause, ...policy } = settings(config.systemic === false ? {} : config.systemic);
  const watchOfAll = recovery && createRecoveryWatch(recovery);
  const probeAfterMs = recovery === undefined && scope === 'process' ? PROBE_AFTER_MS : recovery?.probeAfterMs;
  const { maxProbeAfterMs } = recovery ?? {};
  const rules: SystemicRules = {
    ...DEFAULT_SYSTEMIC,
    ...policy,
    sharedDependency: chains.shared,
    sharedGroup,
    joinsAll: scope !== 'process',
    decision: scope === 'process' && pause !== 'all' ? 'skip' : 'pause',
    gate:
      probeAfterMs === undefined
        ? undefined
        : gatePolicy({ probeAfterMs, ...(maxProbeAfterMs !== undefined && { maxProbeAfterMs }) }),
    affectedBy,
    version: () => version,
  };
  const shared: SessionContext = {
    agent,
    clock,
    systemic: config.systemic === false ? undefined : rules,
    recoveryWatch: () => (scope === 'process' ? watchOfAll : recovery && createRecoveryWatch(recovery)),
    shared: scope === 'process' ? circuitStore(noMemory, { step: 0, stepMs: clock.now() }) : undefined,
    keepsCircuits: scope !== 'none',
    repeats: config.loopGuard === false ? undefined : (config.loopGuard?.repeats ?? DEFAULT_REPEATS),
    prechecks,
    undeclared: toolSettings(defaults, {}, scope),
    idleMs: config.sessionIdleMs ?? 30 * 60_000,
    cells,
    emitter,
    configured,
    unused,
    evidence: noEvidence(),
    tool: (name) => tools.get(name),
    group: (name) => groups.get(name),
    declare: boundedDeclare({
      agent,
      maxTools,
      tools,
      declare: (name, group) => {
        declare(name);
        if (typeof group === 'string') putInGroup(shortened(name), groupHint(group));
      },
    }),
    tools: () => tools.keys(),
    capMs: (name) => {
      const links = chains.length(name);
      return links > 1 ? (config.chainBackoffMs ?? CHAIN_BACKOFF_MS) / links : undefined;
    },
    otherCells: () => toolCells(cells, OTHER_TOOL, maxTools),
  };

  // All at once: they were checked together and may name each other in any order.
  for (const [name, toolConfig] of Object.entries(config.tools ?? {})) put(name, toolConfig);
  followProviders();
  noticeCopy();
  checkBudget(config.budget, tools.values());

  const spanOf = (id: string, { span = false }: Pick<SessionOptions, 'span'>) => {
    // Remembers that telemetry was there, because a session may end after telemetry does.
    safely('looking for telemetry', () => (span ? warnIfUnobserved('The option span of a session') : isObserved()));
    return span ? startSessionSpan(agent, id) : undefined;
  };

  const allowedBy = (allowedTools = config.allowedTools) => allowedTools && new Set(allowedTools);

  return {
    agent,
    declare,
    get tools() {
      return [...tools.keys()];
    },
    session: (options = {}) => {
      validateSessionOptions(options);
      const { id = crypto.randomUUID(), allowedTools } = options;
      const budget = { ...budgetOptions(config.budget), ...budgetOptions(options.budget) };
      if (options.budget !== undefined) checkBudget(budget, tools.values());
      cells.sessionsStarted.value += 1;
      const memory = freshMemory(createBudget(budget), clock.now());
      const ofId = options.id === undefined ? undefined : new NamedSession(agent, id, named, false);
      return new Expeditor(shared, id, memory, allowedBy(allowedTools), spanOf(id, options), ofId);
    },
    restore: (snapshot, options = {}) => {
      validateRestoreOptions(options);
      const { id, ...kept } = checkSnapshot(snapshot, agent);
      if (scope !== 'session' && kept.circuits.length > 0) {
        inform(
          `sessions of a box with scope '${scope}' have no circuits of their own; those of the snapshot are left out.`,
        );
      }
      const waiting = kept.circuits.map(({ tool }) => tool).filter((name) => !tools.has(name) && !groups.has(name));
      if (waiting.length > 0) {
        inform(`restored circuits wait until their tools are declared: ${someNames(waiting)}.`);
      }
      const elapsedMs = options.elapsedMs ?? Math.max(0, clock.unixNow() - kept.unixMs);
      const memory = recall(kept, { ms: clock.now(), elapsedMs }, rules, scope === 'session');
      const ofId = new NamedSession(agent, id, named, true);
      return new Expeditor(shared, id, memory, allowedBy(options.allowedTools), spanOf(id, options), ofId);
    },
    precheck: () =>
      prechecks.refresh(
        [...tools.values()].flatMap(({ name, precheck }): [string, Precheck][] => (precheck ? [[name, precheck]] : [])),
        clock.now,
      ),
    on: (name, listener) => {
      checkListener(name, listener);
      return emitter.on(name, listener);
    },
  };
};

const noMemory = { circuits: new Map(), correlation: NO_CORRELATION, shadowCorrelation: undefined };

/** The name of an MCP server may be very long, or empty. */
const groupHint = (group: string): string => shortened(group.trim() || 'unnamed', 240);

const budgetOptions = (budget: BreakerboxConfig['budget']): BudgetOptions =>
  budget === 'strict' ? { rule: 'strict' } : settings(budget);

/** The steps of many sessions together do not measure time (C12). A schedule that the user set is kept. */
const inScope = (policy: CircuitPolicy, scope: NonNullable<BreakerboxConfig['scope']>): CircuitPolicy =>
  scope === 'process' && policy.schedule === 'auto' ? { ...policy, schedule: 'time' } : policy;

/** A message for people. The logger is application code: if it throws, the caller must not notice (E5). */
const inform = (message: string): void => safely('the logger', () => diag.info(`Breakerbox: ${message}`));

const toolSettings = (
  defaults: ToolConfig,
  own: ToolConfig,
  scope: NonNullable<BreakerboxConfig['scope']>,
): ToolSettings => {
  const merged = mergeTool(defaults, own);
  const { mode = 'automatic', classify, isFailure, key, precheck, labelFreshness = false, serveStaleMs } = merged;
  const { provides, alternatives, fallback, dependsOn } = merged;
  const policy = resolvePolicy(merged);
  const keepsResults = labelFreshness || serveStaleMs !== undefined;
  const capability: Capability = {
    ...(provides !== undefined && { provides }),
    ...(alternatives !== undefined && { alternatives }),
    ...(fallback !== undefined && { fallback }),
    ...(dependsOn !== undefined && { dependsOn }),
  };
  return {
    mode,
    policy: inScope(policy, scope),
    keyPolicy: inScope(resolveKeyPolicy(merged), scope),
    outcomes: { ...DEFAULT_JUDGEMENT, ...merged.outcomes },
    classify,
    isFailure,
    key,
    capability,
    lastResort: routeOf(capability, () => false),
    precheck,
    labelFreshness,
    serveStaleMs,
    keepsResults,
    goesByTime: hasWindows(policy) || precheck !== undefined || keepsResults,
  };
};
