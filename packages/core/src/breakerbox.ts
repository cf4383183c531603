import { resolvePolicy } from './circuit/policy.ts';
import { systemClock } from './clock.ts';
import {
  type BreakerboxConfig,
  type SessionOptions,
  type ToolConfig,
  validateConfig,
  validateSessionOptions,
  validateTool,
} from './config.ts';
import { createEmitter } from './emitter.ts';
import type { BreakerboxEvents } from './events.ts';
import { Expeditor, type SessionContext } from './expeditor.ts';
import { DEFAULT_JUDGEMENT } from './outcome/taxonomy.ts';
import type { Session } from './session.ts';
import { DEFAULT_SYSTEMIC } from './systemic.ts';
import { agentCells, syncMetrics } from './telemetry/hub.ts';
import { toolCells } from './telemetry/metrics.ts';
import { OTHER_TOOL } from './telemetry/semconv.ts';
import type { ToolSpec } from './tool.ts';

/** What all runs of one agent share. Make one at start and keep it. */
export interface Breakerbox {
  readonly agent: string;
  /** Starts a run: its own circuits, steps and failure budget. Call `end()` on it when the run is over. */
  session(options?: SessionOptions): Session;
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
    validateTool(name, toolConfig);
    tools.set(name, toolSpec(name, toolConfig));
  };

  const toolSpec = (name: string, own: ToolConfig): ToolSpec => {
    // A profile of the tool's own replaces thresholds that the defaults set.
    const { failureThreshold, cooldownMs, maxCooldownMs, ...rest } = defaults;
    const merged = own.profile === undefined ? { ...defaults, ...own } : { ...rest, ...own };
    return {
      name,
      policy: resolvePolicy(merged),
      outcomes: { ...DEFAULT_JUDGEMENT, ...defaults.outcomes, ...own.outcomes },
      classify: merged.classify,
      cells: toolCells(cells, name, maxTools),
    };
  };

  const shared: SessionContext = {
    agent,
    clock,
    systemic: config.systemic === false ? undefined : { ...DEFAULT_SYSTEMIC, ...config.systemic },
    idleMs: config.sessionIdleMs ?? 30 * 60_000,
    cells,
    emitter,
    tool: (name) => tools.get(name),
    declare,
    otherCells: () => toolCells(cells, OTHER_TOOL, maxTools),
  };

  for (const [name, toolConfig] of Object.entries(config.tools ?? {})) declare(name, toolConfig);
  syncMetrics();

  return {
    agent,
    declare,
    get tools() {
      return [...tools.keys()];
    },
    session: (options = {}) => {
      validateSessionOptions(options);
      const { id = crypto.randomUUID(), budget = config.budget } = options;
      return new Expeditor(shared, id, budget?.failures ?? config.budget?.failures ?? DEFAULT_BUDGET);
    },
    on: emitter.on,
  };
};
