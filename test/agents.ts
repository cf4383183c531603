import { setTimeout as wait } from 'node:timers/promises';
import { type Breakerbox, createBreakerbox, type Session } from '@breakerbox/core';
import { guard, ToolUnavailableError } from '@breakerbox/instrumentation';
import { type Service, startService } from '../packages/cli/src/demo/services.ts';

/** An agent that calls all of its tools over and over until it is stopped. */
export interface RunningAgent {
  readonly box: Breakerbox;
  readonly session: Session;
  /** The HTTP services behind the tools. */
  readonly services: Readonly<Record<string, Service>>;
  stop(): Promise<void>;
}

/** Milliseconds between two steps. */
const STEP_MS = 150;

/** Starts an agent with a real HTTP service behind each tool. */
export const startAgent = async (agent: string, tools: readonly string[]): Promise<RunningAgent> => {
  const services = Object.fromEntries(
    await Promise.all(tools.map(async (tool) => [tool, await startService(tool, () => ({ tool }))] as const)),
  );
  const box = createBreakerbox({ agent, tools: Object.fromEntries(tools.map((tool) => [tool, {}])) });
  const session = box.session({ id: `${agent}-run` });
  const calls = Object.entries(services).map(([tool, service]) =>
    guard(
      session,
      tool,
      async (_: undefined, { signal }) => {
        const response = await fetch(service.url, { signal });
        if (!response.ok) throw Object.assign(new Error(`${tool} failed`), { status: response.status });
        return response.json();
      },
      { timeoutMs: 500 },
    ),
  );
  const stopped = new AbortController();
  const loop = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      for (const call of calls) {
        await call(undefined).catch((error) => {
          // What an agent would tell its model; anything but a refusal or a real failure of the tool is a fault of ours.
          if (!(error instanceof ToolUnavailableError) && !(error instanceof Error)) throw error;
        });
      }
      session.step();
      await wait(STEP_MS);
    }
  };
  const running = loop();
  return {
    box,
    session,
    services,
    stop: async () => {
      stopped.abort();
      await running;
      session.end();
      await Promise.all(Object.values(services).map((service) => service.close()));
    },
  };
};
