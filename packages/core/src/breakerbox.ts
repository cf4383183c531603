import { diag } from '@opentelemetry/api';
import { resolvePolicy } from './circuit/policy.ts';
import { systemClock } from './clock.ts';
import {
  type BreakerboxConfig,
  mergeTool,
  type SessionOptions,
  settings,
  type ToolConfig,
  validateConfig,
  validateSessionOptions,
  validateTool,
} from './config.ts';
import type { SessionContext } from './context.ts';
import { createEmitter } from './emitter.ts';
import type { BreakerboxEvents } from './events.ts';
import { Expeditor } from './expeditor.ts';
import { freshMemory } from './memory.ts';
import { DEFAULT_JUDGEMENT } from './outcome/taxonomy.ts';
import { checkSnapshot, recall } from './restore.ts';
import type { Session } from './session.ts';
import { DEFAULT_SYSTEMIC } from './systemic.ts';
import { agentCells, followProviders } from './telemetry/hub.ts';
import { toolCells } from './telemetry/metrics.ts';
import { OTHER_TOOL } from './telemetry/semconv.ts';
import type { ToolSettings, ToolSpec } from './tool.ts';

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
   * @throws BreakerboxConfigError when it is no snapshot, or one of another agent, with everything that is wrong in it.
   *
   * @example
   * ```ts
   * await store.put(conversationId, JSON.stringify(session.snapshot()));
   * // in another process
   * const session = box.restore(JSON.parse(await store.get(conversationId)));
   * ```
   */
  restore(snapshot: unknown): Session;
  /**
   * Gives a tool a circuit and series. A tool that is configured or declared already keeps its settings, so that adapters
   * may declare what they wrap.
   *
   * @throws BreakerboxConfigError when the settings can't work.
   */
  declare(tool: string, config?: ToolConfig): void;
  /** Names of the declared tools. */
  readonly tools: readonly string[];
  /**
   * Calls `listener` for each event of that name, until the returned function is called. What a listener throws is
   * reported to OpenTelemetry's `diag` and changes nothing.
   *
   * @example
   * ```ts
   * box.on('circuit.transition', ({ tool, from, to }) => logger.warn({ tool, from, to }));
   * ```
   */
  on<Name extends keyof BreakerboxEvents>(name: Name, listener: (event: BreakerboxEvents[Name]) => void): () => void;
}

const DEFAULT_BUDGET = 5;

/**
 * Makes the box of an agent.
 *
 * @throws BreakerboxConfigError when the configuration can't work, with everything that is wrong in it (E6).
 *
 * @example
 * ```ts
 * const box = createBreakerbox({ agent: 'research-agent', tools: { web_search: { profile: 'fast' } } });
 * const session = box.session({ id: conversationId });
 * ```
 */
export const createBreakerbox = (config: BreakerboxConfig): Breakerbox => {
  validateConfig(config);
  const { agent, defaults = {}, maxTools = 200, clock = systemClock } = config;
  const cells = agentCells(agent);
  const emitter = createEmitter<BreakerboxEvents>();
  const tools = new Map<string, ToolSpec>();

  const declare = (name: string, toolConfig: ToolConfig = {}): void => {
    if (tools.has(name)) return;
    validateTool(name, toolConfig, defaults);
    const treated = toolSettings(defaults, toolConfig);
    tools.set(name, { name, ...treated, cells: toolCells(cells, name, maxTools, treated.outcomes) });
    followProviders();
  };

  const shared: SessionContext = {
    agent,
    clock,
    systemic: config.systemic === false ? undefined : { ...DEFAULT_SYSTEMIC, ...settings(config.systemic) },
    undeclared: toolSettings(defaults, {}),
    idleMs: config.sessionIdleMs ?? 30 * 60_000,
    cells,
    emitter,
    tool: (name) => tools.get(name),
    declare,
    otherCells: () => toolCells(cells, OTHER_TOOL, maxTools),
  };

  for (const [name, toolConfig] of Object.entries(config.tools ?? {})) declare(name, toolConfig);
  followProviders();

  return {
    agent,
    declare,
    get tools() {
      return [...tools.keys()];
    },
    session: (options = {}) => {
      validateSessionOptions(options);
      const { id = crypto.randomUUID(), budget = config.budget } = options;
      const failures = budget?.failures ?? config.budget?.failures ?? DEFAULT_BUDGET;
      return new Expeditor(shared, id, freshMemory(failures, clock.now()));
    },
    restore: (snapshot) => {
      const { id, ...kept } = checkSnapshot(snapshot, agent);
      const waiting = kept.circuits.map(({ tool }) => tool).filter((tool) => !tools.has(tool));
      if (waiting.length > 0) {
        diag.info(`Breakerbox: restored circuits wait until their tools are declared: ${waiting.join(', ')}.`);
      }
      return new Expeditor(shared, id, recall(kept, clock.now()));
    },
    on: emitter.on,
  };
};

const toolSettings = (defaults: ToolConfig, own: ToolConfig): ToolSettings => {
  const merged = mergeTool(defaults, own);
  return {
    mode: merged.mode ?? 'automatic',
    policy: resolvePolicy(merged),
    outcomes: { ...DEFAULT_JUDGEMENT, ...merged.outcomes },
    classify: merged.classify,
  };
};
