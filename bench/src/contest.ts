/** Which contestant a row belongs to. `floor`: a part that every breaker needs, such as a clock read. */
export type Contender = 'bare' | 'cockatiel' | 'opossum' | 'opossum-prometheus' | 'breakerbox' | 'floor';

/** What is registered with OpenTelemetry while a case runs. */
export type Sdk = 'none' | 'metrics' | 'metrics-own-sdk' | 'unsampled' | 'sampled';

/** One way of doing the work of a case. */
export interface Contestant {
  /** The row's id. A peer in its plain form has the contender's name, and ratios refer to those. */
  readonly id: string;
  readonly title: string;
  readonly by: Contender;
}

/** The findings of a case in one process. */
export interface Findings {
  readonly contestants: readonly Contestant[];
  /** Values by contestant, one per round. The n-th values of all contestants were measured right after one another. */
  readonly samples: Readonly<Record<string, readonly number[]>>;
  /** Other facts of a contestant, or of the whole case under the name `all`. */
  readonly facts?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** How thoroughly a run measures. */
export interface Pace {
  /** Processes in which each case runs, one after the other. */
  readonly processes: number;
  readonly rounds: number;
  /** Milliseconds that each contestant runs before the measurement. */
  readonly warmUpMs: number;
  /** About how many milliseconds one contestant's part of a round takes. */
  readonly batchMs: number;
  /** Things of a kind that a measurement of memory makes. */
  readonly things: number;
  /** Sessions that go through one process. */
  readonly sessions: number;
  /** Sessions that are made and ended to measure the heap. */
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

/** Enough to show that everything works. Its numbers have little value. */
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

/** The OpenTelemetry state under which a case runs. */
export interface RunningSdk {
  /** The address that Prometheus scrapes, if there is one. */
  readonly metricsUrl: string | undefined;
  /** What `/metrics` reports at the end: it shows that metrics were on during the measurement. Empty without an endpoint. */
  facts(): Promise<Record<string, number>>;
  stop(): Promise<void>;
}

/** One thing that is measured. */
export interface Case {
  readonly id: string;
  readonly title: (pace: Pace) => string;
  /** The unit of a value. */
  readonly unit: 'ns' | 'bytes' | 'ms';
  /** The OpenTelemetry states under which it is measured, each in processes of its own. */
  readonly sdks: readonly Sdk[];
  /** Runs in one process, at every pace. */
  readonly once: boolean;
  /** Loads only the modules that the case needs. */
  load(): Promise<{ readonly measure: Measure }>;
}
