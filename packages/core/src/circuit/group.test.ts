import { describe, expect, test } from 'vitest';
import type { Moment } from '../clock.ts';
import {
  type Asking,
  admit,
  admits,
  type Circuit,
  closedCircuit,
  fail,
  openCircuit,
  release,
  succeed,
  type Ticket,
} from './circuit.ts';
import { restage } from './outage.ts';
import { type CircuitPolicy, gatePolicy, resolveGroupPolicy, resolvePolicy } from './policy.ts';
import { probeWait } from './schedule.ts';
import { at, call, failure } from './test-support.ts';

const policy = resolveGroupPolicy({});
const start = closedCircuit();

const failedBy = (tools: readonly string[], from: Circuit = start, by: CircuitPolicy = policy): Circuit =>
  tools.reduce((circuit, tool) => fail(circuit, start, { ...failure, tool }, by, at(0)), from);

describe('C13: a group opens', () => {
  test('C13: at 3 failures in a row over 2 different tools', () => {
    expect(failedBy(['a', 'b'])).toMatchObject({ state: 'closed', failures: 2, by: ['a', 'b'] });
    expect(failedBy(['a', 'b', 'a'])).toMatchObject({ state: 'open', outage: { trip: 'consecutive' } });
    expect(failedBy(['a', 'a', 'b'])).toMatchObject({ state: 'open' });
  });

  test('C13: not by one tool alone, however often it fails; the next tool then opens it', () => {
    const alone = failedBy(Array.from({ length: 9 }, () => 'a'));
    expect(alone).toMatchObject({ state: 'closed', failures: 9, by: ['a'] });
    expect(failedBy(['b'], alone)).toMatchObject({ state: 'open' });
  });

  test('C13: the tools are those of this row: a success of any member forgets them', () => {
    const again = succeed(failedBy(['a', 'b']), start, call, policy, at(0));
    expect(again).toEqual(closedCircuit());
    expect(failedBy(['b', 'b', 'b'], again)).toMatchObject({ state: 'closed', by: ['b'] });
  });

  test('C13: with thresholds of its own', () => {
    const three = resolveGroupPolicy({ failureThreshold: 1, groupThreshold: 3 });
    expect(failedBy(['a', 'b'], start, three)).toMatchObject({ state: 'closed' });
    expect(failedBy(['a', 'b', 'c'], start, three)).toMatchObject({ state: 'open' });
    const one = resolveGroupPolicy({ failureThreshold: 2, groupThreshold: 1 });
    expect(failedBy(['a', 'a'], start, one)).toMatchObject({ state: 'open' });
  });

  test('C13: at once when the transport ends, whatever was counted', () => {
    const ended = { ...failure, tool: 'a', atOnce: true };
    expect(fail(start, start, ended, policy, at(7))).toMatchObject({
      state: 'open',
      generation: 1,
      outage: { trip: 'transport', category: 'network', openedAt: at(7), waitMs: 60_000 },
    });
  });

  test("C13: a tool's own circuit keeps no names", () => {
    expect(failedBy(['a', 'b'], start, resolvePolicy({}))).toMatchObject({ state: 'closed', by: undefined });
  });
});

const toolPolicy = resolvePolicy({ probeAfterSteps: 2, cooldownMs: 100, probeLeaseMs: 7 });
const asking = (tool: string, own: CircuitPolicy = toolPolicy): Asking => ({ tool, policy: own });

/** A group whose probe, by tool a, has failed. */
const failedProbe = (by: CircuitPolicy, moment: Moment, from: Circuit): Circuit => {
  const { circuit, ticket } = probe(from, by, moment, 'a');
  return fail(circuit, ticket, { ...failure, tool: 'a' }, by, moment);
};

const probe = (
  from: Circuit,
  by: CircuitPolicy,
  moment: Moment,
  tool: string,
): { circuit: Circuit; ticket: Ticket } => {
  const admission = admit(from, by, moment, asking(tool));
  if (admission.verdict !== 'probe') throw new Error(`expected a probe, got ${admission.verdict}`);
  return { circuit: admission.circuit, ticket: { generation: admission.circuit.generation, lease: admission.lease } };
};

describe('C15: after a failed probe of a group', () => {
  const bySteps = resolveGroupPolicy({ probeAfterSteps: 3 });
  const byTime = resolveGroupPolicy({ cooldownMs: 1_000 });
  const open = failedBy(['a', 'b', 'a']);

  test('C15: before one has failed, any tool of the group may probe', () => {
    expect(open).not.toHaveProperty('outage.probedBy');
    for (const tool of ['a', 'b']) expect(admits(open, bySteps, at(0, 3), asking(tool))).toBe(true);
  });

  test('C15: by steps, the same tool waits its own steps longer than another', () => {
    const again = failedProbe(bySteps, at(0, 3), open);
    expect(again).toMatchObject({ outage: { trip: 'probe', probedBy: 'a' } });
    expect(admits(again, bySteps, at(0, 5), asking('b'))).toBe(false);
    expect(admits(again, bySteps, at(0, 6), asking('b'))).toBe(true);
    expect(admits(again, bySteps, at(0, 7), asking('a'))).toBe(false);
    expect(admits(again, bySteps, at(0, 8), asking('a'))).toBe(true);
  });

  test('C15: by time, the same tool waits its own cooldown longer', () => {
    const again = failedProbe(byTime, at(60_000), open);
    if (again.state !== 'open') throw new Error('expected an open circuit');
    const due = 60_000 + again.outage.waitMs;
    expect(admits(again, byTime, at(due), asking('b'))).toBe(true);
    expect(admits(again, byTime, at(due + 99), asking('a'))).toBe(false);
    expect(admits(again, byTime, at(due + 100), asking('a'))).toBe(true);
    expect(probeWait(again.outage, byTime, at(due), asking('b'))).toEqual({ ms: 0, notBeforeMs: 0 });
    expect(probeWait(again.outage, byTime, at(due), asking('a'))).toEqual({ ms: 100, notBeforeMs: 0 });
  });

  test('C15: where nothing is said of the tool, the group is due as ever', () => {
    const again = failedProbe(bySteps, at(0, 3), open);
    expect(admits(again, bySteps, at(0, 6))).toBe(true);
  });

  test('C15, O3: without a Retry-After the longer wait is not one, at the origin of the clock either', () => {
    const again = failedProbe(bySteps, at(5, 3), open);
    const slow = asking('a', resolvePolicy({ probeAfterSteps: 2, cooldownMs: 60_000 }));
    expect(admits(again, bySteps, at(6, 8), slow)).toBe(true);
    if (again.state !== 'open') throw new Error('expected an open circuit');
    expect(probeWait(again.outage, bySteps, at(6, 8), slow)).toEqual({ steps: 0, notBeforeMs: 0 });
  });

  test('C15: the latest probe counts, closing forgets it, and the end of an event does not', () => {
    const again = failedProbe(bySteps, at(0, 3), open);
    const byB = probe(again, bySteps, at(0, 6), 'b');
    const third = fail(byB.circuit, byB.ticket, { ...failure, tool: 'b' }, bySteps, at(0, 6));
    expect(third).toMatchObject({ outage: { probedBy: 'b' } });
    expect(restage(third, bySteps, at(0, 7))).toMatchObject({ outage: { probedBy: 'b' } });
    const last = probe(third, bySteps, at(0, 9), 'a');
    expect(succeed(last.circuit, last.ticket, call, bySteps, at(0, 9))).toEqual(closedCircuit(7));
  });

  test('C8: a slot that was given back is for any tool', () => {
    const again = failedProbe(bySteps, at(0, 3), open);
    const byB = probe(again, bySteps, at(0, 6), 'b');
    expect(admits(release(byB.circuit, byB.ticket), bySteps, at(0, 6), asking('a'))).toBe(true);
  });

  test("C15: a tool's own circuit remembers no tool", () => {
    const own = resolvePolicy({ probeAfterSteps: 3 });
    expect(failedProbe(own, at(0, 3), failedBy(['a', 'a', 'a'], start, own))).not.toHaveProperty('outage.probedBy');
  });
});

describe('C9, C15: one lease for all layers of a call', () => {
  const open = failedBy(['a', 'b', 'a']);

  test('C9: it is that of the tool that probes, with the first probe and with the next', () => {
    const two = resolveGroupPolicy({ probes: 2, probeAfterSteps: 1, probeLeaseMs: 99 });
    const first = probe(open, two, at(10, 1), 'a');
    expect(first.ticket.lease).toEqual({ id: 0, untilMs: 17 });
    expect(probe(first.circuit, two, at(20, 1), 'b').ticket.lease).toEqual({ id: 1, untilMs: 27 });
  });

  test("C9: without a tool it is the circuit's own", () => {
    const admission = admit(open, resolveGroupPolicy({ probeAfterSteps: 1, probeLeaseMs: 99 }), at(10, 1));
    expect(admission).toMatchObject({ verdict: 'probe', lease: { untilMs: 109 } });
  });
});

describe('S5: the circuit around an event', () => {
  const gate = gatePolicy({ probeAfterMs: 300, maxProbeAfterMs: 1_000 });

  test('S5: open from the start, one probe after the wait', () => {
    const open = openCircuit(at(50), 'network', gate);
    expect(open).toEqual({
      state: 'open',
      generation: 0,
      outage: { category: 'network', openedAt: at(50), waitMs: 300, notBeforeMs: 0 },
    });
    expect(admits(open, gate, at(349, 90, 349), asking('a'))).toBe(false);
    const first = probe(open, gate, at(350), 'a');
    expect(admits(first.circuit, gate, at(351), asking('b'))).toBe(false);
    expect(succeed(first.circuit, first.ticket, call, gate, at(351))).toMatchObject({ state: 'closed' });
  });

  test('S5: failure waits again, doubling to the longest, and another tool is preferred', () => {
    let circuit: Circuit = openCircuit(at(0), 'network', gate, 4);
    expect(circuit.generation).toBe(4);
    const waits: number[] = [];
    let now = 0;
    for (const tool of ['a', 'b', 'a', 'b']) {
      if (circuit.state !== 'open') throw new Error('expected an open circuit');
      waits.push(circuit.outage.waitMs);
      now += circuit.outage.waitMs;
      const other = tool === 'a' ? 'b' : 'a';
      if (waits.length > 1) expect(admits(circuit, gate, at(now + 99), asking(other))).toBe(false);
      const next = probe(circuit, gate, at(now), tool);
      circuit = fail(next.circuit, next.ticket, { ...failure, tool }, gate, at(now));
    }
    expect(waits).toEqual([300, 600, 1_000, 1_000]);
  });

  test('S5: a tool that joins the event restarts the wait', () => {
    const joined = restage(openCircuit(at(0), 'network', gate), gate, at(200));
    expect(admits(joined, gate, at(499))).toBe(false);
    expect(admits(joined, gate, at(500))).toBe(true);
  });
});
