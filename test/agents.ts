import { setTimeout as wait } from 'node:timers/promises';
import {
  type Breakerbox,
  type BreakerboxConfig,
  createBreakerbox,
  type ScopePlan,
  type Session,
  type ToolConfig,
} from '@breakerbox/core';
import { operate } from '@breakerbox/core/control';
import type { Task } from '@breakerbox/core/scope';
import { planScope } from '@breakerbox/core/scope';
import { type GuardOptions, guard, ToolUnavailableError } from '@breakerbox/instrumentation';
import { httpEndpoint } from '@breakerbox/instrumentation/checks';
import { type Service, startService } from '../packages/demo/src/services.ts';
import { type EventCounts, followEvents } from './event-counts.ts';

/** One of an agent's tools. */
export interface AgentTool {
  /** The service behind it, if another part of the test runs it. Default: a service of the agent's own. */
  readonly url?: string;
  /** The tool's configuration in the box. It may use the service behind the tool. Default: the box's defaults. */
  readonly config?: (service: { readonly url: string }) => ToolConfig;
  /** Options of its guard, beside its time-out. */
  readonly guard?: GuardOptions;
  /** The question of a turn. Default: a different one each time, because the loop guard would skip repeats. */
  readonly input?: (turn: number) => unknown;
}

/** How an agent works, beside calling its tools. */
export interface AgentOptions {
  /** Configuration of its box. */
  readonly box?: Pick<BreakerboxConfig, 'budget' | 'defaults'>;
  /** Its tasks. It plans them again before each one. Default: it plans nothing. */
  readonly tasks?: readonly Task[];
}

/** An agent that calls all of its tools again and again until it is stopped. */
export interface RunningAgent {
  readonly box: Breakerbox;
  readonly session: Session;
  /** All events of its box. */
  readonly events: EventCounts;
  /** The HTTP services behind the tools that have no other service. */
  readonly services: Readonly<Record<string, Service>>;
  /** Every plan that it has made. */
  readonly plans: readonly ScopePlan[];
  /** Ends its session and its services. A second call does nothing. */
  stop(): Promise<void>;
}

/** Milliseconds between two steps. */
const STEP_MS = 150;
/** Long enough for a busy machine, because late answers cost budget. */
const TIMEOUT_MS = 2_000;
/** Turns that a task takes. */
const TASK_TURNS = 8;

/** Starts an agent whose tools ask real HTTP services. */
export const startAgent = async (
  agent: string,
  tools: Readonly<Record<string, AgentTool>>,
  { box: config, tasks }: AgentOptions = {},
): Promise<RunningAgent> => {
  const starting = Object.entries(tools)
    .filter(([, { url }]) => url === undefined)
    .map(async ([tool]) => [tool, await startService(tool, () => ({ tool }))] as const);
  const services = Object.fromEntries(await Promise.all(starting));
  const duties = Object.entries(tools).map(([tool, one]) => ({
    ...one,
    tool,
    url: one.url ?? services[tool]?.url ?? '',
  }));
  const settings = duties.map(({ tool, config: treated, url }) => [tool, treated?.({ url }) ?? {}]);
  const box = createBreakerbox({ ...config, agent, tools: Object.fromEntries(settings) });
  operate(box); // Before its session, so that an operator finds it.
  const events = followEvents(box);
  const session = box.session({ id: `${agent}-run` });
  const calls = duties.map(({ tool, url, guard: options, input = (turn: number) => ({ turn }) }) => {
    const call = guard(
      session,
      tool,
      async (_: unknown, { signal }) => {
        const response = await fetch(url, { signal });
        if (!response.ok) throw Object.assign(new Error(`${tool} failed`), { status: response.status });
        return response.json();
      },
      { timeoutMs: TIMEOUT_MS, ...options },
    );
    return (turn: number) => call(input(turn));
  });
  const plans: ScopePlan[] = [];
  const stopped = new AbortController();
  const loop = async (): Promise<void> => {
    for (let turn = 0; !stopped.signal.aborted; turn += 1) {
      await box.precheck();
      if (tasks !== undefined && turn % TASK_TURNS === 0) {
        session.beginTask();
        plans.push(planScope(session, tasks));
      }
      for (const call of calls) {
        await call(turn).catch((error) => {
          // What an agent would tell its model. Anything but a rejection or a real failure of the tool is a bug of ours.
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
    events,
    services,
    plans,
    stop: async () => {
      stopped.abort();
      await running;
      session.end();
      await Promise.all(Object.values(services).map((service) => service.close()));
    },
  };
};

/** Tokens of each call of the seller. */
export const TOKENS = 120;

/** Starts an agent whose calls have fallbacks, cost tokens, and return results of uncertain age. */
export const startSeller = (): Promise<RunningAgent> => {
  const tokens = () => TOKENS;
  return startAgent(
    'seller-agent',
    {
      prices: {
        config: () => ({ labelFreshness: true, alternatives: [{ tool: 'quotes', degradation: 'low' }] }),
        guard: { tokens, freshness: () => ({ verified: false }) },
      },
      quotes: {
        config: () => ({ labelFreshness: true }),
        guard: { tokens, freshness: () => ({ retrievedUnixMs: null }) },
      },
      // Every other question is about the same city, so that a last good result can answer it.
      weather: {
        config: () => ({ labelFreshness: true, serveStaleMs: 120_000 }),
        guard: { tokens },
        input: (turn) => ({ city: turn % 2 === 0 ? 'Oslo' : `city ${turn}` }),
      },
      mail: {
        config: ({ url }) => ({ precheck: httpEndpoint(`${url}/health`), fallback: 'write a letter' }),
        guard: { tokens },
      },
    },
    {
      // It must continue through the whole outage, so it has few probes and enough failures for them.
      box: { budget: { failures: 50 }, defaults: { probeAfterSteps: 10 } },
      tasks: [
        { name: 'offer', tools: ['prices'] },
        { name: 'forecast', tools: ['weather'] },
        { name: 'invitation', tools: ['quotes', 'mail'] },
      ],
    },
  );
};
