import { createBreakerbox } from '@breakerbox/core';
import { startTelemetry } from '@breakerbox/telemetry';
import { outage } from './series.ts';

/**
 * An agent whose tools all have been in an outage. It measures its own event loop between two messages of the bench.
 */
const [agents = 20, tools = 200] = process.argv.slice(2).map(Number);
const TICK_MS = 10;
const NS_PER_MS = 1e6;

for (let agent = 0; agent < agents; agent += 1) {
  const names = Array.from({ length: tools }, (_, index) => `tool-${index}`);
  const box = createBreakerbox({
    agent: `agent-${agent}`,
    maxTools: tools + 1,
    tools: Object.fromEntries(names.map((name) => [name, { fallback: 'Ask a person.' }])),
  });
  for (const name of names) {
    const session = box.session();
    outage(session, name);
    session.end();
  }
}
const telemetry = startTelemetry({ serviceName: 'bench', prometheus: { port: 0 } });
await telemetry.ready;

let ticks = 0;
setInterval(() => {
  ticks += 1;
}, TICK_MS);

/** The most CPU time of the main thread between two turns of the event loop, in milliseconds. */
let longestMs = 0;
let before = process.threadCpuUsage();
const turn = (): void => {
  const { user, system } = process.threadCpuUsage(before);
  longestMs = Math.max(longestMs, (user + system) / 1000);
  before = process.threadCpuUsage();
  setImmediate(turn);
};
turn();

let since = process.hrtime.bigint();
process.on('message', () => {
  const elapsedMs = Number(process.hrtime.bigint() - since) / NS_PER_MS;
  process.send?.({ longestMs, ticks: ticks / (elapsedMs / TICK_MS) });
  [longestMs, ticks, since] = [0, 0, process.hrtime.bigint()];
});
process.once('disconnect', () => process.exit());
process.send?.({ url: telemetry.metricsUrl });
