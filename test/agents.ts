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
import { followEvents, type LedgerOfEvents } from './ledger.ts';

/** One of an agent's tools. */
export interface AgentTool {
  /** The service behind it, where somebody else runs that. Default: one of the agent's own. */
  readonly url?: string;
  /** How the box treats it; may look at the service behind it. Default: as boxes do by default. */
  readonly config?: (service: { readonly url: string }) => ToolConfig;
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
  /** What its box has told since it began. */
  readonly events: LedgerOfEvents;
  /** The HTTP services behind the tools that were given none. */
  readonly services: Readonly<Record<string, Service>>;
  /** Every plan that it has made. */
  readonly plans: readonly ScopePlan[];
  /** Ends its session and its services. Nothing happens the second time. */
  stop(): Promise<void>;
}

/** Milliseconds between two steps. */
const STEP_MS = 150;
/** Long enough for a machine that is busy: what comes too late costs budget. */
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
