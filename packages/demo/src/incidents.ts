import { setTimeout as wait } from 'node:timers/promises';
import type { AgentName } from './agent-names.ts';
import type { FleetOptions, World } from './agents.ts';
import type { Journal } from './journal.ts';

/** A real failure of a service that lasts for a while. */
export interface Incident {
  /** Milliseconds from the start of a cycle. */
  readonly beginMs: number;
  readonly endMs: number;
  /** The text for the view. */
  readonly title: string;
  /** The agent whose tools it affects. */
  readonly agent: AgentName;
  /** `pace`: how many times longer it lasts than in the script. */
  begin(world: World, pace: number): Promise<void>;
  end(world: World): Promise<void>;
}

/** Length of a cycle in milliseconds, at pace 1; then the script begins again. */
export const CYCLE_MS = 75_000;

const RATE_LIMIT_MS = 9000;

/** The script. Each incident shows one feature of the engine; README.md describes them. */
export const INCIDENTS: readonly Incident[] = [
  {
    beginMs: 4000,
    endMs: 4000 + RATE_LIMIT_MS,
    title: 'tickets answers 429 with Retry-After',
    agent: 'support-agent',
    begin: ({ services }, pace) => services.tickets.break({ kind: 'rate_limit', forMs: RATE_LIMIT_MS * pace }),
    end: ({ services }) => services.tickets.repair(),
  },
  {
    beginMs: 14_000,
    endMs: 21_000,
    title: 'search answers 503',
    agent: 'research-agent',
    begin: ({ services }) => services.search.break({ kind: 'unavailable' }),
    end: ({ services }) => services.search.repair(),
  },
  {
    beginMs: 17_000,
    endMs: 31_000,
    title: 'the provider of the first model answers 503',
    agent: 'support-agent',
    begin: ({ services }) => services.claude.break({ kind: 'unavailable' }),
    end: ({ services }) => services.claude.repair(),
  },
  {
    beginMs: 18_000,
    endMs: 26_000,
    title: 'the MCP server is killed',
    agent: 'ops-agent',
    begin: ({ mcp }) => mcp.kill(),
    end: ({ mcp }) => mcp.restart(),
  },
  {
    beginMs: 27_000,
    endMs: 33_000,
    title: 'pages answers 503, and a pre-call check notices it',
    agent: 'research-agent',
    begin: ({ services }) => services.pages.break({ kind: 'unavailable' }),
    end: ({ services }) => services.pages.repair(),
  },
  {
    beginMs: 34_000,
    endMs: 46_000,
    title: 'deployments answers 503',
    agent: 'ops-agent',
    begin: ({ services }) => services.deployments.break({ kind: 'unavailable' }),
    end: ({ services }) => services.deployments.repair(),
  },
  {
    beginMs: 38_000,
    endMs: 46_000,
    title: 'logs hangs',
    agent: 'ops-agent',
    begin: ({ services }) => services.logs.break({ kind: 'hang' }),
    end: ({ services }) => services.logs.repair(),
  },
  {
    beginMs: 52_000,
    endMs: 60_000,
    title: 'proxy down: search and weather refuse connections',
    agent: 'research-agent',
    begin: async ({ services }) => {
      await Promise.all([services.search.break({ kind: 'refuse' }), services.weather.break({ kind: 'refuse' })]);
    },
    end: async ({ services }) => {
      await Promise.all([services.search.repair(), services.weather.repair()]);
    },
  },
  {
    beginMs: 52_000,
    endMs: 60_000,
    title: 'orders answers 503',
    agent: 'support-agent',
    begin: ({ services }) => services.orders.break({ kind: 'unavailable' }),
    end: ({ services }) => services.orders.repair(),
  },
];

/** Plays the script of these agents again and again. Resolves when `signal` fires. */
export const playIncidents = async (
  world: World,
  { names, pace }: FleetOptions,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> => {
  const changes = INCIDENTS.filter(({ agent }) => names.includes(agent))
    .flatMap((incident) => [
      { atMs: incident.beginMs, incident, act: incident.begin, word: 'begins' as const },
      { atMs: incident.endMs, incident, act: incident.end, word: 'ends' as const },
    ])
    .sort((a, b) => a.atMs - b.atMs);

  for (let cycle = 0; !signal.aborted; cycle += 1) {
    journal.cycle(cycle + 1);
    for (const { atMs, incident, act, word } of changes) {
      if (!(await until(journal, (cycle * CYCLE_MS + atMs) * pace, signal))) return;
      await act(world, pace);
      journal.incident(incident.title, word);
    }
    await until(journal, (cycle + 1) * CYCLE_MS * pace, signal);
  }
};

/** Waits by the journal's clock, so that slow restarts don't add up. Returns false if `signal` fired. */
const until = async (journal: Journal, atMs: number, signal: AbortSignal): Promise<boolean> => {
  try {
    await wait(Math.max(0, atMs - journal.elapsedMs()), undefined, { signal });
    return true;
  } catch {
    return false;
  }
};
