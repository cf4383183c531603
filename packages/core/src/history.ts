import { CallInput } from './call-input.ts';
import type { StaleRoute } from './capability/route.ts';
import type { Clock } from './clock.ts';
import { digest, randomSeed } from './digest.ts';
import { type FreshnessLabel, labelOf } from './freshness.ts';
import { createLastGood, type LastGood } from './last-good.ts';
import { isRepeat, type LoopGuard, NO_LOOPS, settled, tried } from './loop-guard.ts';
import { read } from './outcome/untrusted.ts';
import type { SessionPermit } from './permit.ts';
import type { AcquireOptions } from './session.ts';
import { type Judged, type Settlement, SUCCESS } from './settlement.ts';
import { safely } from './telemetry/safely.ts';
import type { ToolSettings } from './tool.ts';

/** What a session remembers of its calls: repeated calls (O5) and their last results (F1, F2). */
export class CallHistory {
  readonly #clock: Clock;
  /** Number of equal calls in a row that is too many; undefined: they are not counted. */
  readonly #repeats: number | undefined;
  /** Created when first needed, because some platforms have no randomness while modules load. */
  #seed: number | undefined;
  #guard: LoopGuard = NO_LOOPS;
  /** Created for the first result that is worth remembering. */
  #results: LastGood | undefined;
  /** When the task began, in monotonic ms, because the system's clock may be set while it runs. */
  #taskMs: number;

  constructor(clock: Clock, repeats: number | undefined) {
    this.#clock = clock;
    this.#repeats = repeats;
    this.#taskMs = clock.now();
  }

  beginTask(): void {
    this.#taskMs = this.#clock.now();
  }

  /** A call's arguments, if they were given and their digest may be needed. */
  inputOf(options: AcquireOptions | undefined, { keepsResults }: ToolSettings): CallInput | undefined {
    if (options === undefined || options === null) return undefined;
    if (this.#repeats === undefined && !keepsResults) return undefined;
    const value = read(options, 'input'); // Untyped callers may pass anything, and deciding never throws.
    if (value === undefined) return undefined;
    const input = new CallInput(value, this.#secret());
    // A result must not be kept under arguments that the tool has changed, because another call would get it (F2).
    if (keepsResults) input.digest();
    return input;
  }

  #secret(): number {
    this.#seed ??= randomSeed();
    return this.#seed;
  }

  /** O5. */
  isRepeat(tool: string, input: CallInput): boolean {
    return this.#repeats !== undefined && isRepeat(this.#guard, tool, input, this.#repeats);
  }

  /** A call is let through. */
  tried(tool: string, input: CallInput | undefined): void {
    if (this.#guard !== NO_LOOPS) this.#lift(tool, input);
  }

  #lift(tool: string, input: CallInput | undefined): void {
    if (this.#repeats !== undefined) this.#guard = tried(this.#guard, tool, input, this.#repeats);
  }

  /** A call is over. Returns the label of its result, if it needs one (F1). */
  settled(
    permit: SessionPermit,
    judged: Judged,
    settlement: Settlement | undefined,
    ms: number,
  ): FreshnessLabel | undefined {
    const label = this.#settled(permit, judged, settlement, ms);
    permit.input?.release();
    return label;
  }

  #settled(
    permit: SessionPermit,
    judged: Judged,
    settlement: Settlement | undefined,
    ms: number,
  ): FreshnessLabel | undefined {
    if (judged !== SUCCESS || this.#guard !== NO_LOOPS) this.#count(permit, judged);
    if (permit.seat.spec?.keepsResults !== true || settlement === undefined) return undefined;
    if (judged.outcome !== 'success') return undefined;
    return safely('reading how current a result is', () => this.#remember(permit, settlement, ms)); // E5
  }

  #count({ seat, reason, input }: SessionPermit, { outcome, category }: Judged): void {
    if (this.#repeats === undefined || reason === 'disabled') return;
    const way = category === undefined ? 'success' : `${outcome}:${category}`;
    this.#guard = settled(this.#guard, seat.tool, input, way, this.#repeats);
  }

  #remember({ seat, input }: SessionPermit, settlement: Settlement, ms: number) {
    const { tool, spec } = seat;
    const { retrievedUnixMs, verified } = settlement.freshness ?? {};
    const unixMs = this.#clock.unixNow();
    const keptUnixMs = retrievedUnixMs === undefined ? unixMs : timeOf(retrievedUnixMs);
    this.#results ??= createLastGood();
    // Without arguments, the call that this result belongs to is unknown.
    const result =
      input !== undefined && 'result' in settlement ? { input: input.digest(), value: settlement.result } : undefined;
    if (result !== undefined && spec?.serveStaleMs !== undefined) {
      this.#results.keep(
        tool,
        result.input,
        result.value,
        keptUnixMs,
        ms - Math.max(0, unixMs - (keptUnixMs ?? unixMs)), // Not younger than what it says.
      );
    }
    if (spec?.labelFreshness !== true) return undefined;
    const identical =
      result !== undefined && this.#results.identical(tool, result.input, digest(result.value, this.#secret()));
    // In the system clock's current terms, which count whole milliseconds.
    const taskUnixMs = Math.floor(unixMs - (ms - this.#taskMs));
    return labelOf({ served: false, retrievedUnixMs, taskUnixMs, identical, verified, unixMs });
  }

  /** F2: the last good result of the same call, if the tool allows it and there is one. */
  lastGood(tool: string, settings: ToolSettings, input: CallInput | undefined, ms: number): StaleRoute | undefined {
    if (settings.serveStaleMs === undefined || input === undefined) return undefined;
    const found = this.#results?.find(tool, input.digest(), settings.serveStaleMs, ms);
    if (found === undefined) return undefined;
    const { result, retrievedUnixMs } = found;
    return { kind: 'stale', result, label: { kind: 'stale', retrievedUnixMs: retrievedUnixMs ?? undefined } };
  }
}

/** The time that the executor gave; null if unknown. */
const timeOf = (unixMs: number | null): number | null => (Number.isFinite(unixMs) ? unixMs : null);
