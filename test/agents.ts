import { setTimeout as wait } from 'node:timers/promises';
import {
  type Breakerbox,
  type BreakerboxConfig,
  createBreakerbox,
  type ScopePlan,
  type Session,
  type Task,
  type ToolConfig,
} from '@breakerbox/core';
import { type GuardOptions, guard, ToolUnavailableError } from '@breakerbox/instrumentation';
import { httpEndpoint } from '@breakerbox/instrumentation/checks';
import { type Service, startService } from '../packages/cli/src/demo/services.ts';

/** One of an agent's tools. */
export interface AgentTool {
  /** How the box treats it; may look at the service behind it. Default: as boxes do by default. */
  readonly config?: (service: Service) => ToolConfig;
  /** How it is guarded, beside its time-out. */
  readonly guard?: GuardOptions;
  /** What it is asked for in a turn. Default: something else each time, or the loop guard would step in. */
  readonly input?: (turn: number) => unknown;
}

/** How an agent works beyond calling its tools. */
export interface AgentOptions {
  /** For its box. */
  readonly box?: Pick<BreakerboxConfig, 'budget' | 'defaults'>;
  /** Planned anew with each task that it begins. Default: nothing is planned. */
  readonly tasks?: readonly Task[];
}

/** An agent that calls all of its tools over and over until it is stopped. */
export interface RunningAgent {
  readonly box: Breakerbox;
  readonly session: Session;
  /** The HTTP services behind the tools. */
  readonly services: Readonly<Record<string, Service>>;
  /** Every plan that it has made. */
  readonly plans: readonly ScopePlan[];
  /** Ends its session and its services. Nothing happens the second time. */
  stop(): Promise<void>;
}

/** Milliseconds between two steps. */
const STEP_MS = 150;
/** Turns that a task takes. */
const TASK_TURNS = 8;

/** Starts an agent with a real HTTP service behind each tool. */
export const startAgent = async (
  agent: string,
  tools: Readonly<Record<string, AgentTool>>,
  { box: config, tasks }: AgentOptions = {},
): Promise<RunningAgent> => {
  const starting = Object.keys(tools).map(async (tool) => [tool, await startService(tool, () => ({ tool }))] as const);
  const services = Object.fromEntries(await Promise.all(starting));
  const settings = Object.entries(services).map(([tool, service]) => [tool, tools[tool]?.config?.(service) ?? {}]);
  const box = createBreakerbox({ ...config, agent, tools: Object.fromEntries(settings) });
  const session = box.session({ id: `${agent}-run` });
  const calls = Object.entries(services).map(([tool, service]) => {
    const { guard: options, input = (turn: number) => ({ turn }) } = tools[tool] ?? {};
    const call = guard(
      session,
      tool,
      async (_: unknown, { signal }) => {
        const response = await fetch(service.url, { signal });
        if (!response.ok) throw Object.assign(new Error(`${tool} failed`), { status: response.status });
        return response.json();
      },
      { timeoutMs: 500, ...options },
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
        plans.push(session.planScope(tasks));
      }
      for (const call of calls) {
        await call(turn).catch((error) => {
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
    plans,
    stop: async () => {
      stopped.abort();
      await running;
      session.end();
      await Promise.all(Object.values(services).map((service) => service.close()));
    },
  };
};

/** What each call of the seller costs. */
export const TOKENS = 120;

/** Starts an agent whose calls have somewhere else to go, cost tokens, and give results of doubtful age. */
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
      // Every other time for the same city: a last good result can answer that.
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
      // It is to go on through the whole outage: few probes, and failures enough for them.
      box: { budget: { failures: 50 }, defaults: { probeAfterSteps: 10 } },
      tasks: [
        { name: 'offer', tools: ['prices'] },
        { name: 'forecast', tools: ['weather'] },
        { name: 'invitation', tools: ['quotes', 'mail'] },
      ],
    },
  );
};
