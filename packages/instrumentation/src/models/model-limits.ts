import { milliseconds, type OptionCheck } from '../options.ts';

/** How long a model may take (L4). Milliseconds, each. While a circuit is probed and another model can answer, a third of each. */
export interface ModelLimits {
  /** Of a stream: until its first part of any kind except for pings. Default 30,000. */
  readonly firstByteMs?: number;
  /** Of a stream: until its first visible part. Default: none, because models may think without sending anything. */
  readonly firstChunkMs?: number;
  /** Of a stream: between two parts other than pings. Default 120,000. */
  readonly stallMs?: number;
  /** Of a call without a stream. Default 300,000. */
  readonly attemptMs?: number;
}

export const LIMIT_CHECKS: Readonly<Record<keyof ModelLimits, OptionCheck>> = {
  firstByteMs: milliseconds,
  firstChunkMs: milliseconds,
  stallMs: milliseconds,
  attemptMs: milliseconds,
};

/** The limits of one attempt. */
export interface Limits {
  readonly firstByteMs: number;
  readonly firstChunkMs: number | undefined;
  readonly stallMs: number;
  /** Between two parts of which none is visible yet. */
  readonly heldMs: number;
  readonly attemptMs: number;
}

/** L5: a failed probe must cost its user little time. */
const PROBE_SHARE = 3;

/** The limits with the defaults filled in. */
export const limitsOf = ({
  firstByteMs = 30_000,
  firstChunkMs,
  stallMs = 120_000,
  attemptMs = 300_000,
}: ModelLimits): Limits => ({ firstByteMs, firstChunkMs, stallMs, heldMs: stallMs, attemptMs });

/** The limits of a probe behind which another model can answer. */
export const probeLimits = ({ firstByteMs, firstChunkMs, stallMs, attemptMs }: Limits): Limits => ({
  firstByteMs: firstByteMs / PROBE_SHARE,
  firstChunkMs: firstChunkMs && firstChunkMs / PROBE_SHARE,
  stallMs, // After a visible part, no other model can answer.
  heldMs: stallMs / PROBE_SHARE,
  attemptMs: attemptMs / PROBE_SHARE,
});
