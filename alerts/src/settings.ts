/**
 * Every threshold of the rules, in one place. The rules contain no other numbers.
 *
 * Durations are in Prometheus' notation (`5m`, `2m30s`). The windows in the names of recorded series (`…:increase5m`) are not
 * settings, because dashboards query those series by name. They are {@link WINDOW}.
 */
export interface RuleSettings {
  /**
   * The longest gap that is bridged when a state is read: a missed scrape, or the moment between two sessions. The state of a tool
   * is the median over this time, so the bridged gap is half as long. At least two and a half scrape intervals: with 2m30s, one
   * scrape may be missing at 60 s, but not two in a row.
   */
  readonly gap: string;
  /** CircuitOpen: how long a tool must have been out of use. Longer than the detection of shared causes takes. */
  readonly openFor: string;
  /** CircuitOpen: how long it is kept after it was last true. Longer than a tool works between two outages. */
  readonly openKeep: string;
  /**
   * The share (0 to 1) of a tool's circuits from which the tool counts as out of use, or as part of a shared event. Among 500
   * sessions, a tool that fails now and then always has some circuit open. Up to 20 sessions, one circuit is 5 %.
   */
  readonly openShare: number;
  /** CircuitOpen: the share (0 to 1) of a tool's decisions within 5 minutes that skip the call for its key, such as a host. From this share on, the tool counts as out of use. */
  readonly keyOpenShare: number;
  /** CircuitOpen: the least number of decisions within 5 minutes for that share. */
  readonly keyOpenLeastDecisions: number;
  /** CircuitFlapping: openings per circuit in 15 minutes. */
  readonly flappingOpenings: number;
  /** CircuitFlapping: how long it is kept after it was last true. A flapping tool pauses at times. */
  readonly flappingKeep: string;
  /** ProbeStarved: how long a circuit must have been open without a probe. Twice the longest wait between probes (300 s). */
  readonly starvedFor: string;
  /** ProbeStarved: the least number of skips in the latter half of that time. By then a probe was due, and the agent asked for the tool. */
  readonly starvedLeastSkips: number;
  /** ToolErrorRateHigh: failures per executed call (0 to 1), over 5 minutes and over 1 hour. */
  readonly errorRatio: number;
  /** ToolErrorRateHigh: how long both ratios must have been above it. Longer than CircuitOpen takes, so that CircuitOpen fires first. */
  readonly errorFor: string;
  /** ToolErrorRateHigh: the least number of executed calls in 1 hour. */
  readonly errorLeastCalls: number;
  /** ToolErrorRateHigh: the least number of failures in 5 minutes. With fewer, the alert resolves. */
  readonly errorLeastFailures: number;
  /** ToolSlow: how many times its usual p95 the p95 of a tool must be. */
  readonly slowFactor: number;
  /** ToolSlow: seconds of p95 up to which no tool counts as slow. */
  readonly slowFloor: number;
  /** ToolSlow: how long the tool must have been slow. */
  readonly slowFor: string;
  /** ToolSlow: the least number of executed calls in 15 minutes. With fewer, a p95 is the time of one call. */
  readonly slowLeastCalls: number;
  /** ToolSlow: the history that is needed before its median counts as usual. */
  readonly slowLeastHistory: string;
  /**
   * How long ToolErrorRateHigh, ToolSlow and CircuitFlapping stay silent about a tool after CircuitOpen fired for it. Their
   * windows still contain the outage, and all of them would fire after it. At least 15 minutes, the longest of those windows.
   */
  readonly afterOpen: string;
  /**
   * BudgetBurnFast: share (0 to 1) of the sessions that fell to at most one failure left in their budget, over 1 hour and over
   * 5 minutes.
   */
  readonly burnFastRatio: number;
  /** BudgetBurnFast: the least number of sessions that fell so low in 1 hour. */
  readonly burnFastLeastSessions: number;
  /** BudgetBurnFast: how long it is kept after it was last true. A few sessions fall low at irregular times. */
  readonly burnFastKeep: string;
  /** BudgetBurnSlow: the same share, over 6 hours and over 30 minutes. */
  readonly burnSlowRatio: number;
  /**
   * BudgetBurnSlow: the least number of sessions that fell so low in 6 hours, half of them before the last hour. An agent that
   * started an hour ago can only burn fast.
   */
  readonly burnSlowLeastSessions: number;
  /** BudgetBurnSlow: how long it is kept after it was last true, if there was no fast burn. */
  readonly burnSlowKeep: string;
  /** BudgetExhausted: how long it reports a session that ran out and was resumed or ended before a scrape saw it. */
  readonly exhaustedWithin: string;
  /** BudgetExhausted: how long it is kept after it was last true. An unattended agent runs out every few minutes. */
  readonly exhaustedKeep: string;
  /** SystemicFailure: how long it reports an event that was over before a scrape saw it. */
  readonly systemicWithin: string;
  /** SystemicFailure: how long it is kept while the tools recover and their own alerts are muted. */
  readonly systemicKeep: string;
  /** CorrelatedOpenings: the least number of tools of one agent. */
  readonly correlatedTools: number;
  /** CorrelatedOpenings: the least number of agents on which the same tool opens. */
  readonly correlatedAgents: number;
  /** CorrelatedOpenings: the least share (0 to 1) of the agents that have the tool. Three of 500 agents may be chance. */
  readonly correlatedShare: number;
  /** CorrelatedOpenings: the longest time between the openings. */
  readonly correlatedWithin: string;
  /** CorrelatedOpenings: how old the latest opening may be when it is first seen. Longer than a scrape, a push and two evaluations. */
  readonly correlatedRecent: string;
  /** CorrelatedOpenings: how long an opening of a vanished process is remembered. Longer than the two before together. */
  readonly correlatedMemory: string;
  /** CorrelatedOpenings: the longest time that it holds while as many tools are still out of use. In Grafana at most an hour. */
  readonly correlatedHold: string;
  /** CorrelatedOpenings: how long it is kept after that, so that the alerts it mutes are not all sent at once. */
  readonly correlatedKeep: string;
  /** TelemetryAbsent: how long an agent must have reported nothing. Longer than `gap`. */
  readonly absentFor: string;
  /** TelemetryAbsent: how long it must have reported in the hour before. An agent with a shorter run may end without an alert. */
  readonly absentLeastReported: string;
  /** TelemetryAbsent: the time over which an agent's habit is read. The first quarter of it does not count, and the alert remembers twice that time. */
  readonly absentHabit: string;
  /** TelemetryAbsent: an agent that reported for less than this share (0 to 1) of the time since it was first seen comes and goes. */
  readonly absentHabitShare: number;
  /** FleetDegraded: how long the shared store must not have answered a process. Longer than `gap`, and than a restart or failover of Redis takes. */
  readonly degradedFor: string;
  /** ModelOnFallback: the time in which the first model of a list has given no answer. */
  readonly onFallbackFor: string;
  /** ModelOnFallback: the least number of answers of other models in that time, or in an hour. */
  readonly onFallbackLeastAnswers: number;
  /** ModelOnFallback: how long it is kept after it was last true. Some agents ask a model only now and then. */
  readonly onFallbackKeep: string;
  /** ModelsDown: the time in which no model of a list has given an answer. */
  readonly modelsDownFor: string;
  /** ModelsDown: the least number of calls that failed in that time, or in an hour. */
  readonly modelsDownLeastCalls: number;
  /** ModelsDown: how long it is kept after it was last true. */
  readonly modelsDownKeep: string;
  /** LimitReached: how long it reports a run that reached a limit and ended before a scrape saw it. */
  readonly limitWithin: string;
  /** LimitReached: how long it is kept after it was last true. An agent may reach its limit in each run. */
  readonly limitKeep: string;
  /** SpendBurn: how many times its usual spending of an hour an agent must have spent in the last hour. */
  readonly spendFactor: number;
  /** SpendBurn: the least money in an hour, in the currency of the limits and prices. */
  readonly spendFloorCost: number;
  /** SpendBurn: the least number of tokens in an hour, for agents that report no cost. */
  readonly spendFloorTokens: number;
  /** SpendBurn: money in an hour from which on it is critical, whatever the agent spent before. 0: there is no such rule. */
  readonly spendCriticalCost: number;
  /** SpendBurn: the history that is needed before its mean counts as usual. */
  readonly spendLeastHistory: string;
  /** SpendBurn: how long it is kept after it was last true. */
  readonly spendKeep: string;
}

/** The default thresholds. */
export const DEFAULT_SETTINGS: RuleSettings = {
  gap: '2m30s',
  openFor: '5m',
  openKeep: '2m',
  openShare: 0.05,
  keyOpenShare: 0.9,
  keyOpenLeastDecisions: 10,
  flappingOpenings: 4,
  flappingKeep: '5m',
  starvedFor: '10m',
  starvedLeastSkips: 3,
  errorRatio: 0.25,
  errorFor: '10m',
  errorLeastCalls: 10,
  errorLeastFailures: 3,
  slowFactor: 3,
  slowFloor: 1,
  slowFor: '15m',
  slowLeastCalls: 20,
  slowLeastHistory: '1d',
  afterOpen: '15m',
  burnFastRatio: 0.5,
  burnFastLeastSessions: 5,
  burnFastKeep: '15m',
  burnSlowRatio: 0.25,
  burnSlowLeastSessions: 5,
  burnSlowKeep: '1h',
  exhaustedWithin: '3m',
  exhaustedKeep: '15m',
  systemicWithin: '3m',
  systemicKeep: '10m',
  correlatedTools: 3,
  correlatedAgents: 3,
  correlatedShare: 0.05,
  correlatedWithin: '2m',
  correlatedRecent: '5m',
  correlatedMemory: '10m',
  correlatedHold: '6h',
  correlatedKeep: '5m',
  absentFor: '5m',
  absentLeastReported: '15m',
  absentHabit: '2d',
  absentHabitShare: 0.5,
  degradedFor: '5m',
  onFallbackFor: '5m',
  onFallbackLeastAnswers: 3,
  onFallbackKeep: '5m',
  modelsDownFor: '5m',
  modelsDownLeastCalls: 3,
  modelsDownKeep: '5m',
  limitWithin: '3m',
  limitKeep: '15m',
  spendFactor: 3,
  spendFloorCost: 5,
  spendFloorTokens: 1_000_000,
  spendCriticalCost: 0,
  spendLeastHistory: '1d',
  spendKeep: '15m',
};

/** Windows that are part of the names of recorded series, so that no setting changes them. */
export const WINDOW = {
  /** Errors, openings, burn: does it continue? */
  short: '5m',
  /** Openings of a flapping circuit; p95. */
  quarter: '15m',
  /** The short window of the slow burn. */
  half: '30m',
  /** Errors and fast burn: does it matter? */
  hour: '1h',
  /** The slow burn. */
  long: '6h',
  /** The usual p95 of a tool. */
  week: '1w',
} as const;
