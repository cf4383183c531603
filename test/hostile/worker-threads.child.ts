import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createBreakerbox } from '@breakerbox/core';
import { guard, ToolUnavailableError } from '@breakerbox/instrumentation';
import type { TelemetryHandle } from '@breakerbox/telemetry';

/** A main thread and four workers with a box each. The fourth worker hangs in a tool call, and is terminated. */

const telemetry = (globalThis as Record<symbol, unknown>)[Symbol.for('@breakerbox/telemetry:running')] as
  | TelemetryHandle
  | undefined;
await telemetry?.ready;

const agent = isMainThread ? 'main' : `worker-${workerData}`;
const session = createBreakerbox({
  agent,
  tools: { search: { precheck: async () => 'available' as const } },
}).session();

/** Three failures open the circuit; the fourth call is skipped. */
const work = async (): Promise<readonly string[]> => {
  const search = guard(session, 'search', (): Promise<string> => Promise.reject(new Error('ECONNREFUSED')), {
    timeoutMs: 60_000,
  });
  const decisions: string[] = [];
  for (let call = 0; call < 4; call += 1) {
    await search(undefined).catch((error: unknown) => {
      decisions.push(error instanceof ToolUnavailableError ? error.decision : 'call');
    });
  }
  return decisions;
};

const inWorker = async (): Promise<void> => {
  const decisions = await work();
  parentPort?.postMessage({ decisions, metricsUrl: telemetry?.metricsUrl ?? null });
  if (workerData !== 4) return;
  const hang = guard(session, 'hang', () => new Promise<never>(() => {}), { timeoutMs: 60_000 });
  await hang(undefined);
};

const inMain = async (): Promise<void> => {
  await work();
  const threads = [1, 2, 3, 4].map((number) => new Worker(new URL(import.meta.url), { workerData: number }));
  const ended = threads.slice(0, 3).map((thread) => once(thread, 'exit').then(([code]: number[]) => code));
  const answers = await Promise.all(threads.map((thread) => once(thread, 'message').then(([answer]) => answer)));
  await threads[3]?.terminate();
  const codes = await Promise.all(ended);
  const text = telemetry?.metricsUrl === undefined ? '' : await (await fetch(telemetry.metricsUrl)).text();
  const calls: Record<string, number> = {};
  for (const [, name = '', value] of text.matchAll(
    /^breakerbox_decisions_total\{gen_ai_agent_name="([^"]+)".* (\d+)$/gm,
  )) {
    calls[name] = (calls[name] ?? 0) + Number(value);
  }
  process.stdout.write(JSON.stringify({ codes, workers: answers.slice(0, 3), calls }));
};

await (isMainThread ? inMain() : inWorker());
