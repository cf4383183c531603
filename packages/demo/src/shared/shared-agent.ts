import { setTimeout as wait } from 'node:timers/promises';
import { createBreakerbox } from '@breakerbox/core';
import { createFleet } from '@breakerbox/fleet';
import { guard, ToolUnavailableError } from '@breakerbox/instrumentation';
import { startTelemetry } from '@breakerbox/telemetry';
import { createClient } from 'redis';
import { getJson } from '../http-get.ts';
import { type AgentNotice, type AgentStart, SHARED_TOOL, THRESHOLD } from './shared-story.ts';

/** One process of `npm run demo -- --fleet`. It tells the process that started it what happens to the tool. */
const { redisUrl, toolUrl } = JSON.parse(process.argv[2] ?? '') as AgentStart;

const EVERY_MS = 400;
/** Shorter than the defaults, so that a round of the story takes seconds. */
const POLICY = { failureThreshold: THRESHOLD, cooldownMs: 3_000, maxCooldownMs: 6_000, probeLeaseMs: 2_000 };

// docker-compose.yml has a Collector. Alone, the demo has nothing that would read metrics.
if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT) startTelemetry();

const client = createClient({ url: redisUrl });
const fleet = createFleet({ client });
const box = createBreakerbox({
  agent: 'research-agent',
  scope: 'process',
  fleet,
  // A conversation of its own for each call would have a new budget. One long session needs a large one.
  budget: { failures: 1_000 },
  tools: { [SHARED_TOOL]: { ...POLICY, share: 'fleet' } },
});

const notify = (notice: AgentNotice): void => void process.send?.(notice);
let failures = 0;
const session = box.session();
box.on('circuit.transition', ({ to }) =>
  notify({ kind: 'state', to, told: session.peek(SHARED_TOOL)?.trip === 'fleet', failures }),
);

const search = guard(session, SHARED_TOOL, async (input: { readonly q: string }) => getJson(toolUrl, input, undefined));

const turn = async (number: number): Promise<void> => {
  try {
    await search({ q: `question ${number}` });
    failures = 0;
    notify({ kind: 'called', ok: true });
  } catch (error) {
    if (error instanceof ToolUnavailableError) return;
    failures += 1;
    notify({ kind: 'called', ok: false });
  }
};

process.on('disconnect', () => process.exit());
for (let number = 0; process.connected; number += 1) {
  await turn(number);
  await wait(EVERY_MS * (0.5 + Math.random())); // Processes of a real fleet do not call at the same moment.
}
