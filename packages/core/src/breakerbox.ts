import { diag } from '@opentelemetry/api';
import { withoutCircuits } from './books.ts';
import { createBudget } from './budget.ts';
import { keptChains } from './capability/kept-chains.ts';
import type { Capability } from './capability/map.ts';
import { routeOf } from './capability/route.ts';
import { resolvePolicy } from './circuit/policy.ts';
import { hasWindows } from './circuit/trips/counts.ts';
import { systemClock } from './clock.ts';
import {
  type BreakerboxConfig,
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
import type { SessionContext } from './context.ts';
import { createEmitter } from './emitter.ts';
import type { BreakerboxEvents } from './events.ts';
import { Expeditor } from './expeditor.ts';
import { DEFAULT_REPEATS } from './loop-guard.ts';
import { freshMemory } from './memory.ts';
import { shortened, someNames } from './names.ts';
import { DEFAULT_JUDGEMENT } from './outcome/taxonomy.ts';
import { createPrecheckBoard, type Precheck } from './precheck.ts';
import { createRecoveryWatch } from './recovery.ts';
import { recall } from './restore.ts';
import { boundedDeclare } from './seen-tools.ts';
import type { Session } from './session.ts';
import { checkSnapshot } from './snapshot-checks.ts';
import { circuitStore, createBoard } from './store.ts';
import { DEFAULT_SYSTEMIC } from './systemic.ts';
import { agentCells, followProviders } from './telemetry/hub.ts';
import { outcomeCell, toolCells } from './telemetry/metrics.ts';
import { safely } from './telemetry/safely.ts';
import { OTHER_TOOL } from './telemetry/semconv.ts';
import type { ToolSettings, ToolSpec } from './tool.ts';
import { checkListener } from './usage.ts';

/** What all runs of one agent share. Make one at start and keep it. */
export interface Breakerbox {
  readonly agent: string;
  /** Starts a run: its own circuits, steps and failure budget. Call `end()` on it when the run is over. */
  session(options?: SessionOptions): Session;
  /**
   * Goes on with a session that `session.snapshot()` kept, in this process or another: its circuits, steps, modes and budget.
   * The time between counts as not passed, and probes that were under way may go again (C11). The circuit of a tool that isn't
   * declared here waits until it is.
   *
   * @throws BreakerboxConfigError when it is no snapshot, or one of another agent, with everything that is wrong in it,
   * up to 100 faults.
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
   * Gives a tool a circuit and series. A tool that is configured or declared already keeps its settings, so that adapters
   * may declare what they wrap.
   *
   * @throws BreakerboxConfigError when the settings can't work.
   */
  declare(tool: string, config?: ToolConfig): void;
  /**
   * Asks all pre-call checks at once and waits for their answers, so that the first decisions know them (K3). Never rejects; a check
   * that takes longer than 5 s counts as available.
   */
  precheck(): Promise<void>;
  /** Names of the declared tools. */
  readonly tools: readonly string[];
  /**
   * Calls `listener` for each event of that name, until the returned function is called. What a listener throws is
   * reported to OpenTelemetry's `diag` and changes nothing.
   *
   * @throws BreakerboxUsageError for an event that there isn't, and for a listener that is no function.
   *
   * @example
   * ```ts
   * box.on('circuit.transition', ({ tool, from, to }) => logger.warn({ tool, from, to }));
   * ```
   */
  on<Name extends keyof BreakerboxEvents>(name: Name, listener: (event: BreakerboxEvents[Name]) => void): () => void;
}

const DEFAULT_BUDGET = 5;
const CHAIN_BACKOFF_MS = 300_000;

/**
 * Makes the box of an agent.
 *
 * @throws BreakerboxConfigError when the configuration can't work, with everything that is wrong in it, up to 100 faults (E6).
 *
 * @example
 * ```ts
 * const box = createBreakerbox({ agent: 'research-agent', tools: { web_search: { profile: 'fast' } } });
 * const session = box.session({ id: conversationId });
 * ```
 */
export const createBreakerbox = (config: BreakerboxConfig): Breakerbox => {
  validateConfig(config);
  const { agent, defaults = {}, maxTools = 200, clock = systemClock, scope = 'session' } = config;
  const cells = agentCells(agent);
  const emitter = createEmitter<BreakerboxEvents>();
  const tools = new Map<string, ToolSpec>();

  const declare = (given: string, toolConfig: ToolConfig = {}): void => {
    const name = typeof given === 'string' ? shortened(given) : given; // A server's list may hold a book; calls find it by the same.
    if (tools.has(name)) return;
    validateTool(name, toolConfig, defaults, capabilities);
    put(name, toolConfig);
    followProviders();
  };

  const put = (name: string, toolConfig: ToolConfig): void => {
    const treated = toolSettings(defaults, toolConfig, scope);
    const ownCells = toolCells(cells, name, maxTools, treated.outcomes);
    tools.set(name, { name, ...treated, cells: ownCells, successes: outcomeCell(ownCells, 'success', undefined) });
    chains.forget();
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

  const { recovery, ...policy } = settings(config.systemic === false ? {} : config.systemic);
  const watchOfAll = recovery && createRecoveryWatch(recovery);
  const shared: SessionContext = {
    agent,
    clock,
    systemic:
      config.systemic === false ? undefined : { ...DEFAULT_SYSTEMIC, ...policy, sharedDependency: chains.shared },
    recoveryWatch: () => (scope === 'process' ? watchOfAll : recovery && createRecoveryWatch(recovery)),
    shared: scope === 'process' ? circuitStore(createBoard(clock.now())) : undefined,
    keepsCircuits: scope !== 'none',
    repeats: config.loopGuard === false ? undefined : (config.loopGuard?.repeats ?? DEFAULT_REPEATS),
    prechecks,
    undeclared: toolSettings(defaults, {}, scope),
    idleMs: config.sessionIdleMs ?? 30 * 60_000,
    cells,
    emitter,
    tool: (name) => tools.get(name),
    declare: boundedDeclare({ agent, maxTools, tools, declare }),
    tools: () => tools.keys(),
    capMs: (name) => {
      const links = chains.length(name);
      return links > 1 ? (config.chainBackoffMs ?? CHAIN_BACKOFF_MS) / links : undefined;
    },
    otherCells: () => toolCells(cells, OTHER_TOOL, maxTools),
  };

  // All at once: they were checked together, and may name each other in any order.
  for (const [name, toolConfig] of Object.entries(config.tools ?? {})) put(name, toolConfig);
  followProviders();

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
      const { failures = DEFAULT_BUDGET, tokens } = { ...settings(config.budget), ...settings(options.budget) };
      const memory = freshMemory(createBudget(failures, tokens), clock.now());
      return new Expeditor(shared, id, memory, allowedBy(allowedTools));
    },
    restore: (snapshot, options = {}) => {
      validateRestoreOptions(options);
      const { id, ...kept } = checkSnapshot(snapshot, agent);
      if (scope !== 'session' && kept.circuits.length > 0) {
        inform(
          `sessions of a box with scope '${scope}' have no circuits of their own; those of the snapshot are left out.`,
        );
      }
      const waiting = kept.circuits.map(({ tool }) => tool).filter((tool) => !tools.has(tool));
      if (waiting.length > 0) {
        inform(`restored circuits wait until their tools are declared: ${someNames(waiting)}.`);
      }
      const recalled = recall(kept, clock.now(), shared.systemic?.sharedDependency);
      const memory = scope === 'session' ? recalled : { ...recalled, books: withoutCircuits(recalled.books) };
      return new Expeditor(shared, id, memory, allowedBy(options.allowedTools));
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

/** For people; their logger is code of the application, and no reason to refuse what it is told of (E5). */
const inform = (message: string): void => safely('the logger', () => diag.info(`Breakerbox: ${message}`));

const toolSettings = (
  defaults: ToolConfig,
  own: ToolConfig,
  scope: NonNullable<BreakerboxConfig['scope']>,
): ToolSettings => {
  const merged = mergeTool(defaults, own);
  const { mode = 'automatic', classify, precheck, labelFreshness = false, serveStaleMs } = merged;
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
    // Steps of many sessions together say nothing of the time that has passed (C12); who sets them knows what they count.
    policy: scope === 'process' && policy.schedule === 'auto' ? { ...policy, schedule: 'time' } : policy,
    outcomes: { ...DEFAULT_JUDGEMENT, ...merged.outcomes },
    classify,
    capability,
    lastResort: routeOf(capability, () => false),
    precheck,
    labelFreshness,
    serveStaleMs,
    keepsResults,
    goesByTime: hasWindows(policy) || precheck !== undefined || keepsResults,
  };
};
