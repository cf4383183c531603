/** Whose cost a row is. `floor`: of a part that nobody can do without, such as a clock read. */
export type Contender = 'bare' | 'cockatiel' | 'opossum' | 'opossum-prometheus' | 'breakerbox' | 'floor';

/** What is registered with OpenTelemetry while a case runs. */
export type Sdk = 'none' | 'metrics' | 'metrics-own-sdk' | 'unsampled' | 'sampled';

/** One way of doing the job that a case is about. */
export interface Contestant {
  /** Of the row; a peer in its plain form has the contender's name, and the ratios are to those. */
  readonly id: string;
  readonly title: string;
  readonly by: Contender;
}

/** What a case found in one process. */
export interface Findings {
  readonly contestants: readonly Contestant[];
  /** Values by contestant, one for each round: the n-th of all were measured right after one another. */
  readonly samples: Readonly<Record<string, readonly number[]>>;
  /** What else there is to say of a contestant, or of the whole by the name `all`. */
  readonly facts?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** How thoroughly a run measures. */
export interface Pace {
  /** Processes that each case is run in, one after the other. */
  readonly processes: number;
  readonly rounds: number;
  /** Milliseconds that each contestant runs before anything is measured. */
  readonly warmUpMs: number;
  /** Milliseconds that one contestant's part of a round takes, about. */
  readonly batchMs: number;
  /** Things of a kind that memory is measured over. */
  readonly things: number;
  /** Sessions that go through one process. */
  readonly sessions: number;
  /** Sessions that are made and ended for the heap's sake. */
  readonly endedSessions: number;
}

export const FULL: Pace = {
  processes: 3,
  rounds: 7,
  warmUpMs: 120,
  batchMs: 20,
  things: 10_000,
  sessions: 100_000,
  endedSessions: 1_000_000,
};

/** Enough to see that everything works; its numbers are worth little. */
export const QUICK: Pace = {
  processes: 1,
  rounds: 3,
  warmUpMs: 25,
  batchMs: 3,
  things: 1_000,
  sessions: 2_000,
  endedSessions: 20_000,
};

/** Measures one case in this process. */
export type Measure = (pace: Pace, sdk: Sdk, running: RunningSdk) => Promise<Findings>;

/** OpenTelemetry as a case runs under it. */
export interface RunningSdk {
  /** Where Prometheus scrapes, if there is such a place. */
  readonly metricsUrl: string | undefined;
  /** What `/metrics` says at the end: that what was measured was measured with metrics on. Empty without an endpoint. */
  facts(): Promise<Record<string, number>>;
  stop(): Promise<void>;
}

/** Words that say how many, where that depends on the pace. */
export type Words = string | ((pace: Pace) => string);

export const inWords = (words: Words, pace: Pace): string => (typeof words === 'string' ? words : words(pace));

/** One thing that is measured. */
export interface Case {
  readonly id: string;
  readonly title: Words;
  /** What one value counts. */
  readonly unit: 'ns' | 'bytes' | 'ms';
  /** The states of OpenTelemetry that it is measured under, each in processes of its own. */
  readonly sdks: readonly Sdk[];
  /** In one process, however many of those the pace asks for. */
  readonly once?: boolean;
  /** Loads no more than the case needs. */
  load(): Promise<{ readonly measure: Measure }>;
}
