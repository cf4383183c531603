import { createBreakerbox, type ErrorCategory, MODEL_PREFIX, type Outcome, type Permit } from '@breakerbox/core';
import { boxModels, type ModelHandle } from '@breakerbox/core/internal';
import type { RecordedModelCall } from './recording.ts';
import type { ReplayConfig } from './simulation-observer.ts';

/** Calls of models that are kept. A call takes about 100 bytes. */
const MOST_CALLS = 500_000;

/** What the circuit of a model would have done, with another model behind it (L2, L5). */
export interface ModelReport {
  /** `PROVIDER/MODEL`. */
  readonly model: string;
  /** Calls by their recorded outcome. */
  readonly calls: Record<Outcome, number>;
  /** How often its circuit would have opened. */
  openings: number;
  /** How long it would have been open, in milliseconds. */
  openMs: number;
  /** Calls that another model would have answered without an attempt, by what they had ended with. Also while the circuit of the provider was open. */
  readonly skipped: Record<Outcome, number>;
  /** Failed calls that would have been made all the same. The next model would have answered after them. */
  failedOver: number;
}

/** An opening of a model, or of the circuit of its provider. */
export interface ModelOpening {
  /** `model:PROVIDER/MODEL`, or `group:model:PROVIDER`. */
  readonly circuit: string;
  readonly category: ErrorCategory | undefined;
  readonly openedAtMs: number;
  closedAtMs: number | undefined;
}

/** What the guard of models would have done. */
export interface ModelsReplay {
  readonly models: readonly ModelReport[];
  readonly openings: readonly ModelOpening[];
}

/** Keeps the calls of models of a recording. Circuits of models belong to a process and not to a session, so they are replayed in one order of time. */
export const collectModelCalls = () => {
  const calls: RecordedModelCall[] = [];
  let leftOut = 0;
  return {
    add: (call: RecordedModelCall): void => {
      if (calls.length < MOST_CALLS) calls.push(call);
      else leftOut += 1;
    },
    get leftOut() {
      return leftOut;
    },
    /** `isWanted`: whether a call is of the agent that is replayed. */
    replay: (config: ReplayConfig, isWanted: (call: RecordedModelCall) => boolean): ModelsReplay =>
      replayModels(calls.filter(isWanted), config),
  };
};

const none = (): Record<Outcome, number> => ({ success: 0, failure: 0, ignored: 0 });

interface Moment {
  readonly ms: number;
  run(): void;
}

/** Runs the engine over the calls of models, each agent with a box of its own. */
const replayModels = (calls: readonly RecordedModelCall[], config: ReplayConfig): ModelsReplay => {
  const reports = new Map<string, ModelReport>();
  const openings: ModelOpening[] = [];
  const ends: (() => void)[] = [];
  const boxes = new Map<string, ReturnType<typeof newBox>>();
  const startMs = calls.reduce((least, call) => Math.min(least, call.startMs), Number.POSITIVE_INFINITY);
  let nowMs = startMs;

  const reportOf = (model: string): ModelReport => {
    const known = reports.get(model) ?? {
      ...{ model, calls: none(), openings: 0, openMs: 0 },
      ...{ skipped: none(), failedOver: 0 },
    };
    reports.set(model, known);
    return known;
  };

  const newBox = (agent: string) => {
    const clock = { now: () => nowMs - startMs, unixNow: () => nowMs };
    const { fleet: _, ...settings } = config;
    const box = createBreakerbox({ ...settings, agent, clock });
    const { session, declare } = boxModels(box);
    const handles = new Map<string, ModelHandle>();
    const open = new Map<string, ModelOpening>();
    const close = (circuit: string): void => {
      const opening = open.get(circuit);
      if (opening === undefined) return;
      open.delete(circuit);
      if (circuit.startsWith(MODEL_PREFIX))
        reportOf(circuit.slice(MODEL_PREFIX.length)).openMs += nowMs - opening.openedAtMs;
    };
    box.on('circuit.transition', ({ tool: circuit, from, to, unixMs, category }) => {
      if (to === 'closed') {
        const opening = open.get(circuit);
        if (opening !== undefined) opening.closedAtMs = unixMs;
        close(circuit);
      } else if (to === 'open' && from === 'closed') {
        const opening = { circuit, category, openedAtMs: unixMs, closedAtMs: undefined };
        open.set(circuit, opening);
        openings.push(opening);
        if (circuit.startsWith(MODEL_PREFIX)) reportOf(circuit.slice(MODEL_PREFIX.length)).openings += 1;
      }
    });
    ends.push(() => {
      for (const circuit of [...open.keys()]) close(circuit);
    });
    return {
      session,
      handleOf: ({ name, group }: RecordedModelCall): ModelHandle | undefined => {
        const known = handles.get(name) ?? declare({ name, group, hasFallback: true });
        if (known !== undefined) handles.set(name, known);
        return known;
      },
    };
  };

  const boxOf = (agent = 'replay') => {
    const known = boxes.get(agent) ?? newBox(agent);
    boxes.set(agent, known);
    return known;
  };

  const start = (call: RecordedModelCall, permits: Map<RecordedModelCall, [Permit, ModelHandle]>): void => {
    const box = boxOf(call.agent);
    const handle = box.handleOf(call);
    if (handle === undefined) return;
    const report = reportOf(call.name);
    report.calls[call.outcome] += 1;
    const permit = box.session.acquire(handle.name);
    if (permit.decision === 'call' || permit.decision === 'probe') {
      handle.extend(permit, call.endMs - call.startMs + 1); // The guard extends a probe by its limits.
      permits.set(call, [permit, handle]);
      if (call.outcome === 'failure' && call.asksNext) report.failedOver += 1;
    } else report.skipped[call.outcome] += 1;
  };

  const end = (call: RecordedModelCall, permits: Map<RecordedModelCall, [Permit, ModelHandle]>): void => {
    const [permit, handle] = permits.get(call) ?? [];
    if (permit === undefined || handle === undefined) return;
    permits.delete(call);
    const { outcome, category, blames, wait } = call;
    const retryAfterMs = wait === 'longest' ? handle.longestWaitMs() : wait;
    if (outcome === 'success') permit.settle({ outcome });
    else
      permit.settle({
        outcome,
        ...(category !== undefined && { category }),
        ...(blames !== undefined && outcome === 'failure' && { blames }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      });
  };

  const permits = new Map<RecordedModelCall, [Permit, ModelHandle]>();
  const moments = calls
    .toSorted((one, other) => one.startMs - other.startMs)
    .flatMap((call): Moment[] => [
      { ms: call.startMs, run: () => start(call, permits) },
      { ms: Math.max(call.endMs, call.startMs), run: () => end(call, permits) },
    ]);
  // The order of equal times is that of the recording, so that a call starts before it ends.
  for (const { ms, run } of moments.sort((one, other) => one.ms - other.ms)) {
    nowMs = ms;
    run();
  }
  for (const close of ends) close();
  const models = [...reports.values()].sort(
    (one, other) => other.openings - one.openings || callsOf(other) - callsOf(one),
  );
  return { models, openings: openings.sort((one, other) => one.openedAtMs - other.openedAtMs) };
};

const callsOf = ({ calls }: ModelReport): number => calls.success + calls.failure + calls.ignored;
