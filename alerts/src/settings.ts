/**
 * Every threshold of the rules, in one place. A rule has no number of its own.
 *
 * Durations are Prometheus' (`5m`, `2m30s`). The windows that stand in the names of recorded series (`…:increase5m`) are not
 * among the settings: dashboards ask for those series by name. They are {@link WINDOW}.
 */
export interface RuleSettings {
  /**
   * How long a hole may be that a state is looked at across: a missed scrape, the moment between two sessions. The state of
   * a tool is the median over this time, so a bridged hole is half as long. At least two and a half scrape intervals: with
   * 2m30s one scrape in a row may be missing at 60 s.
   */
  readonly gap: string;
  /** CircuitOpen: how long a tool must have been out of use. Longer than the detection of what tools share. */
  readonly openFor: string;
  /** CircuitOpen: how long it stays after the last moment it was true. Longer than a tool works between two outages. */
  readonly openKeep: string;
  /**
   * The share (0 to 1) of a tool's circuits from which on the tool counts as out of use, or as hit by an event. Among 500
   * sessions a tool that fails now and then always has some circuit open; up to 20 sessions, one circuit is 5 %.
   */
  readonly openShare: number;
  /** CircuitOpen: the share (0 to 1) of a tool's decisions within 5 minutes that skip the call for its key, such as a host, from which on the tool counts as out of use. */
  readonly keyOpenShare: number;
  /** CircuitOpen: decisions within 5 minutes, below which that share says nothing. */
  readonly keyOpenLeastDecisions: number;
  /** CircuitFlapping: openings per circuit in 15 minutes. */
  readonly flappingOpenings: number;
  /** CircuitFlapping: how long it stays after the last moment it was true. A flapping tool is sometimes still. */
  readonly flappingKeep: string;
  /** ProbeStarved: how long a circuit must have been open without a probe. Twice the longest wait between probes (300 s). */
  readonly starvedFor: string;
  /** ProbeStarved: skips in the latter half of that time. By then a probe was due, and somebody asked for the tool. */
  readonly starvedLeastSkips: number;
  /** ToolErrorRateHigh: failures over executed calls (0 to 1), over 5 minutes and over 1 hour. */
  readonly errorRatio: number;
  /** ToolErrorRateHigh: how long both must have been above. Longer than CircuitOpen takes: that one speaks first. */
  readonly errorFor: string;
  /** ToolErrorRateHigh: executed calls in 1 hour, below which a ratio says nothing. */
  readonly errorLeastCalls: number;
  /** ToolErrorRateHigh: failures in 5 minutes, below which it is over. */
  readonly errorLeastFailures: number;
  /** ToolSlow: how many times its own usual p95. */
  readonly slowFactor: number;
  /** ToolSlow: seconds below which no tool is slow, whatever it was before. */
  readonly slowFloor: number;
  /** ToolSlow: how long. */
  readonly slowFor: string;
  /** ToolSlow: executed calls in 15 minutes, below which a p95 is one call's. */
  readonly slowLeastCalls: number;
  /** ToolSlow: how much of the week must have been seen before it is taken for usual. */
  readonly slowLeastHistory: string;
  /**
   * How long ToolErrorRateHigh, ToolSlow and CircuitFlapping stay silent about a tool after CircuitOpen has fired for it:
   * their windows still hold the outage, and there would be a burst of warnings when it is over. At least 15 minutes, the
   * longest of those windows.
   */
  readonly afterOpen: string;
  /**
   * BudgetBurnFast: share (0 to 1) of the sessions that fell to one failure left in their budget, or none, over 1 hour and over
   * 5 minutes.
   */
  readonly burnFastRatio: number;
  /** BudgetBurnFast: sessions that fell so low in 1 hour, below which a share says nothing. */
  readonly burnFastLeastSessions: number;
  /** BudgetBurnFast: how long it stays after the last moment it was true. A few sessions fall low in bursts. */
  readonly burnFastKeep: string;
  /** BudgetBurnSlow: the same share, over 6 hours and over 30 minutes. */
  readonly burnSlowRatio: number;
  /**
   * BudgetBurnSlow: sessions that fell so low in 6 hours, half of them before the last hour. An agent that was started an hour ago
   * burns fast or not at all.
   */
  readonly burnSlowLeastSessions: number;
  /** BudgetBurnSlow: how long it stays after the last moment it was true, where no fast burn was near. */
  readonly burnSlowKeep: string;
  /** BudgetExhausted: how long a session is told of that ran out and was resumed or ended before a scrape saw it. */
  readonly exhaustedWithin: string;
  /** BudgetExhausted: how long it stays after the last moment it was true. An unattended agent runs out every few minutes. */
  readonly exhaustedKeep: string;
  /** SystemicFailure: how long an event is told of that was over before a scrape saw it. */
  readonly systemicWithin: string;
  /** SystemicFailure: how long it stays, while the tools recover and their own alerts are muted. */
  readonly systemicKeep: string;
  /** CorrelatedOpenings: how many tools of one agent. */
  readonly correlatedTools: number;
  /** CorrelatedOpenings: how many agents that lose the same tool. */
  readonly correlatedAgents: number;
  /** CorrelatedOpenings: and at least this share (0 to 1) of the agents that have the tool. Of 500, three are chance. */
  readonly correlatedShare: number;
  /** CorrelatedOpenings: how far apart the openings may lie. */
  readonly correlatedWithin: string;
  /** CorrelatedOpenings: how old the latest of them may be when it is first seen. More than a scrape, a push and two evaluations. */
  readonly correlatedRecent: string;
  /** CorrelatedOpenings: how long an opening is remembered whose process has gone. More than the two before together. */
  readonly correlatedMemory: string;
  /** CorrelatedOpenings: how long it stays at most while as many tools are still out of use. In Grafana an hour at most. */
  readonly correlatedHold: string;
  /** CorrelatedOpenings: how long it stays after that, so that what it mutes doesn't all come out at once. */
  readonly correlatedKeep: string;
  /** TelemetryAbsent: for how long an agent must have reported nothing. More than `gap`. */
  readonly absentFor: string;
  /** TelemetryAbsent: for how long it must have reported in the hour before; shorter runs may end. */
  readonly absentLeastReported: string;
  /** TelemetryAbsent: the time from which an agent's habit is read. Its first quarter makes none, and twice of it is remembered. */
  readonly absentHabit: string;
  /** TelemetryAbsent: an agent that has reported less than this share (0 to 1) of the time since it was first seen comes and goes. */
  readonly absentHabitShare: number;
}

/** The thresholds as they are shipped. */
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
};

/** Windows that stand in the names of recorded series, so that no setting may change them. */
export const WINDOW = {
  /** Errors, openings, burn: is it still going on? */
  short: '5m',
  /** Openings of a flapping circuit; p95. */
  quarter: '15m',
  /** The short window of the slow burn. */
  half: '30m',
  /** Errors and fast burn: is it worth a word? */
  hour: '1h',
  /** The slow burn. */
  long: '6h',
  /** What is usual for a tool. */
  week: '1w',
} as const;
