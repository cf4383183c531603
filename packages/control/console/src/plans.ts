import type { OperatorAction } from '@breakerbox/core';
import type { ConsoleAction } from '../../src/console/console-state.ts';
import type { LimitState } from '../../src/schema.ts';
import type { AgentOverview, ForcedTool, LiveSession } from './overview.ts';
import { amountWords, count, limitName, list, pauseTitle, STATE_WORDS } from './words.ts';

/** What an operator wants to do, before it is confirmed. What it expects is that of the moment when the button was pressed. */
export type Intent =
  | { readonly kind: 'resume' | 'confirm'; readonly sessions: readonly [LiveSession, ...LiveSession[]] }
  | {
      readonly kind: 'extend';
      readonly sessions: readonly [LiveSession];
      readonly limit: LimitState;
      readonly path: string;
    }
  | { readonly kind: ForceKind; readonly agent: AgentOverview; readonly tool: string }
  | { readonly kind: 'release'; readonly agent: AgentOverview; readonly mode: ForcedTool };

/** Actions that force a mode. A new action of core is a type error below: give it words there, or name it here, and in {@link Intent}. */
export type ForceKind = Exclude<OperatorAction, 'resume' | 'confirm' | 'extend' | 'release'>;

/** Of a part of the page that acts on an agent. */
export interface AgentProps {
  readonly agent: AgentOverview;
  /** Opens the dialog. */
  act(intent: Intent): void;
}

/** What the operator writes in the dialog. */
export interface Details {
  readonly reason: string;
  readonly expiresInMs: number;
  /** Empty for all sessions. */
  readonly session: string;
  /** How much larger a limit becomes, in the unit that the dialog names. */
  readonly amount: number;
}

/** A dialog for an intent. */
export interface Plan {
  readonly title: string;
  /** What will happen. */
  readonly effects: readonly string[];
  /** On the button. */
  readonly verb: string;
  /** Whether the API wants a reason and an expiry. */
  readonly asksWhy: boolean;
  /** Asks how much larger a limit becomes. */
  readonly amount?: { readonly label: string; readonly step: number; readonly proposed: number };
  actions(details: Details): readonly ConsoleAction[];
}

export const FORCE_WORDS: Readonly<Record<ForceKind, string>> = {
  force_open: 'Force open',
  disable: 'Disable circuit',
  observe: 'Observe',
};

const FORCE_EFFECTS: Readonly<Record<ForceKind, readonly string[]>> = {
  force_open: [
    'Every call of this tool is rejected from the next call on. The model reads that the tool is unavailable, and what to use instead, if there is a fallback.',
    'No probe goes out until the mode ends.',
  ],
  disable: [
    'Every call of this tool passes. Failures open no circuit and cost no budget.',
    'Paused sessions stay paused.',
  ],
  observe: [
    'Every call of this tool passes, even in a paused session.',
    'Breakerbox counts what it would have decided.',
    'Failures pause no session.',
  ],
};

export const planOf = (intent: Intent): Plan => {
  switch (intent.kind) {
    case 'resume':
      return planResume(intent.sessions);
    case 'confirm':
      return planConfirm(intent.sessions);
    case 'extend':
      return planExtend(intent.sessions[0], intent.limit, intent.path);
    case 'release':
      return planRelease(intent.agent, intent.mode);
    default:
      return planForce(intent.kind, intent.agent, intent.tool);
  }
};

const sessionsNamed = (sessions: readonly LiveSession[]): string =>
  sessions.length === 1 ? `session ${sessions[0]?.session.id}` : count(sessions.length, 'session');

const subjectOf = ({ length }: readonly LiveSession[]): string => (length === 1 ? 'The session' : 'Each session');

const planResume = (sessions: readonly LiveSession[]): Plan => ({
  title: `Resume ${sessionsNamed(sessions)}`,
  effects: [
    `${subjectOf(sessions)} gets a full budget of ${list([...new Set(sessions.map(({ session }) => `${session.budget.limit}`))])} failures again. It calls its tools, unless a correlated failure still pauses it.`,
    'Circuits stay as they are: a tool that is unavailable is probed first.',
    'If the cause is still there, it pauses again.',
  ],
  verb: 'Resume',
  asksWhy: false,
  actions: () =>
    sessions.map(({ agent, endpoint, session }) => ({
      action: { action: 'resume', agent, session: session.id, cycle: session.budget.cycle },
      endpoint: endpoint.id,
    })),
});

const planConfirm = (sessions: readonly LiveSession[]): Plan => ({
  title: `Confirm recovery: ${sessionsNamed(sessions)}`,
  effects: [
    `You confirm that the failure of ${list([...new Set(sessions.flatMap(({ session }) => session.event?.tools ?? []))])} is over.`,
    `${subjectOf(sessions)} goes on, unless its failure budget is used up. Its tools are probed one after the other.`,
    'If the cause is still there, it pauses again.',
  ],
  verb: 'Confirm recovery',
  asksWhy: false,
  actions: () =>
    sessions.flatMap(({ agent, endpoint, session }) =>
      session.event === undefined
        ? []
        : [
            {
              action: { action: 'confirm', agent, session: session.id, event: session.event.id },
              endpoint: endpoint.id,
            },
          ],
    ),
});

/** A person thinks of minutes. */
const unitMs = (limit: LimitState['limit']): number => (limit === 'durationMs' ? 60_000 : 1);

/** `path`: the exact name of the session or sub-agent that has the limit. */
const planExtend = ({ agent, endpoint, session }: LiveSession, limit: LimitState, path: string): Plan => {
  const { limit: kind, size, currency } = limit;
  const unit = unitMs(kind);
  const isMoney = kind === 'cost';
  const isOwn = path === session.id;
  return {
    title: `Extend the limit of ${limitName(kind)}: ${isOwn ? 'session' : 'sub-agent'} ${path}`,
    effects: [
      `The limit is ${amountWords(size, limit)} now, and grows by the amount that you write.`,
      ...(limit.limit === 'durationMs' ? ['A tenth of it is kept for the final answer.'] : []),
      ...(isOwn ? [] : ['The same limit of each session above it grows too.']),
      'A run that this limit pauses goes on at its next call. The failure budget and the circuits stay as they are.',
    ],
    verb: 'Extend',
    asksWhy: false,
    amount: {
      label: `How much more, in ${kind === 'durationMs' ? 'minutes' : isMoney ? (currency ?? 'money') : limitName(kind)}`,
      step: isMoney ? 0.01 : 1,
      proposed: isMoney ? Math.max(0.01, Math.round(size * 10) / 100) : Math.max(1, Math.round(size / unit / 10)),
    },
    actions: ({ amount }) => [
      {
        action: {
          action: 'extend',
          agent,
          session: path,
          limit: kind,
          by: amount * unit,
          size,
        },
        endpoint: endpoint.id,
      },
    ],
  };
};

const planForce = (action: ForceKind, { name, versions }: AgentOverview, tool: string): Plan => ({
  title: `${FORCE_WORDS[action]}: ${tool}`,
  effects: [
    ...FORCE_EFFECTS[action],
    'The mode ends by itself after the time that you choose. Release ends it earlier.',
  ],
  verb: FORCE_WORDS[action],
  asksWhy: true,
  actions: ({ reason, expiresInMs, session }) => [
    { action: { action, agent: name, tool, reason, expiresInMs, ...(session !== '' && { session }) }, versions },
  ],
});

const planRelease = ({ name, versions }: AgentOverview, { tool, mode, owner, session }: ForcedTool): Plan => ({
  title: `Release: ${tool}`,
  effects: [
    `The mode '${STATE_WORDS[mode]}' that ${owner} forced on ${tool} ends. Modes of other owners stay.`,
    'If no other mode covers it, the circuit returns to its earlier state, which may be open.',
  ],
  verb: 'Release',
  asksWhy: false,
  actions: () => [{ action: { action: 'release', agent: name, tool, owner, session }, versions }],
});

const sessionsOf = (intent: Intent): readonly LiveSession[] => ('sessions' in intent ? intent.sessions : []);

const pausedWords = (agents: readonly AgentOverview[], { agent, session: { id } }: LiveSession): string | undefined => {
  const own = agents.find(({ name }) => name === agent);
  const paused = own?.paused.find(({ session }) => session.id === id);
  return paused && `Session ${id} is now paused: ${pauseTitle(paused)}.`;
};

/** Sessions that an action leaves paused, such as for a budget that an event has used up. */
export const stillPaused = (intent: Intent, agents: readonly AgentOverview[]): readonly string[] =>
  sessionsOf(intent).flatMap((one) => pausedWords(agents, one) ?? []);

/** The state that an operator finds after a stale request. */
export const currentWords = (intent: Intent, agents: readonly AgentOverview[]): readonly string[] =>
  sessionsOf(intent).map((one) => pausedWords(agents, one) ?? activeWords(agents, one));

const activeWords = (agents: readonly AgentOverview[], { agent, session: { id } }: LiveSession): string => {
  const own = agents.find(({ name }) => name === agent);
  const active = [...(own?.troubled ?? []), ...(own?.quiet ?? [])].find(({ session }) => session.id === id);
  if (active === undefined) return `Session ${id} has ended.`;
  const { remaining, limit } = active.session.budget;
  return `Session ${id} is now active, with ${remaining} of ${limit} failures left.`;
};
