import { setTimeout as wait } from 'node:timers/promises';
import { createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import { startTelemetry } from '@breakerbox/telemetry';
import { sumOf } from './observed.ts';

/** Agents in a process whose system clock keeps jumping back and forth. Prints the result. */

const RealDate = Date;
const HOUR = 3_600_000;
let shift = 0;
let leaps = 0;
globalThis.Date = class extends RealDate {
  constructor(...given: []) {
    if (given.length === 0) super(RealDate.now() + shift);
    else super(...given);
  }
  static override now = (): number => RealDate.now() + shift;
} as DateConstructor;
const leaping = setInterval(() => {
  leaps += 1;
  shift = [-HOUR, 24 * HOUR, 0, -24 * 365 * HOUR, HOUR][leaps % 5] ?? 0;
}, 5);

const telemetry = startTelemetry({ serviceName: 'clock', prometheus: { port: 0 } });
await telemetry.ready;
const scrape = async (): Promise<string> => (await fetch(telemetry.metricsUrl ?? '')).text();

const box = createBreakerbox({
  agent: 'clock',
  budget: { failures: 10_000 },
  systemic: false,
  defaults: { cooldownMs: 20, maxCooldownMs: 40, labelFreshness: true },
});
let opened = 0;
let probed = 0;
let made = 0;
box.on('circuit.transition', ({ to }) => {
  if (to === 'open') opened += 1;
});
box.on('decision', ({ decision }) => {
  if (decision === 'probe') probed += 1;
});

const SESSIONS = 5;
const sessions = Array.from({ length: SESSIONS }, () => box.session());
const work = sessions.map(async (session, index) => {
  const tool = guard(session, `tool_${index}`, async (call: number) => {
    made += 1;
    await wait(1);
    if (call % 40 < 20) throw new Error('connect ECONNREFUSED');
    return call;
  });
  for (let call = 0; call < 120; call += 1) {
    await tool(call).catch(() => {});
    await wait(1);
  }
});
await Promise.all(work);
const during = sumOf(await scrape(), 'breakerbox_sessions{');
for (const session of sessions) session.end();
const text = await scrape();
clearInterval(leaping);

const counted =
  sumOf(text, 'breakerbox_decisions_total', 'decision="call"') +
  sumOf(text, 'breakerbox_decisions_total', 'decision="probe"');
const outcomes = sumOf(text, 'breakerbox_outcomes_total');
const after = sumOf(text, 'breakerbox_sessions{');
process.stdout.write(JSON.stringify({ leaps, opened, probed, made, counted, outcomes, sessions: { during, after } }));
