import type { Clock } from './clock.ts';
import { type FreshnessLabel, labelOf } from './freshness/freshness.ts';
import { createLastGood, type LastGood, type LastResults } from './freshness/last-good.ts';
import { type Circle, Circles } from './loop-guard/circles.ts';
import { CallInput, digest, seedFor } from './loop-guard/digest.ts';
import { isRepeat, type LoopGuard, NO_LOOPS, settled, tried } from './loop-guard/loop-guard.ts';
import type { Judged, Settlement } from './outcome.ts';
import type { EndingCall } from './permit.ts';
import type { StaleRoute } from './routing/route.ts';
import { read, safely } from './safely.ts';
import type { AcquireOptions } from './session-api.ts';
import type { ToolSettings } from './tool.ts';

/** What a session remembers of its calls: repeated calls (O5) and their last results. */
export class CallHistory {
  readonly #clock: Clock;
  readonly #session: string;
  /** The last results of all sessions of the box. */
  readonly #pool: LastResults | undefined;
  /** Number of equal calls in a row that is too many; undefined: they are not counted. */
  readonly #repeats: number | undefined;
  /** Created when first needed, because some platforms have no randomness while modules load. */
  #seed: number | undefined;
  /** {@link NO_LOOPS} if nothing has failed since the last success: nearly always. */
  guard: LoopGuard = NO_LOOPS;
  /** D5; undefined: they are not looked for. */
  readonly circles: Circles | undefined;
  /** Created for the first result that is worth remembering. */
  #results: LastGood | undefined;
  /** When the task began, in monotonic ms, because the system's clock may be set while it runs. */
  #taskMs: number;

  constructor(clock: Clock, session: string, repeats: number | undefined, pool?: LastResults, findsCircles = false) {
    this.circles = findsCircles ? new Circles() : undefined;
    this.#pool = pool;
    this.#session = session;
    this.#clock = clock;
    this.#repeats = repeats;
    this.#taskMs = clock.now();
  }

  /** The same, to look ahead with (C11). */
  copy(): CallHistory {
    const copy = new CallHistory(this.#clock, this.#session, this.#repeats, this.#pool);
    copy.guard = this.guard;
    copy.#results = this.#results;
    return copy;
  }

  beginTask(): void {
    this.#taskMs = this.#clock.now();
  }

  /** A call's arguments, if they were given and their digest may be needed. */
  inputOf(
    options: AcquireOptions | undefined,
    { keepsResults }: ToolSettings,
    isUntried = false,
  ): CallInput | undefined {
    if (options === undefined || options === null) return undefined;
    if (this.#repeats === undefined && !keepsResults && !isUntried) return undefined;
    const value = read(options, 'input'); // Untyped callers may pass anything, and deciding never throws.
    if (value === undefined) return undefined;
    this.#seed ??= seedFor(this.#session);
    const input = new CallInput(value, this.#seed);
    // A result must not be kept under arguments that the tool has changed, because another call would get it (F2).
    if (keepsResults) input.digest();
    return input;
  }

  /** O5. */
  repeatOf(tool: string, input: CallInput | undefined): 'repeat' | undefined {
    if (input === undefined || this.#repeats === undefined) return undefined;
    return isRepeat(this.guard, tool, input, this.#repeats) ? 'repeat' : undefined;
  }

  /** A call is let through. */
  tried(tool: string, input: CallInput | undefined): void {
    if (this.#repeats !== undefined) this.guard = tried(this.guard, tool, input, this.#repeats);
  }

  /** A call is over. Returns the label of its result, if it needs one (F1). */
  settled(
    permit: EndingCall,
    judged: Judged,
    settlement: Settlement | undefined,
    ms: number,
  ): FreshnessLabel | undefined {
    const isSuccess = judged.outcome === 'success';
    if (!isSuccess || this.guard !== NO_LOOPS) this.#count(permit, judged);
    const remembers = isSuccess && settlement !== undefined && permit.entry.spec?.keepsResults === true;
    const label = remembers
      ? safely('reading the freshness of a result', () => this.#remember(permit, settlement, ms)) // E5
      : undefined;
    const { circles } = this;
    if (circles !== undefined && settlement !== undefined)
      permit.circle = safely('looking for circles', () => this.#circleOf(circles, permit, judged, settlement)); // E5
    return label;
  }

  #count({ entry, reason, input }: EndingCall, { outcome, category }: Judged): void {
    if (this.#repeats === undefined || reason === 'disabled') return;
    const way = category === undefined ? 'success' : `${outcome}:${category}`;
    this.guard = settled(this.guard, entry.tool, input, way, this.#repeats);
  }

  /** D5: the circle that a call completes. A call without known arguments or without a known result ends what came before. */
  #circleOf(
    circles: Circles,
    { entry: { tool }, input, limits }: EndingCall,
    { outcome, category }: Judged,
    settlement: Settlement,
  ): Circle | undefined {
    const agent = limits?.run ?? circles;
    const isSuccess = category === undefined;
    const result = isSuccess && 'result' in settlement ? digest(settlement.result, this.#seed ?? 0) : undefined;
    const way = isSuccess ? result : `${outcome}:${category}`;
    if (input !== undefined && way !== undefined)
      return circles.add(agent, { tool, what: `${tool} ${input.digest()} ${way}` }, isSuccess);
    circles.interrupt(agent);
    return undefined;
  }

  #remember({ entry, input }: EndingCall, settlement: Settlement, ms: number) {
    const { tool, spec } = entry;
    const { retrievedUnixMs, verified } = settlement.freshness ?? {};
    const unixMs = this.#clock.unixNow();
    const keptUnixMs = retrievedUnixMs === undefined ? unixMs : timeOf(retrievedUnixMs);
    this.#results ??= createLastGood(this.#pool);
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
    const seen = result && digest(result.value, this.#seed ?? 0);
    const identical = result !== undefined && seen !== undefined && this.#results.identical(tool, result.input, seen);
    // In the system clock's current terms, which count whole milliseconds.
    const taskUnixMs = Math.floor(unixMs - (ms - this.#taskMs));
    return labelOf({ retrievedUnixMs, taskUnixMs, identical, verified, unixMs });
  }

  /** F2: the last good result of the same call, if the tool allows it and there is one. */
  lastGood(tool: string, serveStaleMs: number, input: CallInput | undefined, ms: number): StaleRoute | undefined {
    const found = input && this.#results?.find(tool, input.digest(), serveStaleMs, ms);
    if (found === undefined) return undefined;
    const { result, retrievedUnixMs } = found;
    return { kind: 'stale', result, label: { kind: 'stale', retrievedUnixMs: retrievedUnixMs ?? undefined } };
  }
}

/** The time that the executor gave; null if unknown. */
const timeOf = (unixMs: number | null): number | null => (Number.isFinite(unixMs) ? unixMs : null);
