import { createBreakerbox, type ErrorCategory, type Session } from '@breakerbox/core';
import { openSeries, scrapedNumbers } from '@breakerbox/core/internal';

const MINUTE_MS = 60_000;
/** The time that is played. Panels show the last hour. */
export const PLAYED_MS = 80 * MINUTE_MS;

interface Outage {
  readonly tool: string;
  /** Minutes before the end. */
  readonly from: number;
  readonly to: number;
  readonly category: ErrorCategory;
  /** Default: all. */
  readonly agents?: readonly string[];
}

interface Story {
  /** The tools of each agent. */
  readonly agents: Readonly<Record<string, readonly string[]>>;
  readonly outages: readonly Outage[];
  /** Sessions that an agent has at the same time. */
  readonly sessions: number;
  /** The time between two samples. */
  readonly scrapeMs: number;
  /** The tokens that a turn of an agent uses on average, and those of each run's limit. Default: nothing is reported, and no run has a limit. */
  readonly spending?: { readonly turn: Readonly<Record<string, number>>; readonly limit: number };
}

/** What a token costs, in US dollars. */
const TOKEN_COST = 4e-6;

const AGENTS: Story['agents'] = {
  'research-agent': ['web_search', 'read_page', 'get_weather', 'news_search'],
  'support-agent': ['lookup_order', 'create_ticket', 'web_search', 'translate'],
  'ops-agent': ['query_logs', 'list_deployments', 'get_metrics', 'web_search'],
};

const KINDS = ['research', 'support', 'billing', 'ops', 'sales'] as const;
const fleetOf = (length: number): Story['agents'] =>
  Object.fromEntries(
    Array.from({ length }, (_, index) => [
      `${KINDS[index % KINDS.length]}-agent-${Math.floor(index / KINDS.length) + 1}`,
      ['web_search', 'query_orders', 'send_mail', `${KINDS[index % KINDS.length]}_db`],
    ]),
  );
const FLEET = fleetOf(50);

/** Simulated hours, by name. */
export const STORIES = {
  /** One tool is down for every agent. Before, an agent lost three tools in different ways, and with them its failure budget. */
  outage: {
    agents: AGENTS,
    scrapeMs: 15_000,
    sessions: 3,
    outages: [
      { tool: 'web_search', from: 13, to: 0, category: 'server' },
      { tool: 'lookup_order', from: 46, to: 38, category: 'rate_limit' },
      { tool: 'create_ticket', from: 45, to: 38, category: 'timeout' },
      { tool: 'translate', from: 44, to: 38, category: 'network' },
      { tool: 'query_logs', from: 31, to: 27, category: 'timeout' },
    ],
  },
  /** 50 agents, of which some have trouble. */
  fleet: {
    agents: FLEET,
    scrapeMs: 60_000,
    sessions: 2,
    outages: [
      { tool: 'billing_db', from: 9, to: 0, category: 'network' },
      { tool: 'send_mail', from: 35, to: 30, category: 'rate_limit', agents: ['sales-agent-3', 'support-agent-7'] },
      { tool: 'query_orders', from: 4, to: 0, category: 'timeout', agents: ['ops-agent-5'] },
    ],
  },
  /** Two services are down for their agents, and minutes ago an agent lost its network: more than 20 alerts. */
  incident: {
    agents: FLEET,
    scrapeMs: 60_000,
    sessions: 2,
    outages: [
      { tool: 'billing_db', from: 24, to: 0, category: 'network' },
      { tool: 'ops_db', from: 17, to: 0, category: 'timeout' },
      {
        tool: 'sales_db',
        from: 15,
        to: 0,
        category: 'server',
        agents: ['sales-agent-1', 'sales-agent-5', 'sales-agent-8'],
      },
      ...['web_search', 'query_orders', 'send_mail', 'research_db'].map((tool) => ({
        ...{ tool, from: 9, to: 0, category: 'network' as const, agents: ['research-agent-4'] },
      })),
    ],
  },
  /** Three services are down for 115 agents: about 200 alerts. */
  flood: {
    agents: fleetOf(115),
    scrapeMs: 60_000,
    sessions: 1,
    outages: [
      { tool: 'web_search', from: 31, to: 0, category: 'timeout' },
      { tool: 'query_orders', from: 22, to: 0, category: 'server' },
      { tool: 'send_mail', from: 13, to: 0, category: 'rate_limit' },
    ],
  },
  /** One tool of one agent is down: one alert. */
  single: {
    agents: AGENTS,
    scrapeMs: 15_000,
    sessions: 3,
    outages: [{ tool: 'translate', from: 12, to: 0, category: 'timeout' }],
  },
  /** Runs have a limit of tokens, and those of one agent reach it. */
  spending: {
    agents: AGENTS,
    scrapeMs: 15_000,
    sessions: 3,
    outages: [],
    spending: { turn: { 'research-agent': 2_400, 'support-agent': 900, 'ops-agent': 300 }, limit: 100_000 },
  },
  /** Agents that have not called a tool yet. */
  idle: { agents: AGENTS, scrapeMs: 15_000, sessions: 0, outages: [] },
} as const satisfies Record<string, Story>;
export type StoryName = keyof typeof STORIES;

/** Numbers from 0 to 1, the same in each run. */
const dice = (seed: number) => (): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
};

/** Keeps the samples of each series together, as OpenMetrics wants them. */
const recorder = () => {
  const reader = openSeries({ insteadOfSdk: true, exemplars: false });
  const lines = new Map<string, string[]>();
  const scrape = (atMs: number): void => {
    const add = (name: string, attributes: object, value: number): void => {
      const labels = Object.entries(attributes).map(([key, text]) => `${key.replaceAll('.', '_')}="${text}"`);
      const series = `${name}{${['job="agents"', 'instance="agents:9464"', ...labels].join(',')}}`;
      const own = lines.get(series) ?? [];
      lines.set(series, own);
      own.push(`${series} ${value} ${atMs / 1000}`);
    };
    for (const metric of reader.metrics()) {
      const name = metric.prometheus;
      for (const { attributes, value } of scrapedNumbers(reader, metric)) add(name, attributes, value);
      for (const { attributes, counts, sum } of reader.histograms(metric)) {
        let below = 0;
        for (const [index, count] of counts.entries()) {
          below += count;
          add(`${name}_bucket`, { ...attributes, le: metric.bounds?.[index] ?? '+Inf' }, below);
        }
        add(`${name}_count`, attributes, below);
        add(`${name}_sum`, attributes, sum);
      }
    }
  };
  return { scrape, samples: (): readonly string[] => [...lines.values()].flat(), close: () => reader.close() };
};

/**
 * More than an hour of a fleet, played by the engine itself with a clock of its own.
 * @returns lines of OpenMetrics
 */
export const played = (name: StoryName, toMs: number): readonly string[] => {
  const { agents, outages, sessions, scrapeMs, spending }: Story = STORIES[name];
  const cost = { amount: spending ? spending.limit * TOKEN_COST : 0, currency: 'USD', mode: 'observe' } as const;
  const limits = spending && { limits: { tokens: spending.limit, cost } };
  const random = dice(7);
  let now = toMs - PLAYED_MS;
  const clock = { now: () => now, unixNow: () => now };
  const { scrape, samples, close } = recorder();
  const boxes = Object.entries(agents).map(([agent, tools]) => {
    const open = { alternatives: [{ tool: tools[1] ?? '', degradation: 'low' as const }] };
    const configured = Object.fromEntries(tools.map((tool, index) => [tool, index === 0 ? open : {}]));
    return {
      agent,
      tools,
      box: createBreakerbox({ agent, tools: configured, clock, ...limits }),
      live: [] as Session[],
    };
  });
  const failing = (agent: string, tool: string): Outage | undefined =>
    outages.find(({ from, to, ...outage }: Outage) => {
      const before = (toMs - now) / MINUTE_MS;
      return outage.tool === tool && before <= from && before > to && (outage.agents ?? [agent]).includes(agent);
    });

  for (; now <= toMs; now += scrapeMs) {
    for (const { agent, tools, box, live } of boxes) {
      while (live.length < sessions) live.push(box.session({ id: `${agent}-${random()}` }));
      for (const [index, session] of live.entries()) {
        for (const tool of tools.filter(() => random() < 0.3)) {
          const permit = session.acquire(tool);
          if (permit.decision !== 'call' && permit.decision !== 'probe') continue;
          const outage = failing(agent, tool);
          const failed = outage?.category ?? (random() < 0.01 ? 'network' : undefined);
          const durationMs = failed === 'timeout' ? 10_000 : 80 + 400 * random() ** 3;
          permit.settle(
            failed === undefined
              ? { outcome: 'success', durationMs }
              : { outcome: 'failure', category: failed, durationMs, tokens: 120 },
          );
        }
        session.step();
        const { state } = session.view();
        const tokens = Math.round((spending?.turn[agent] ?? 0) * (0.5 + (spending ? random() : 0)));
        if (tokens > 0 && state === 'active') session.spend({ tokens, cost: tokens * TOKEN_COST });
        // A person looks after some minutes.
        if (state !== 'active' && random() < 0.06) {
          session.confirmRecovered();
          session.resume();
          if (state === 'paused_limit') session.extend('tokens', 50_000);
        }
        // A conversation takes about ten minutes.
        if (random() < 0.025) {
          session.end();
          live.splice(index, 1);
        }
      }
    }
    scrape(now);
  }
  close();
  for (const { live } of boxes) for (const session of live) session.end();
  return samples();
};
