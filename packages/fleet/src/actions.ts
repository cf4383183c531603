import type { ForcedMode, ForcedModeView, Operator } from '@breakerbox/core/control';
import type { SharedCircuits } from '@breakerbox/core/fleet';
import { isObject, safely, warn } from '@breakerbox/core/internal';
import type { StoredAction, Word } from './protocol.ts';
import type { Heard, Reader } from './reader.ts';
import type { Runtime } from './runtime.ts';

/** Which mode of which agent. An owner has at most one for each tool. */
interface Target {
  readonly agent: string;
  readonly tool: string;
  readonly owner: string;
}

/** An action of an operator on all processes of an agent, as JSON in the store. */
export type FleetAction = Target & {
  /** Earlier actions on the same mode. A process that has not heard of this one may bring them back to a store that lost its data. */
  readonly over: readonly string[];
} & ({ readonly do: 'force'; readonly mode: ForcedMode; readonly reason: string } | { readonly do: 'release' });

const MODES: readonly ForcedMode[] = ['forced_open', 'disabled', 'observe_only'];

/** The store keeps no longer texts. */
const LONGEST_BODY = 2_000;
const LONGEST_REASON = 500;

/** Reads what another process wrote. Undefined for an action that this release does not know. */
export const parseAction = (body: string): FleetAction | undefined => {
  const action: unknown = safely('reading an action of the fleet', () => JSON.parse(body));
  if (!isObject(action)) return undefined;
  const { do: what, agent, tool, owner, mode, reason, over: ids } = action as Record<string, unknown>;
  if (typeof agent !== 'string' || typeof tool !== 'string' || typeof owner !== 'string') return undefined;
  const over = Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  if (what === 'release') return { do: 'release', agent, tool, owner, over };
  const known = MODES.find((one) => one === mode);
  return what === 'force' && known !== undefined && typeof reason === 'string'
    ? { do: 'force', agent, tool, owner, mode: known, reason, over }
    : undefined;
};

/** Carries the forced modes of one box to the other processes, and theirs to this box: those of shared tools only (G2, G8). */
export interface ActionSync {
  /** Carries out what the store lists and this box has not done, in the order in which it was asked for. */
  onWord(word: Word): void;
  /** Sends what was forced or released in this box. */
  send(): void;
  /** The listed actions that this box has carried out. */
  carriedOut(): readonly string[];
}

/** The latest action on a mode of the whole box. */
interface Latest {
  readonly id: string;
  readonly action: FleetAction;
  readonly body: string;
  /** Undefined for a release. */
  readonly sinceUnixMs: number | undefined;
  /** A release counts until the mode that it ended would have expired. */
  readonly untilMs: number;
}

/** An action that the store does not know yet. */
interface Message {
  readonly id: string;
  readonly body: string;
  readonly untilMs: number;
}

/** More wait only where a store has been away for long. The oldest is dropped. */
const MOST_MESSAGES = 400;
/** Longer than any store keeps. The oldest is forgotten. */
const MOST_DONE = 1_000;
/** They fit into a body. */
const MOST_OVER = 16;

export const syncActions = (
  { agent, isShared }: Pick<SharedCircuits, 'agent' | 'isShared'>,
  operator: Operator,
  reader: Reader,
  runtime: Runtime,
): ActionSync => {
  /** By tool and owner, because an owner has at most one mode for each tool. */
  const latest = new Map<string, Latest>();
  /** Actions that a later one has replaced. */
  const replaced = new Map<string, number>();
  /** What was carried out here. */
  const done = new Set<string>();
  /** Modes that the fleet cannot carry. */
  const local = new Set<string>();
  const messages = new Map<string, Message>();
  let seenVersion: number | undefined;
  let isSending = false;

  const keyOf = ({ tool, owner }: Pick<Target, 'tool' | 'owner'>): string => `${owner}\n${tool}`;

  const queue = (message: Message): void => {
    const [oldest] = messages.keys();
    if (messages.size >= MOST_MESSAGES && oldest !== undefined) messages.delete(oldest);
    messages.set(message.id, message);
  };

  const finish = (id: string): void => {
    const [oldest] = done;
    if (done.size >= MOST_DONE && oldest !== undefined) done.delete(oldest);
    done.add(id);
  };

  /** The actions that one after `before` replaces. */
  const overAfter = (before: Latest | undefined): readonly string[] =>
    before === undefined ? [] : [...before.action.over, before.id].slice(-MOST_OVER);

  const remember = (key: string, one: Latest): void => {
    for (const [old, { sinceUnixMs, untilMs }] of latest)
      if (sinceUnixMs === undefined && untilMs <= runtime.now()) latest.delete(old);
    for (const [old, untilMs] of replaced) if (untilMs <= runtime.now()) replaced.delete(old);
    for (const id of one.action.over) replaced.set(id, one.untilMs);
    latest.set(key, one);
  };

  /** W2: once for each tool and owner. */
  const warnLocal = (key: string, length: number): void => {
    if (local.has(key) || local.size >= MOST_DONE) return;
    local.add(key);
    warn(
      `an operator's mode stays in this process, because it takes ${length} characters and the fleet carries ${LONGEST_BODY}. Give shorter names of the tool, the owner and the agent.`,
    );
  };

  const publish = (key: string, action: FleetAction, sinceUnixMs: number | undefined, untilMs: number): void => {
    const body = JSON.stringify(action);
    if (body.length > LONGEST_BODY) {
      warnLocal(key, body.length);
      return;
    }
    const id = runtime.id();
    finish(id);
    queue({ id, body, untilMs });
    remember(key, { id, action, body, sinceUnixMs, untilMs });
  };

  /** Finds what was forced or released here. What came from the fleet is in `latest` already, and is not sent again. */
  const findOwn = (): void => {
    if (operator.version === seenVersion) return;
    const ofBox = operator.modes().filter(({ tool, session }) => session === undefined && isShared(tool));
    const now = new Map(ofBox.map((mode) => [keyOf(mode), mode]));
    for (const [key, mode] of now) if (latest.get(key)?.sinceUnixMs !== mode.sinceUnixMs) publishMode(key, mode);
    for (const [key, forced] of [...latest]) {
      if (now.has(key) || forced.sinceUnixMs === undefined) continue;
      latest.delete(key);
      const { tool, owner } = forced.action;
      const release = { do: 'release', agent, tool, owner, over: overAfter(forced) } as const;
      if (forced.untilMs > runtime.now()) publish(key, release, undefined, forced.untilMs);
    }
    seenVersion = operator.version;
  };

  const publishMode = (key: string, { tool, owner, mode, reason, sinceUnixMs, untilUnixMs }: ForcedModeView): void => {
    const untilMs = runtime.now() + untilUnixMs - runtime.unixNow();
    const over = overAfter(latest.get(key));
    publish(
      key,
      { do: 'force', agent, tool, owner, mode, reason: reason.slice(0, LONGEST_REASON), over },
      sinceUnixMs,
      untilMs,
    );
  };

  /** Someone who can write to the store can force only what this box shares. A tool may be declared later. */
  const carryOut = ({ id, body, leftMs: storedMs, heardMs }: Heard<StoredAction>): void => {
    const action = parseAction(body);
    const untilMs = heardMs + storedMs;
    const leftMs = untilMs - runtime.now();
    if (action === undefined || action.agent !== agent || !isShared(action.tool) || leftMs <= 0) return;
    const { tool, owner } = action;
    finish(id);
    if (replaced.has(id)) return;
    const key = keyOf(action);
    if (action.do === 'release') {
      remember(key, { id, action, body, sinceUnixMs: undefined, untilMs });
      operator.release(tool, { owner, isCounted: false });
      return;
    }
    const { mode, reason } = action;
    const quietly = { isDeclared: false, isCounted: false };
    const { sinceUnixMs } = operator.force(tool, { mode, owner, reason, expiresInMs: leftMs, ...quietly });
    remember(key, { id, action, body, sinceUnixMs, untilMs });
  };

  /** G7: a store that has lost the actions gets back those that still count, releases too. */
  const restore = (listed: ReadonlySet<string>): void => {
    for (const { id, body, untilMs } of latest.values()) if (!listed.has(id)) queue({ id, body, untilMs });
  };

  const sendAll = async (): Promise<void> => {
    for (const [id, { body, untilMs }] of messages) {
      const forMs = Math.ceil(untilMs - runtime.now());
      if (forMs > 0 && (await reader.write((store) => store.control({ id, body, forMs }))) === undefined) return;
      messages.delete(id);
    }
  };

  return {
    onWord: ({ actions, whole }) => {
      safely('an action of the fleet', findOwn);
      for (const action of reader.knowledge.actions.values())
        if (!done.has(action.id)) safely('an action of the fleet', () => carryOut(action));
      seenVersion = operator.version;
      if (whole) restore(new Set(actions.map(({ id }) => id)));
    },
    send: () => {
      safely('an action of the fleet', findOwn);
      if (isSending || messages.size === 0 || !reader.knowledge.answers) return;
      isSending = true;
      const sent = sendAll().then(() => {
        isSending = false;
      });
      void sent;
    },
    carriedOut: () => [...reader.knowledge.actions.keys()].filter((id) => done.has(id)),
  };
};
