import { createBreakerbox, type Decision, type Outcome, type Reason } from '@breakerbox/core';
import { isUnusableWith } from '@breakerbox/core/internal';
import { defaultKey } from '@breakerbox/instrumentation';
import { asUnusable, type JudgedEnding } from './judged-ending.ts';
import { type OpenSession, openSessions, type PendingCall, ROUNDED_MS } from './open-sessions.ts';
import { type EndEvent, type RecordedEvent, type StartEvent, type Used, usedBy } from './recording.ts';
import type { ReplayConfig, SimulatedCall, SimulationObserver } from './simulation-observer.ts';

/** Judges the end of a call. All simulations of one recording share the judgement. */
export type JudgeEnd = (end: EndEvent, tool: string, input: unknown) => JudgedEnding;

/** A run of the engine over a recording. */
export interface Simulation {
  /** @returns false if the event is before an earlier one of its session, or ends a call that was not started. */
  apply(event: RecordedEvent, judge: JudgeEnd): boolean;
  /** Reports the calls without an end. */
  finish(): void;
}

const isRun = (decision: Decision): boolean => decision === 'call' || decision === 'probe';

/** Settles a permit as the recording says. */
const settle = ({ permit }: PendingCall, judged: JudgedEnding, used: Used): void => {
  const { outcome, category, retryAfterMs, blames, verdict } = judged;
  if (outcome === 'success') permit.settle({ outcome, ...used });
  else if (verdict !== undefined) permit.settle({ error: {}, verdict, ...used });
  else {
    permit.settle({
      outcome: outcome as Exclude<Outcome, 'success'>,
      ...used,
      ...(category !== undefined && { category }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(blames !== 'tool' && { blames }),
    });
  }
};

/** A call of a guarded run is replayed a millisecond early, and waits for the live run's probe if it is due within two. */
const LATE_MS = 2 * ROUNDED_MS;

const waitForProbe = ({ session, clock }: OpenSession, { tool, decided }: StartEvent): void => {
  if (decided?.decision !== 'probe') return;
  const { ms = Number.POSITIVE_INFINITY, notBeforeMs } = session.explain(tool).nextProbe ?? {};
  const waitMs = Math.max(ms, notBeforeMs ?? 0);
  if (waitMs > 0 && waitMs <= LATE_MS) clock.atMs += waitMs;
};

/** A live run that went on after a pause was resumed by a person. Older recordings do not say when (T8). */
const resumeAsLive = (open: OpenSession, live: Reason | undefined): void => {
  const before = open.liveReason;
  open.liveReason = live;
  if (live === undefined || live === before) return;
  if (before !== 'budget_exhausted' && before !== 'systemic') return;
  open.isAfterOperator = true;
  resume(open, before === 'systemic' ? 'confirm' : 'resume');
};

const resume = ({ session }: OpenSession, kind: 'resume' | 'confirm'): void =>
  kind === 'resume' ? session.resume() : session.confirmRecovered();

/**
 * Runs the engine over recorded events.
 *
 * @throws BreakerboxConfigError if the configuration can't work.
 */
export const createSimulation = (config: ReplayConfig, observer: SimulationObserver): Simulation => {
  createBreakerbox({ ...config, agent: 'replay' }); // Checks the configuration before a file is read.
  const sessions = openSessions(config, observer);

  const start = (open: OpenSession, event: StartEvent): void => {
    const { session: id, tool, callId, input, group, decided: live } = event;
    const { session, clock, tools, pending } = open;
    if (!tools.has(tool)) {
      tools.set(tool, group);
      session.declare(tool, group === undefined ? {} : { group });
    }
    resumeAsLive(open, live?.reason);
    waitForProbe(open, event);
    open.calls += 1;
    const key = defaultKey(input);
    const permit = session.acquire(tool, { callId, input, key });
    const decision = permit.wouldDecide ?? permit.decision;
    const executes = isRun(decision);
    const call: SimulatedCall = {
      session: id,
      number: open.calls,
      tool: permit.tool,
      group: permit.group,
      key,
      atMs: clock.atMs,
      decision,
      reason: permit.reason,
      executes,
      isMeasured: open.isMeasured,
      live,
      isAfterOperator: open.isAfterOperator,
    };
    // Without Breakerbox, each recorded call was made.
    if (executes !== isRun(live?.decision ?? 'call')) open.isMeasured = false;
    observer.decided(call);
    const before = pending.get(callId);
    if (before) observer.ended(before.call, undefined);
    const made: PendingCall = { call, permit, input };
    if (isRun(live?.decision ?? 'call')) pending.set(callId, made);
    else {
      // The live run rejected it, so it has no result. Unsettled, it would keep the place of a probe.
      if (executes) permit.settle({ outcome: 'ignored' });
      observer.ended(call, undefined);
    }
  };

  const end = ({ pending, box }: OpenSession, event: EndEvent, judge: JudgeEnd): boolean => {
    const open = pending.get(event.callId);
    if (!open) return false;
    pending.delete(event.callId);
    const { tool } = open.call;
    const read = judge(event, tool, open.input);
    settle(open, read, usedBy(event));
    const digest = read.verdict?.unexplained?.digest;
    const isUnusable = digest !== undefined && isUnusableWith(box, tool, digest);
    observer.ended(open.call, isUnusable ? asUnusable(read, tool, config) : read);
    return true;
  };

  return {
    apply(event, judge) {
      const open = sessions.of(event);
      if (event.kind === 'spend') {
        open.session.spend(usedBy(event)); // Its time decides nothing, so the clock stays.
        return true;
      }
      const { clock } = open;
      const isInOrder = event.atMs >= clock.eventMs;
      clock.eventMs = Math.max(clock.eventMs, event.atMs);
      const isRounded = event.kind === 'start' && event.decided !== undefined;
      clock.atMs = Math.max(clock.atMs, event.atMs - (isRounded ? ROUNDED_MS : 0));
      if (event.kind === 'end') return end(open, event, judge) && isInOrder;
      if (event.kind === 'start') start(open, event);
      else if (event.kind === 'step') open.session.step();
      else {
        open.liveReason = undefined; // The recording says when the pause ended.
        resume(open, event.kind);
      }
      return isInOrder;
    },
    finish() {
      for (const { call } of sessions.pending()) observer.ended(call, undefined);
    },
  };
};
