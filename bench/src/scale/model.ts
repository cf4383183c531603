/** A fleet whose tool goes down, as numbers. Each process calls the tool at random moments. */
export interface FleetShape {
  readonly processes: number;
  /** Calls of one process and second. */
  readonly callsPerSecond: number;
  /** Failures in a row that open a circuit, and processes that must see it open. */
  readonly threshold: number;
  readonly quorum: number;
  /** Milliseconds that Redis works on one script. */
  readonly scriptMs: number;
  /** Whether hints arrive. Without them, each process knows after its next read. */
  readonly hints: boolean;
}

/** The times of `reader.ts` in `@breakerbox/fleet`: between two reads; after a hint; and the least after a read, hint or not. */
const READ_MS = { least: 1_000, most: 1_200 };
const HINT_MS = 50;
const AGAIN_MS = 100;

/** The chance that one process has seen at least `failures` calls fail, when `mean` are expected. */
const failed = (mean: number, failures: number): number => {
  let term = Math.exp(-mean);
  let fewer = 0;
  for (let count = 0; count < failures; count += 1) {
    fewer += term;
    term *= mean / (count + 1);
  }
  return Math.max(0, 1 - fewer);
};

const perMs = ({ callsPerSecond }: FleetShape): number => callsPerSecond / 1_000;

/** The chance that the quorum has seen the circuit open so long after the tool went down. */
export const quorumChance = (shape: FleetShape, ms: number): number => {
  const share = Math.min(failed(ms * perMs(shape), shape.threshold), 1 - 1e-12);
  let chance = (1 - share) ** shape.processes;
  let fewer = 0;
  for (let count = 0; count < shape.quorum; count += 1) {
    fewer += chance;
    chance *= ((shape.processes - count) / (count + 1)) * (share / (1 - share));
  }
  return 1 - fewer;
};

/** Calls into the dead tool so long after it went down, while no process is told: each ends at its threshold. */
export const callsAfter = (shape: FleetShape, ms: number): number => {
  let each = 0;
  for (let count = 1; count <= shape.threshold; count += 1) each += failed(ms * perMs(shape), count);
  return shape.processes * each;
};

const PARTS = 200;

/** The share of processes that have read so long after a hint. One that has just read waits for the rest of {@link AGAIN_MS} first. */
const hinted = (ms: number): number => {
  const justRead = (2 * AGAIN_MS) / (READ_MS.least + READ_MS.most);
  const after = (waitMs: number): number => Math.min(1, Math.max(0, (ms - waitMs) / HINT_MS));
  let sum = 0;
  for (let part = 0; part < PARTS; part += 1) sum += after(((part + 0.5) / PARTS) * AGAIN_MS);
  return (1 - justRead) * after(0) + (justRead * sum) / PARTS;
};

const hintedMs = (share: number): number => {
  let ms = 0;
  while (hinted(ms) < share && ms < HINT_MS + AGAIN_MS) ms += 0.5;
  return ms;
};

/** From the opening of the fleet's circuit until a share of the processes knows. */
export const knownMs = ({ processes, scriptMs, hints }: FleetShape, share: number): number => {
  // All read at once, and Redis works on one script at a time.
  if (hints) return Math.max(hintedMs(share), share * processes * scriptMs);
  const { least, most } = READ_MS;
  const mean = (least + most) / 2;
  // How likely a process is still before its next read: the share of rounds that are longer, over the mean round.
  const whole = least / mean;
  if (share <= whole) return share * mean;
  return most - Math.sqrt((1 - share) * 2 * mean * (most - least));
};

/** Calls into the dead tool until all know, if the quorum saw it at that time. */
export const callsUntilKnown = (shape: FleetShape, quorumMs: number): number => {
  let sum = 0;
  for (let part = 0; part < PARTS; part += 1) sum += callsAfter(shape, quorumMs + knownMs(shape, (part + 0.5) / PARTS));
  return sum / PARTS;
};

/** The mean time until the quorum has seen it: the sum of the chances that it is later. */
export const meanQuorumMs = (shape: FleetShape): number => {
  const stepMs = 1 / perMs(shape) / 2_000;
  let sum = 0;
  for (let ms = stepMs / 2; ; ms += stepMs) {
    const later = 1 - quorumChance(shape, ms);
    sum += later * stepMs;
    if (later < 1e-9) return sum;
  }
};

/** Reads a second of a fleet whose tools work. It writes nothing. */
export const readsPerSecond = ({ processes }: FleetShape): number =>
  (processes * 2_000) / (READ_MS.least + READ_MS.most);
