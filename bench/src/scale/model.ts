/** A fleet whose tool goes down, as numbers. */
export interface FleetShape {
  readonly processes: number;
  /** Calls of one process and second. */
  readonly callsPerSecond: number;
  /** Failures in a row that open a circuit. */
  readonly threshold: number;
  readonly quorum: number;
  /** Mean time between two reads of one process, and the share by which each differs from it at most. */
  readonly pollMs: number;
  readonly pollJitter: number;
  /** Until all have read after a hint. Undefined: no hint arrives. */
  readonly hintMs: number | undefined;
}

/** What the formulas expect. */
export interface Expected {
  /** Reads of a healthy fleet. It writes nothing. */
  readonly readsPerSecond: number;
  /** From the first failure that can be until the quorum has seen it, and the calls of that time. */
  readonly quorumMs: number;
  readonly callsUntilQuorum: number;
  /** From the quorum until half and 99 % of the processes know. */
  readonly knownP50Ms: number;
  readonly knownP99Ms: number;
  /** Calls into the dead tool until the last process knows. */
  readonly calls: number;
  /** The same if each process learns alone, and its probes of one round. */
  readonly callsAlone: number;
  readonly probesAlone: number;
}

/** The share of processes that have failed `threshold` times in a row, if each calls at random moments. */
const sawIt = (calls: number, threshold: number): number => {
  let term = Math.exp(-calls);
  let fewer = 0;
  for (let count = 0; count < threshold; count += 1) {
    fewer += term;
    term *= calls / (count + 1);
  }
  return 1 - fewer;
};

/** Calls of one process until it is open: those that come after the threshold are rejected. */
const callsOf = (calls: number, threshold: number): number => {
  let sum = 0;
  for (let count = 1; count <= threshold; count += 1) sum += sawIt(calls, count);
  return sum;
};

/** The chance that fewer than `quorum` of `processes` have seen it, if each has with chance `share`. */
const tooFew = (processes: number, quorum: number, share: number): number => {
  let chance = (1 - share) ** processes;
  let sum = 0;
  for (let count = 0; count < quorum; count += 1) {
    sum += chance;
    chance *= ((processes - count) / (count + 1)) * (share / (1 - share));
  }
  return sum;
};

const STEP = 1e-3;

/** What the fleet is expected to do: closed formulas and sums, without chance and without an engine. */
export const expectedOf = (shape: FleetShape): Expected => {
  const { processes, callsPerSecond, threshold, quorum, pollMs, pollJitter, hintMs } = shape;
  // The mean of the moment at which the quorum-th process has seen it: the sum of the chances that it is later.
  let quorumCalls = 0;
  for (let calls = STEP / 2; ; calls += STEP) {
    const later = tooFew(processes, quorum, Math.min(sawIt(calls, threshold), 1 - 1e-12));
    quorumCalls += later * STEP;
    if (later < 1e-9) break;
  }
  // Until its next read, if it is at any point of its round: the mean of the squares over twice the mean.
  const longestMs = pollMs * (1 + pollJitter);
  const known = (share: number): number => (hintMs === undefined ? quantileOfRest(share, pollMs, pollJitter) : share * hintMs);
  const meanMs = hintMs === undefined ? (pollMs / 2) * (1 + pollJitter ** 2 / 3) : hintMs / 2;
  const perMs = callsPerSecond / 1_000;
  const at = (ms: number): number => processes * callsOf(quorumCalls + ms * perMs, threshold);
  const untilQuorum = at(0);
  return {
    readsPerSecond: (processes * 1_000) / pollMs,
    quorumMs: quorumCalls / perMs,
    callsUntilQuorum: untilQuorum,
    knownP50Ms: known(0.5),
    knownP99Ms: Math.min(known(0.99), longestMs),
    calls: at(meanMs),
    callsAlone: processes * threshold,
    probesAlone: processes,
  };
};

/** The time until the next read below which a share of the processes is, if each read is `pollMs` ± jitter after the one before. */
const quantileOfRest = (share: number, pollMs: number, jitter: number): number => {
  const [least, most] = [pollMs * (1 - jitter), pollMs * (1 + jitter)];
  // The chance that a round is longer than `ms`, over the mean round, is how dense the rest is at `ms`.
  const longer = (ms: number): number => (ms <= least ? 1 : Math.max(0, (most - ms) / (most - least || 1)));
  let sum = 0;
  for (let ms = 0.5; ms < most; ms += 1) {
    sum += longer(ms) / pollMs;
    if (sum >= share) return ms;
  }
  return most;
};
