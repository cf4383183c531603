import type { BoxContext } from './box-context.ts';
import { type BudgetOptions, createBudget, NO_LIMIT } from './budget/budget.ts';
import { createRecoveryWatch } from './budget/recovery.ts';
import { DEFAULT_SYSTEMIC, type SystemicEvent, type SystemicRules } from './budget/systemic.ts';
import { reject } from './checks/checks.ts';
import { groupHint, shortened } from './checks/names.ts';
import { circuitNameOf, gatePolicy, groupNameOf } from './circuit/policy.ts';
import { circuitStore } from './circuit-store.ts';
import { safeClock, systemClock } from './clock.ts';
import {
  type BreakerboxConfig,
  mergeTool,
  type SessionOptions,
  type SessionToolConfig,
  settings,
  type ToolConfig,
} from './config/config.ts';
import {
  checkListener,
  sessionToolIssues,
  validateConfig,
  validateSessionOptions,
  validateTool,
} from './config/validation.ts';
import { type BreakerboxEvents, createEmitter } from './events.ts';
import { createResultPool } from './freshness/last-good.ts';
import { growWithBox, limitsOfSession } from './limits/limits.ts';
import { Run } from './limits/run.ts';
import { DEFAULT_REPEATS } from './loop-guard/loop-guard.ts';
import { isRead, NamedSession, type NamedSessions, noEvidence, warnIfUnread, warnOfSmallBudget } from './mistakes.ts';
import { AVAILABILITIES, createPrecheckCache, type Precheck } from './precheck.ts';
import { type Capability, keptChains } from './routing/capability.ts';
import { safely } from './safely.ts';
import { createSession } from './session.ts';
import type { Session } from './session-api.ts';
import { registerBox } from './session-internals.ts';
import { freshMemory, NO_CIRCUITS } from './session-memory.ts';
import { withOwnTools } from './session-settings.ts';
import { agentSeries, currentTracer, followProviders } from './telemetry/otel-binding.ts';
import { ATTR, OTHER_TOOL } from './telemetry/semconv.ts';
import { seriesOf, toolSeries } from './telemetry/series.ts';
import { SharedGauges } from './telemetry/shared-gauges.ts';
import { startSessionSpan } from './telemetry/spans.ts';
import { boundedDeclare, type CircuitSpec, groupSettings, type ToolSpec, toolSettings } from './tool.ts';
import { noticeCopy } from './warnings/warnings.ts';

/** The state that all runs of one agent share. Create one at start and keep it. */
export interface Breakerbox {
  readonly agent: string;
  /** Starts a run with its own circuits, steps and failure budget. Call `end()` on it when the run is over. */
  session(options?: SessionOptions): Session;
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
export const createBreakerbox = (given: BreakerboxConfig): Breakerbox => {
  validateConfig(given);
  const config = { ...given };
  const { agent, maxTools = 200, scope = 'session' } = config;
  const clock = safeClock(config.clock ?? systemClock);
  const series = agentSeries(agent);
  const emitter = createEmitter<BreakerboxEvents>();
  const tools = new Map<string, ToolSpec>();
  const groups = new Map<string, CircuitSpec>();
  const configured = new Set(Object.keys(config.tools ?? {}));
  const unused = new Set(configured);
  const namedSessions: NamedSessions = new Map();
  let version = 0;

  const declare = (given: string, toolConfig: ToolConfig = {}): void => {
    const name = typeof given === 'string' ? shortened(given) : given; // A server may list a very long name. Calls cut it the same way.
    unused.delete(name);
    if (tools.has(name)) return;
    validateTool(name, toolConfig, config, capabilities);
    checkBudget(config.budget, [put(name, toolConfig)]);
    followProviders();
  };

  /** A tool that is there already is changed in place, because sessions keep its object. */
  const put = (name: string, toolConfig: ToolConfig): ToolSpec => {
    const treated = toolSettings(config.defaults, toolConfig, scope);
    const level = toolConfig.telemetry ?? levelOf(toolConfig.group || undefined);
    const ownSeries = toolSeries(series, name, maxTools, { level });
    if (treated.precheck !== undefined) for (const one of AVAILABILITIES) seriesOf(ownSeries, 'prechecks', one);
    const tool: ToolSpec = Object.assign(tools.get(name) ?? { name, group: undefined, series: ownSeries }, treated);
    tools.set(name, tool);
    if (Object.keys(toolConfig).length > 0) configured.add(name);
    if (toolConfig.group === false) ungrouped.add(name);
    else if (toolConfig.group !== undefined) putInGroup(name, toolConfig.group);
    setLevel(tool);
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

  /** What is exported of a tool. Tools that share the series of `_OTHER` have no say. */
  const setLevel = ({ own, group, series }: ToolSpec): void => {
    if (series.base[ATTR.tool] !== OTHER_TOOL) series.level = own.telemetry ?? group?.series.level ?? levelOf();
  };
  const levelOf = (group?: string) => config.groups?.[group ?? '']?.telemetry ?? config.defaults?.telemetry ?? 'full';

  /** C13: the first group that a tool is given stays its group. */
  const putInGroup = (name: string, group: string): void => {
    const tool = tools.get(name);
    if (tool === undefined || tool.group !== undefined || ungrouped.has(name)) return;
    tool.group = groupOf(group);
    setLevel(tool);
    version += 1;
  };

  const groupOf = (group: string): CircuitSpec => {
    const name = circuitNameOf(group);
    const known = groups.get(name);
    if (known !== undefined) return known;
    const made = {
      name,
      ...groupSettings(config, group, scope),
      series: toolSeries(series, name, maxTools, { isGroup: true, level: levelOf(group) }),
    };
    if (made.series.isGroup) made.series.level = levelOf(group);
    groups.set(name, made);
    return made;
  };

  const sharedGroup = (names: readonly string[]): string | undefined => {
    const groupOfOne = (name: string) => groupNameOf(name) ?? groupNameOf(tools.get(name)?.group?.name);
    const [first = '', ...others] = names;
    const group = groupOfOne(first);
    return group !== undefined && others.every((name) => groupOfOne(name) === group) ? group : undefined;
  };

  const isAlternative = (name: string, circuits: readonly string[]): boolean =>
    [...tools.values()].some(
      (tool) =>
        tool.capability.alternatives?.some((one) => one.tool === name) === true &&
        [tool.name, tool.group?.name ?? tool.name].some((circuit) => circuits.includes(circuit)),
    );

  /** S2: the tools of an event, the members of its groups, and what depends on them. */
  const affectedBy = ({ openings }: SystemicEvent): ReadonlySet<string> => {
    const names = new Set(openings.map(({ tool }) => tool));
    const members = [...tools.values()].filter(({ group }) => group !== undefined && names.has(group.name));
    return chains.withDependents([...names, ...members.map(({ name }) => name)]);
  };

  const capabilities = (): Record<string, Capability> =>
    Object.fromEntries([...tools].map(([name, { capability }]) => [name, capability]));

  const chains = keptChains(capabilities);

  const prechecks = createPrecheckCache({
    maxAgeMs: config.precheckMaxAgeMs ?? 30_000,
    onScore: (tool, availability) => {
      const series = tools.get(tool)?.series;
      if (series !== undefined) seriesOf(series, 'prechecks', availability).value += 1;
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
    isAlternative,
    joinsAll: scope !== 'process',
    decision: scope === 'process' && pause !== 'all' ? 'skip' : 'pause',
    gate:
      probeAfterMs === undefined
        ? undefined
        : gatePolicy({ probeAfterMs, ...(maxProbeAfterMs !== undefined && { maxProbeAfterMs }) }),
    affectedBy,
    version: () => version,
  };
  const shared: BoxContext = {
    agent,
    clock,
    systemic: config.systemic === false ? undefined : rules,
    recoveryWatch: () => (scope === 'process' ? watchOfAll : recovery && createRecoveryWatch(recovery)),
    shared: scope === 'process' ? circuitStore(NO_CIRCUITS, { step: 0, stepMs: clock.now() }) : undefined,
    keepsCircuits: scope !== 'none',
    tree: { maxChildren: config.maxChildren ?? 50, maxDepth: config.maxDepth ?? 5 },
    repeats: config.loopGuard === false ? undefined : (config.loopGuard?.repeats ?? DEFAULT_REPEATS),
    findsCircles: config.loopGuard !== false && config.loopGuard?.circles === true,
    overrides: { common: { version: 0, untilMs: Number.POSITIVE_INFINITY } },
    results: createResultPool(),
    prechecks,
    undeclared: toolSettings(config.defaults, {}, scope),
    idleMs: config.sessionIdleMs ?? 30 * 60_000,
    series,
    emitter,
    sharedGauges: new SharedGauges(series),
    configured,
    unused,
    evidence: noEvidence(),
    tool: (name) => tools.get(name),
    group: (name) => groups.get(name),
    declare: boundedDeclare(agent, maxTools, tools, (name, group) => {
      declare(name);
      if (typeof group === 'string') putInGroup(shortened(name), groupHint(group));
    }),
    tools: () => tools.keys(),
    capMs: (name) => {
      const links = chains.length(name);
      return links > 1 ? (config.chainBackoffMs ?? CHAIN_BACKOFF_MS) / links : undefined;
    },
    otherSeries: () => toolSeries(series, OTHER_TOOL, maxTools),
    tracer: currentTracer,
  };

  // All at once: they were checked together and may name each other in any order.
  for (const [name, toolConfig] of Object.entries(config.tools ?? {})) put(name, toolConfig);
  followProviders();
  noticeCopy();
  checkBudget(config.budget, tools.values());

  const spanOf = (id: string, { span = false }: { readonly span?: boolean | undefined }) => {
    // Remembers that telemetry was there, because a session may end after telemetry does.
    safely('looking for telemetry', () => (span ? warnIfUnread('The option span of a session') : isRead()));
    return span ? startSessionSpan(agent, id) : undefined;
  };

  const allowedBy = (allowedTools = config.allowedTools) => allowedTools && new Set(allowedTools);

  /** C18. */
  const mergeOwn = (base: ToolSpec, own: SessionToolConfig) =>
    sessionToolIssues({ [base.name]: own }, config, () => base.own).length > 0
      ? undefined
      : toolSettings(config.defaults, mergeTool(base.own, own), scope);

  /** The box as a session sees it. */
  const seenWith = (own: SessionOptions['tools']): BoxContext => withOwnTools(shared, own && { ...own }, mergeOwn);

  const ownOf = (name: string) => tools.get(name)?.own;

  const box: Breakerbox = {
    agent,
    declare,
    get tools() {
      return [...tools.keys()];
    },
    session: (options = {}) => {
      validateSessionOptions(options);
      const { id = crypto.randomUUID(), allowedTools } = options;
      const budget = { ...budgetOptions(config.budget), ...budgetOptions(options.budget) };
      if (options.tools !== undefined) reject(sessionToolIssues(options.tools, config, ownOf));
      const seen = seenWith(options.tools);
      if (options.budget !== undefined || options.tools !== undefined)
        checkBudget(
          budget,
          [...tools.keys()].flatMap((name) => seen.tool(name) ?? []),
        );
      seriesOf(series, 'sessionsStarted').value += 1;
      const memory = freshMemory(createBudget(budget), clock.now());
      const limits = limitsOfSession(settings(config.limits), settings(options.limits));
      const run = limits && new Run({ id, limits, beganMs: memory.stepMs });
      const named = options.id === undefined ? undefined : new NamedSession(agent, id, namedSessions, false);
      const allowed = allowedBy(allowedTools);
      return createSession(seen, { id, memory, allowed, run, span: spanOf(id, options), named });
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
  registerBox(box, {
    context: shared,
    scope,
    config,
    put,
    continueSession: (id, memory, kept, options) => {
      const named = new NamedSession(agent, id, namedSessions, true);
      const ofBox = kept ? undefined : limitsOfSession(settings(config.limits), {});
      const run = kept ?? (ofBox && new Run({ id, limits: ofBox, beganMs: clock.now() }));
      if (run !== undefined) growWithBox(run.limits, config.limits);
      return createSession(seenWith(options.tools), {
        id,
        memory,
        run,
        allowed: allowedBy(options.allowedTools),
        span: spanOf(id, options),
        named,
      });
    },
  });
  safely('the fleet', () => config.fleet?.join(box));
  return box;
};

const budgetOptions = (budget: BreakerboxConfig['budget']): BudgetOptions =>
  budget === 'strict' ? { rule: 'strict' } : budget === false ? { failures: NO_LIMIT } : settings(budget);
