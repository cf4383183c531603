import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { cleanEnvironment } from './hostile/child-process.ts';
import { sumOf } from './hostile/observed.ts';
import type { SoakResult } from './soak/child.ts';

/** Two minutes. For a longer test: `SOAK_SECONDS=3600 npx vitest run test/soak.test.ts`. */
const SECONDS = Number(process.env.SOAK_SECONDS ?? 120);
/** Time beyond the rounds: the pauses between them, the start, and the end. */
const SLACK_MS = 60_000;

const MEGABYTE = 1_000_000;

let ended: { readonly code: number | null; readonly signal: string | null; readonly stderr: string };
let soak: SoakResult;

beforeAll(
  async () => {
    const path = fileURLToPath(new URL('soak/child.ts', import.meta.url));
    const flags = ['--conditions=breakerbox-source', '--expose-gc', '--max-old-space-size=512'];
    flags.push('--disable-warning=ExperimentalWarning'); // Node calls the counting of timers experimental.
    const child = spawn(process.execPath, [...flags, path, String(SECONDS)], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      env: { ...cleanEnvironment(), OTEL_LOG_LEVEL: 'NONE' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: SECONDS * 1_000 + SLACK_MS, // A process that never ends by itself is ended by a signal, which the test sees.
    });
    const [stdout, stderr, [code, signal]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    ended = { code, signal, stderr };
    soak = JSON.parse(stdout || '{}');
  },
  SECONDS * 1_000 + 2 * SLACK_MS,
);

const metric = (...holding: readonly string[]): number => sumOf(soak.metrics, ...holding);
const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

describe(`a thousand sessions at once, with random outages, for ${SECONDS} s`, () => {
  it('end by themselves, without an unhandled rejection or a warning', () => {
    expect(ended).toEqual({ code: 0, signal: null, stderr: '' });
    expect(soak.warnings).toEqual([]);
  });

  it('were a thousand at once, were scraped, and had openings, probes, skips and pauses', () => {
    // An agent is read after another one, so a session that ends while the next one begins elsewhere may be missed.
    expect(soak.atOnce.least).toBeGreaterThanOrEqual(990);
    expect(soak.atOnce.most).toBeLessThan(2_000); // Sessions that are never ended stay until they have idled.
    expect(soak.scrapes).toBeGreaterThan(SECONDS / 10);
    expect(soak.seen.sessions).toBeGreaterThan(SECONDS * 50);
    for (const decision of ['call', 'probe', 'skip', 'pause']) {
      expect(soak.seen.decisions[decision], decision).toBeGreaterThan(100);
    }
    expect(metric('breakerbox_transitions_total', 'from="half_open"', 'to="closed"')).toBeGreaterThan(2 * SECONDS);
    expect(metric('breakerbox_systemic_events_total')).toBeGreaterThan(SECONDS);
    const shop = 'tool_name="group:shop"';
    expect(metric('breakerbox_transitions_total', shop, 'from="closed"', 'to="open"')).toBeGreaterThan(SECONDS / 4);
    expect(metric('breakerbox_transitions_total', shop, 'from="half_open"', 'to="closed"')).toBeGreaterThan(
      SECONDS / 4,
    );
    for (const reason of ['group_open', 'group_probe_due', 'systemic', 'budget_exhausted']) {
      expect(metric('breakerbox_decisions_total', `reason="${reason}"`), reason).toBeGreaterThan(SECONDS / 4);
    }
    // S2: in scope process an event skips the affected tools, and does not pause its session.
    expect(
      metric('breakerbox_decisions_total', '"soak-process"', 'decision="skip"', 'reason="systemic"'),
    ).toBeGreaterThan(0);
    expect(metric('breakerbox_decisions_total', '"soak-process"', 'decision="pause"', 'reason="systemic"')).toBe(0);
  });

  it('throw only errors of tools, rejections, time-outs and aborts', () => {
    expect(soak.seen.strange).toEqual([]);
  });

  it('leak no memory: after the first round the heap is flat', () => {
    const [first, ...later] = soak.rests.map(({ heapBytes }) => heapBytes);
    expect(Math.max(...later) - (first ?? 0)).toBeLessThan(2 * MEGABYTE);
  });

  it('cost no more at the end than at the start', () => {
    const costs = soak.rests.map(({ cpuMs, calls }, index) => {
      const { cpuMs: cpuBefore, calls: callsBefore } = soak.rests[index - 1] ?? { cpuMs: 0, calls: 0 };
      return (cpuMs - cpuBefore) / (calls - callsBefore);
    });
    expect(costs.at(-1)).toBeLessThan(3 * (costs[0] ?? 0)); // Processor time. It varies on a busy machine.
  });

  it('leak no handle and no timer: after each round there are the same', () => {
    const [first, ...later] = soak.rests.map(({ resources }) => resources);
    for (const resources of later) expect(resources).toEqual(first);
    expect(total(first ?? {})).toBeLessThan(10);
    // Including those that do not keep the process alive. Node's own come and go with connections.
    expect(Math.max(...soak.rests.map(({ timers }) => timers))).toBeLessThan(20);
  });

  it('have metrics that add up: each call is counted once, by decision, by outcome and by duration', () => {
    const { seen, runs } = soak;
    const executed = runs + seen.byHand;
    const counted = (...holding: readonly string[]) => metric('breakerbox_decisions_total', ...holding);
    expect(counted('decision="call"') + counted('decision="probe"')).toBe(executed);
    for (const [decision, times] of Object.entries(seen.decisions)) {
      expect([decision, counted(`decision="${decision}"`)]).toEqual([decision, times]);
    }
    expect(metric('breakerbox_outcomes_total')).toBe(executed - seen.neverSettled);
    expect(metric('breakerbox_outcomes_total')).toBe(total(seen.outcomes));
    expect(metric('gen_ai_execute_tool_duration_seconds_count')).toBe(executed - seen.neverSettled);
    expect(metric('gen_ai_execute_tool_duration_seconds_bucket', 'le="+Inf"')).toBe(executed - seen.neverSettled);
  });

  it('leave no session in the gauges, and only shared circuits', () => {
    expect(metric('breakerbox_sessions{')).toBe(0);
    expect([metric('breakerbox_budget_limit'), metric('breakerbox_budget_remaining')]).toEqual([0, 0]);
    expect(metric('breakerbox_circuits{', '"soak-session"')).toBe(0);
    expect(metric('breakerbox_circuits{', '"soak-strict"')).toBe(0);
    expect(metric('breakerbox_circuits{', '"soak-observe"')).toBe(0);
    expect(metric('breakerbox_circuits{', '"soak-process"')).toBe(9); // 8 tools and a group.
  });

  it('are counted once, and charged only for failures', () => {
    const started = metric('breakerbox_sessions_started_total');
    // A restored session does not count as started again.
    expect(started).toBeLessThan(soak.seen.sessions);
    expect(started).toBeGreaterThanOrEqual(soak.seen.sessions * 0.5);
    const charged = metric('breakerbox_budget_consumed_total');
    expect(charged).toBeGreaterThan(0);
    expect(charged).toBeLessThanOrEqual(metric('breakerbox_outcomes_total', 'outcome="failure"'));
  });
});
