import type { BoxContext } from '../box-context.ts';
import type { Breakerbox } from '../breakerbox.ts';
import { createBudget, NO_LIMIT } from '../budget/budget.ts';
import { circuitNameOf, groupNameOf, PROFILES } from '../circuit/policy.ts';
import type { CustomTripPolicy } from '../circuit/trip-policies/custom.ts';
import { circuitStore } from '../circuit-store.ts';
import type { BreakerboxConfig, ModelConfig } from '../config/config.ts';
import { type ModelTokens, type ModelUsage, usageOf } from '../config/model-price.ts';
import { createResultPool } from '../freshness/last-good.ts';
import { noEvidence } from '../mistakes.ts';
import { extendLease, type Permit } from '../permit.ts';
import { safely } from '../safely.ts';
import { createSession } from '../session.ts';
import type { Session } from '../session-api.ts';
import { type BoxInternals, boxInternals, registerModels } from '../session-internals.ts';
import { freshMemory, NO_CIRCUITS } from '../session-memory.ts';
import { followProviders } from '../telemetry/otel-binding.ts';
import { ATTR, MODEL_PREFIX } from '../telemetry/semconv.ts';
import { createAgentSeries, seriesOf, toolSeries } from '../telemetry/series.ts';
import { type CircuitSpec, groupSettings, type ToolSpec, toolSettings } from '../tool.ts';
import { type ModelContext, modelContexts } from './model-contexts.ts';

/** The id of the session that has the circuits of models, on events and in `ctl`. */
const SESSION_ID = 'models';

/** A model that was declared. */
export interface ModelHandle {
  /** `model:PROVIDER/MODEL`: the name to acquire. */
  readonly name: string;
  /** C9: gives a probe so many milliseconds from now, if it has less. */
  readonly extend: (permit: Permit, ms: number) => void;
  /** The wait of a circuit that opens because its provider has no credit left, in milliseconds. */
  readonly longestWaitMs: () => number;
  /** Counts an answer, its tokens and its cost (L7), and returns what it has used. `primary`: the name of the first model of the list. */
  answered(
    answer: { readonly position: 'primary' | 'fallback'; readonly primary: string },
    tokens?: ModelTokens,
  ): ModelUsage;
  /** Counts a call that neither this model, the first of its list, nor another one answered (L7). */
  unanswered(): void;
}

/** The models of a box. */
export interface BoxModels {
  /**
   * Decides for models. It has their circuits whatever the scope of the box is, no budget, no correlated failures, no loop guard, no tools
   * and no spans (L2).
   */
  readonly session: Session;
  /** The Unix time by the clock of the box, in milliseconds. */
  readonly unixNow: () => number;
  /** Whether runs of the box have a limit of tokens or cost (D2). */
  readonly limitsUsage: () => boolean;
  /**
   * Gives a model a circuit, which has the threshold of a model with a fallback if it has one in any list. Undefined if it was declared with
   * another group: it cannot be in two.
   */
  declare(model: {
    readonly name: string;
    readonly group: string;
    readonly hasFallback: boolean;
  }): ModelHandle | undefined;
}

const made = new WeakMap<BoxContext, BoxModels>();

/**
 * The models of a box: the same engine, with a list of its own, so that a model is in no note, no tool list and no plan (L2). All calls
 * for one box return the same object.
 *
 * @throws BreakerboxUsageError if `box` is not a box.
 */
export const boxModels = (box: Breakerbox): BoxModels => {
  const internals = boxInternals(box, 'guardModels(box, options)');
  const { context } = internals;
  const known = made.get(context) ?? createModels(box, internals);
  made.set(context, known);
  return known;
};

const createModels = (owner: Breakerbox, internals: BoxInternals): BoxModels => {
  const { context, config } = internals;
  const specs = new Map<string, ToolSpec>();
  const groups = new Map<string, CircuitSpec>();
  const fallbacks = new Map<string, boolean>();
  const { clock, series } = context;
  const { maxTools = 200 } = config;
  let current = config;
  const box: BoxContext = {
    ...context,
    systemic: undefined,
    recoveryWatch: () => undefined,
    shared: circuitStore(NO_CIRCUITS, { step: 0, stepMs: clock.now() }),
    keepsCircuits: true,
    repeats: undefined,
    overrides: { common: context.overrides.common }, // The fleet's orders for models are apart from those for tools (G2).
    results: createResultPool(),
    undeclared: toolSettings({}, {}, 'process'),
    // Circuits and calls are exported, the session and its budget are not: it is not a run.
    series: { ...createAgentSeries(series.agent), tools: series.tools },
    idleMs: 0, // So that it is not listed as a live session, which would keep a dropped box.
    configured: new Set(),
    unused: new Set(),
    evidence: noEvidence(),
    tool: (name) => specs.get(name),
    group: (name) => groups.get(name),
    declare: () => {},
    tools: () => specs.keys(),
    capMs: () => undefined,
    tracer: () => undefined,
  };
  const settingsOf = (name: string, by: BreakerboxConfig) => modelSettings(by, name, fallbacks.get(name) === true);
  const groupOf = (group: string): CircuitSpec => {
    const name = circuitNameOf(`${MODEL_PREFIX}${group}`);
    const known = groups.get(name);
    if (known !== undefined) return known;
    const spec = {
      name,
      ...modelGroupSettings(config, name),
      series: toolSeries(series, name, maxTools, { isGroup: true }),
    };
    groups.set(name, spec);
    return spec;
  };
  const models: ModelContext = {
    knows: (name) => specs.has(name) || groups.has(name),
    circuits: () => [...specs.values(), ...groups.values()],
    reconfigure: (next) => {
      current = next;
      for (const [name, spec] of specs) Object.assign(spec, settingsOf(name, next));
      for (const [name, spec] of groups) Object.assign(spec, modelGroupSettings(next, name));
    },
  };
  modelContexts.set(context, models);
  joinFleet(owner, { ...internals, context: box, scope: 'process', modelsOf: owner });
  // Two windows of one call: nothing that fails is kept, and the budget never ends.
  const budget = createBudget({ failures: NO_LIMIT, windowCalls: 1, windowMs: 1 });
  const session = createSession(box, {
    id: SESSION_ID,
    memory: freshMemory(budget, clock.now()),
    allowed: undefined,
    span: undefined,
    named: undefined,
  });
  return {
    session,
    unixNow: () => clock.unixNow(),
    limitsUsage: () => config.limits?.tokens !== undefined || config.limits?.cost !== undefined,
    declare: ({ name: short, group, hasFallback }) => {
      const name = `${MODEL_PREFIX}${short}`;
      const known = specs.get(name);
      if (known !== undefined && known.group !== groupOf(group)) return undefined;
      const isNew = hasFallback && fallbacks.get(name) !== true;
      if (isNew || known === undefined) fallbacks.set(name, hasFallback);
      const spec: ToolSpec = known ?? {
        name,
        ...settingsOf(name, current),
        group: groupOf(group),
        series: toolSeries(series, name, maxTools),
      };
      if (isNew) Object.assign(spec, settingsOf(name, current));
      specs.set(name, spec);
      followProviders();
      const labelOf = (one: ToolSpec | undefined, otherwise: string) =>
        String(one?.series.base[ATTR.tool] ?? otherwise);
      const model = labelOf(spec, name);
      return {
        name,
        extend: (permit, ms) => extendLease(permit, clock.now() + ms),
        longestWaitMs: () => spec.group?.policy.maxCooldownMs ?? spec.policy.maxCooldownMs,
        answered: ({ position, primary }, tokens = {}) => {
          const { input, output } = tokens;
          const first = labelOf(specs.get(primary), primary);
          seriesOf(series, 'modelAnswers', model, position, first).value += 1;
          if (input) seriesOf(series, 'modelTokens', model, 'input').value += input;
          if (output) seriesOf(series, 'modelTokens', model, 'output').value += output;
          const usage = usageOf(current.models?.[short]?.price, tokens);
          if (usage.cost) seriesOf(series, 'modelCost', model, usage.currency ?? '').value += usage.cost;
          return usage;
        },
        unanswered: () => {
          seriesOf(series, 'modelFailures', model).value += 1;
        },
      };
    },
  };
};

/** G2: for the fleet, the models of a box are a box of their own. */
const joinFleet = ({ on }: Breakerbox, internals: BoxInternals): void => {
  const { config } = internals;
  const ofModels = Object.entries(config.groups ?? {}).filter(([name]) => name.startsWith(MODEL_PREFIX));
  const shares = [...Object.values(config.models ?? {}), ...ofModels.map(([, group]) => group)];
  if (!shares.some(({ share }) => share === 'fleet')) return;
  const box = { on };
  registerModels(box, internals);
  safely('the fleet', () => config.fleet?.join(box));
};

const DAY_MS = 86_400_000;

/** L2: a model that has another one behind it opens earlier, because a failure costs its user only time. */
const modelSettings = ({ models }: BreakerboxConfig, name: string, hasFallback: boolean) => {
  const { price: _, ...own }: ModelConfig = models?.[name.slice(MODEL_PREFIX.length)] ?? {};
  const failureThreshold = hasFallback ? 2 : PROFILES.provider.failureThreshold;
  const defaults = { profile: 'provider', failureThreshold, maxRetryAfterMs: DAY_MS, trip: SECOND_REFUSAL } as const;
  const settings = toolSettings(defaults, own, 'process');
  // A success ends a row of refusals, and with it the wait that a failure before it asked for.
  return { ...settings, policy: { ...settings.policy, countsSuccesses: false } };
};

/** L3: a model that this key may not use. One such answer may be about the request, so the second one in a row counts. */
const SECOND_REFUSAL: CustomTripPolicy<number> = {
  name: 'second refusal',
  record: (refusals = 0, { category }) => (category === 'permission' ? refusals + 1 : 0),
  tripped: (refusals) => refusals >= 2,
};

const modelGroupSettings = (config: BreakerboxConfig, name: string) =>
  groupSettings({ agent: config.agent, groups: config.groups ?? {} }, groupNameOf(name) ?? '', 'process');
