/** The agents of the incident: each has one trouble, or none. They call their tools again and again, and run no service. */
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Breakerbox,
  type BreakerboxConfig,
  createBreakerbox,
  type ErrorCategory,
  type Session,
} from '@breakerbox/core';

const TURN_MS = 100;

/** How a tool answers in a turn. */
export type Answer =
  | 'success'
  | { readonly category: ErrorCategory; readonly retryAfterMs?: number; readonly blames?: 'group' };
export type Answers = Readonly<Record<string, (turn: number, input: unknown) => Answer>>;

interface Troubled {
  readonly config?: Omit<BreakerboxConfig, 'agent'>;
  /** The tools of each of its sessions. */
  readonly sessions: readonly Answers[];
  /** The input of a call. */
  readonly input?: (turn: number) => unknown;
  /** Done once, before the first turn. */
  readonly before?: (session: Session) => void;
  /** Its sessions end as soon as they are paused, and none follows. */
  readonly leaves?: boolean;
}

export interface IncidentAgent {
  readonly box: Breakerbox;
  /** From now on its tools fail as it says. Before, all of them work. */
  begin(): void;
  stop(): Promise<void>;
}

const well = (): Answer => 'success';
const fails = (category: ErrorCategory, retryAfterMs?: number) => (): Answer => ({
  category,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});

/** The connection of the server ended, as when its process is killed (C13). */
const isGone = (): Answer => ({ category: 'network', blames: 'group' });

/** An event of several tools would take over where each tool is a trouble of its own. */
const ALONE = { systemic: false, budget: { failures: 100_000 } } as const;
const EGRESS = { dependsOn: ['egress'] };
const DATABASE = { dependsOn: ['database'] };

/** Longer than the test: no probe is made. */
const NEVER = { cooldownMs: 3_600_000 };

/** One circuit of so many is no outage of the tool. */
const CROWD = 25;

/** Twenty minutes of the rules. */
const WAIT_MS = 30_000;

export const TROUBLES = {
  'quiet-agent': { sessions: [{ search: well, mail: well }] },
  'research-agent': { config: ALONE, sessions: [{ web_search: fails('server'), notes: well }] },
  'flap-agent': {
    config: ALONE,
    sessions: [{ create_ticket: (turn) => (turn % 24 < 3 ? { category: 'server' } : 'success'), notes: well }],
  },
  'ocr-agent': {
    config: ALONE,
    sessions: [{ ocr: (turn) => ([0, 1, 3].includes(turn % 5) ? { category: 'server' } : 'success') }],
  },
  'key-agent': {
    config: { ...ALONE, tools: { read_page: { key: (input: unknown) => String(input) } } },
    sessions: [{ read_page: (_, host) => (host === 'dead.example' ? { category: 'network' } : 'success') }],
    input: (turn: number) => (turn % 100 === 0 ? 'well.example' : 'dead.example'),
  },
  'waiting-agent': { config: ALONE, sessions: [{ quotes: fails('rate_limit', WAIT_MS), notes: well }] },
  'forced-agent': {
    config: ALONE,
    sessions: [{ charge_card: well, notes: well }],
    before: (session: Session) => session.control('charge_card', 'forced_open'),
  },
  'strict-agent': {
    config: { budget: { failures: 3 }, systemic: false },
    sessions: [{ deploy: fails('server'), logs: fails('timeout'), notes: well }],
  },
  'leaving-agent': {
    config: { budget: { failures: 3 }, systemic: false },
    sessions: [{ deploy: fails('server'), logs: fails('timeout') }],
    leaves: true,
  },
  'mcp-agent': {
    config: { ...ALONE, tools: { read_file: { group: 'mcp' }, list_files: { group: 'mcp' } } },
    sessions: [{ read_file: isGone, list_files: isGone, notes: well }],
  },
  'stuck-agent': {
    config: { ...ALONE, tools: { render: NEVER } },
    sessions: [{ render: fails('server'), notes: well }],
  },
  'starved-agent': {
    config: { ...ALONE, tools: { render: NEVER } },
    sessions: [{ render: fails('server') }, ...Array.from({ length: CROWD }, () => ({ render: well }))],
  },
  'shared-agent': {
    config: { scope: 'process', budget: { failures: 100_000 }, tools: { blob: DATABASE, sql: DATABASE } },
    sessions: [{ blob: fails('server') }, { sql: fails('server') }, { notes: well }],
  },
  'gateway-agent': {
    config: { tools: { weather: EGRESS, search: EGRESS, translate: EGRESS } },
    sessions: [{ weather: fails('network'), search: fails('network'), translate: fails('network') }],
  },
  'split-agent': {
    config: ALONE,
    sessions: [{ blob: fails('timeout') }, { sql: fails('timeout') }, { queue: fails('timeout') }],
  },
  'crm-agent-1': { config: ALONE, sessions: [{ crm_api: fails('network'), notes: well }] },
  'crm-agent-2': { config: ALONE, sessions: [{ crm_api: fails('network'), notes: well }] },
  'crm-agent-3': { config: ALONE, sessions: [{ crm_api: fails('network'), notes: well }] },
} as const satisfies Record<string, Troubled>;

/** Starts an agent. All of its tools work until its trouble begins. */
export const startIncidentAgent = (agent: keyof typeof TROUBLES): IncidentAgent => {
  const { config, sessions, input, before, leaves = false }: Troubled = TROUBLES[agent];
  const names = [...new Set(sessions.flatMap((tools) => Object.keys(tools)))];
  const tools = { ...Object.fromEntries(names.map((name) => [name, {}])), ...config?.tools };
  const box = createBreakerbox({ ...config, agent, tools });
  const stopped = new AbortController();
  let began = false;

  const sessionOf = async (answers: Answers, id: number): Promise<void> => {
    const session = box.session({ id: `${agent}-${id}` });
    let isNew = true;
    for (let turn = 0; !stopped.signal.aborted; turn += 1) {
      if (began && isNew) before?.(session);
      isNew = !began;
      for (const [tool, answer] of Object.entries(answers)) {
        const given = input?.(turn);
        const permit = session.acquire(tool, given === undefined ? undefined : { input: given });
        if (permit.decision === 'pause' && leaves) return session.end();
        if (permit.decision === 'skip' || permit.decision === 'pause') continue;
        const result = began ? answer(turn, given) : 'success';
        if (result === 'success') permit.settle({ outcome: 'success' });
        else permit.settle({ outcome: 'failure', ...result, ...(given !== undefined && { blames: 'key' as const }) });
      }
      session.step();
      await wait(TURN_MS);
    }
    session.end();
  };
  const working = Promise.all(sessions.map(sessionOf));
  return {
    box,
    begin: () => {
      began = true;
    },
    stop: async () => {
      stopped.abort();
      await working;
    },
  };
};
