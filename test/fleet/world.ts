import { setTimeout as wait } from 'node:timers/promises';
import {
  type AgentFacts,
  type FleetAgent,
  type FleetOrders,
  type RedisAddress,
  startFleetAgent,
} from './agent-process.ts';
import type { Redis } from './redis.ts';
import { type Arrival, type SharedTool, startSharedTool } from './shared-tool.ts';

/** The tool that fails, and the one that never does. */
export const SHARED = 'web_search';
export const HEALTHY = 'calendar';

export const PROCESSES = 5;
/** Failures in a row that open a circuit, and processes that must see it open. */
export const THRESHOLD = 3;
export const QUORUM = 2;

/** Short waits, so that a scenario takes seconds. */
const PACE = {
  everyMs: 200,
  wallClockMs: 0,
  failureThreshold: THRESHOLD,
  cooldownMs: 2_000,
  maxCooldownMs: 4_000,
  probeLeaseMs: 1_000,
} as const;

/** A fleet of real processes around one real tool. */
export interface World {
  readonly tool: SharedTool;
  readonly agents: readonly FleetAgent[];
  /** Starts one more agent, which works at once. */
  join(orders?: Partial<FleetOrders>): Promise<FleetAgent>;
  /** Ends an agent as a deployment does. Returns the milliseconds that it took. */
  leave(agent: FleetAgent): Promise<number>;
  facts(): Promise<readonly AgentFacts[]>;
  /** Calls of the shared tool from a moment on. */
  arrivals(fromMs?: number): readonly Arrival[];
  close(): Promise<void>;
}

/** The address of one server, or of the nodes of a cluster. */
export const addressOf = (servers: readonly Redis[], library: RedisAddress['library'] = 'redis'): RedisAddress => ({
  library,
  ports: servers.map(({ port }) => port),
  ...(servers[0]?.ca !== undefined && { ca: servers[0].ca }),
});

/** Starts the tool and the agents, which work. `ordersOf` changes the orders of the agent of a number. */
export const startWorld = async (
  redis: RedisAddress | undefined,
  ordersOf: (number: number) => Partial<FleetOrders> = () => ({}),
): Promise<World> => {
  const tool = await startSharedTool();
  const agents: FleetAgent[] = [];
  let made = 0;
  const make = async (name: string, orders: Partial<FleetOrders>): Promise<FleetAgent> => {
    made += 1;
    const agent = await startFleetAgent({ ...PACE, name, redis, toolUrl: tool.url, ...orders });
    agents.push(agent);
    return agent;
  };
  await Promise.all(Array.from({ length: PROCESSES }, (_, number) => make(`agent-${number}`, ordersOf(number))));
  agents.sort((one, other) => (one.name < other.name ? -1 : 1));
  // Evenly in time, because processes of a real fleet do not call at the same moment.
  for (const agent of agents) {
    agent.begin();
    await wait(PACE.everyMs / PROCESSES);
  }
  return {
    tool,
    agents,
    join: async (orders = {}) => {
      const agent = await make(`agent-${made}`, orders);
      agent.begin();
      return agent;
    },
    leave: (agent) => {
      agents.splice(agents.indexOf(agent), 1);
      return agent.stop();
    },
    facts: () => Promise.all(agents.map((agent) => agent.facts())),
    arrivals: (fromMs = 0) => tool.arrivals.filter((one) => one.tool === SHARED && one.atMs >= fromMs),
    close: async () => {
      await Promise.all(agents.map((agent) => agent.kill()));
      await tool.close();
    },
  };
};

/**
 * Waits until something is so, and returns the milliseconds that it took.
 * @throws Error with what is awaited, if it is not so within the limit
 */
export const until = async (
  what: string,
  isSo: () => boolean | Promise<boolean>,
  limitMs = 20_000,
  everyMs = 50,
): Promise<number> => {
  const begun = performance.now();
  while (!(await isSo())) {
    if (performance.now() - begun > limitMs) throw new Error(`not within ${limitMs} ms: ${what}`);
    await wait(everyMs);
  }
  return performance.now() - begun;
};
