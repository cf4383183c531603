import { ATTR, type Breakerbox, METRIC, type MetricDefinition, type ScopePlan, type Session } from '@breakerbox/core';

/** Attributes by their OpenTelemetry keys. An undefined attribute is left out. */
type Attributes = Readonly<Record<string, string | undefined>>;

/** Counts by series, named as in Prometheus without job and instance. Only counts above zero. */
export type Counts = Readonly<Record<string, number>>;

/** The name of a series in {@link Counts}. */
export const seriesName = (metric: string, labels: Readonly<Record<string, string | undefined>>): string => {
  const pairs = Object.entries(labels).filter(([, value]) => value !== undefined);
  return `${metric}{${pairs
    .map(([name, value]) => `${name.replaceAll('.', '_')}="${value}"`)
    .sort()
    .join(',')}}`;
};

/** The events of an agent's engine, from which the test computes what the metrics must show. */
export interface EventCounts {
  counts(): Counts;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Listens to a box from its first event on. */
export const followEvents = (box: Breakerbox): EventCounts => {
  const counts: Record<string, number> = {};
  const add = (metric: Pick<MetricDefinition, 'prometheus'>, attributes: Attributes, count = 1): void => {
    const name = seriesName(metric.prometheus, { [ATTR.agent]: box.agent, ...attributes });
    if (count > 0) counts[name] = (counts[name] ?? 0) + count;
  };
  /** The tokens of a tool's failed calls, if they were given. */
  const costs: Record<string, number[]> = {};
  box.on('decision', ({ tool, decision, reason, route }) => {
    const of = { [ATTR.tool]: tool };
    const spent = costs[tool] ?? [];
    if (decision === 'skip' && spent.length > 0) add(METRIC.tokensAvoided, of, Math.round(mean(spent)));
    add(METRIC.decisions, { ...of, [ATTR.decision]: decision, [ATTR.reason]: reason });
    if (route === undefined) return;
    add(METRIC.routes, { ...of, [ATTR.route]: route.kind, [ATTR.degradation]: route.degradation });
    // F2: a last good result always has a label.
    if (route.kind === 'stale') add(METRIC.freshness, { ...of, [ATTR.freshnessLabel]: 'stale' });
  });
  box.on('outcome', ({ tool, outcome, category, tokens, freshness }) => {
    const of = { [ATTR.tool]: tool };
    const executed = { prometheus: `${METRIC.duration.prometheus}_count` };
    add(METRIC.outcomes, { ...of, [ATTR.outcome]: outcome });
    if (outcome !== 'success') add(METRIC.errors, { ...of, [ATTR.outcome]: outcome, [ATTR.errorType]: category });
    add(executed, { ...of, [ATTR.errorType]: outcome === 'success' ? undefined : '_OTHER' });
    if (outcome === 'failure' && tokens) {
      add(METRIC.tokensWasted, of, tokens);
      costs[tool] = [...(costs[tool] ?? []), tokens];
    }
    if (freshness !== undefined) add(METRIC.freshness, { ...of, [ATTR.freshnessLabel]: freshness.kind });
  });
  box.on('circuit.transition', ({ tool, from, to }) =>
    add(METRIC.transitions, { [ATTR.tool]: tool, [ATTR.stateFrom]: from, [ATTR.stateTo]: to }),
  );
  box.on('budget.exhausted', () => add(METRIC.budgetExhaustions, {}));
  box.on('systemic.detected', ({ event: { category, layer, dependency } }) => {
    const suspect = dependency === undefined ? layer : `${layer} ${dependency}`;
    add(METRIC.systemicEvents, { [ATTR.errorType]: category, [ATTR.suspect]: suspect });
  });
  box.on('operator.action', ({ action, result }) =>
    add(METRIC.operatorActions, { [ATTR.action]: action, [ATTR.result]: result }),
  );
  return { counts: () => counts };
};

/** The parts of an agent that {@link engineCounts} reads. */
interface CountedAgent {
  readonly box: Breakerbox;
  readonly session: Session;
  readonly events: EventCounts;
  readonly plans: readonly ScopePlan[];
}

/** The engine's own numbers at the end: its events, the budget of its session, its plans. */
export const engineCounts = ({ box, session, plans, events }: CountedAgent): Counts => {
  const { consumed } = session.view().budget;
  const of = { [ATTR.agent]: box.agent };
  const planned = (of_: 'achievable' | 'deferred') => plans.reduce((sum, plan) => sum + plan[of_].length, 0);
  const all = {
    ...events.counts(),
    [seriesName(METRIC.sessionsStarted.prometheus, of)]: 1,
    [seriesName(METRIC.budgetConsumed.prometheus, of)]: consumed,
    [seriesName(METRIC.tasks.prometheus, { ...of, [ATTR.disposition]: 'achievable' })]: planned('achievable'),
    [seriesName(METRIC.tasks.prometheus, { ...of, [ATTR.disposition]: 'deferred' })]: planned('deferred'),
  };
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count !== 0));
};
