import type { ForcedModeView, Operator } from '@breakerbox/core/control';
import type { SharedCircuits } from '@breakerbox/core/fleet';
import { safely, warn } from '@breakerbox/core/internal';
import { agentTopic, type FleetAction, keyOf, parseAction } from './fleet-action.ts';
import type { StoredAction } from './protocol.ts';
import type { Heard, Reader } from './reader.ts';
import type { Runtime } from './runtime.ts';

/** The store keeps no longer texts. */
const LONGEST_BODY = 2_000;
const LONGEST_REASON = 500;

/** Carries the forced modes of one box to the other processes, and theirs to this box: those of shared tools only (G2, G8). */
export interface ActionSync {
  /** Carries out what the store lists and this box has not done. `isAll`: it has just listed everything. */
  onWord(isAll: boolean): void;
  /** Sends what was forced or released in this box. */
  send(): void;
  /** What this box listens to while the store has an action of its agent: the agent's topic, and the actions that it has carried out. */
  topics(): readonly string[];
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
  readonly askedMs: number;
  /** {@link StoredAction.made}; undefined if the store has not had it yet. */
  readonly made: number | undefined;
  /** {@link SentAction.after}. */
  readonly after: number;
}

/** After so many tools and owners, modes that stay local are not told any more. */
const MOST_TOLD = 1_000;

export const syncActions = (
  { agent, isShared }: Pick<SharedCircuits, 'agent' | 'isShared'>,
  operator: Operator,
  reader: Reader,
  runtime: Runtime,
): ActionSync => {
  const latest = new Map<string, Latest>();
  /** Keys of actions that the store does not know yet. */
  const unsent = new Set<string>();
  /** Modes that the fleet cannot carry. */
  const local = new Set<string>();
  let seenVersion: number | undefined;
  let isSending = false;

  const remember = (key: string, one: Latest): void => {
    for (const [old, { sinceUnixMs, untilMs }] of latest)
      if (sinceUnixMs === undefined && untilMs <= runtime.now()) latest.delete(old);
    latest.set(key, one);
  };

  /** W2: once for each mode. */
  const warnLocal = (key: string, why: string): void => {
    if (local.has(key) || local.size >= MOST_TOLD) return;
    local.add(key);
    warn(`an operator's mode stays in this process, because ${why}`);
  };

  const publish = (action: FleetAction, sinceUnixMs: number | undefined, untilMs: number): void => {
    const key = keyOf(action);
    const body = JSON.stringify(action);
    if (body.length > LONGEST_BODY) {
      const why = `it takes ${body.length} characters and the fleet carries ${LONGEST_BODY}.`;
      warnLocal(key, `${why} Give shorter names of the tool, the owner and the agent.`);
      return;
    }
    const before = latest.get(key);
    const after = Math.max(before?.made ?? before?.after ?? 0, reader.knowledge.actions.get(key)?.made ?? 0);
    const askedMs = runtime.now();
    remember(key, { id: runtime.id(), action, body, sinceUnixMs, untilMs, askedMs, made: undefined, after });
    unsent.delete(key); // So that it comes last.
    unsent.add(key);
  };

  /** Finds what was forced or released here. What came from the fleet is in `latest` already, and is not sent again. */
  const findOwn = (): void => {
    if (operator.version === seenVersion) return;
    const ofBox = operator.modes().filter(({ tool, session }) => session === undefined && isShared(tool));
    const now = new Map(ofBox.map((mode) => [keyOf({ agent, ...mode }), mode]));
    for (const [key, mode] of now) if (latest.get(key)?.sinceUnixMs !== mode.sinceUnixMs) publishMode(mode);
    for (const [key, forced] of [...latest]) {
      if (now.has(key) || forced.sinceUnixMs === undefined) continue;
      const { tool, owner } = forced.action;
      if (forced.untilMs > runtime.now()) publish({ do: 'release', agent, tool, owner }, undefined, forced.untilMs);
      else latest.delete(key);
    }
    seenVersion = operator.version;
  };

  const publishMode = ({ tool, owner, mode, reason, sinceUnixMs, untilUnixMs }: ForcedModeView): void => {
    const untilMs = runtime.now() + untilUnixMs - runtime.unixNow();
    publish({ do: 'force', agent, tool, owner, mode, reason: reason.slice(0, LONGEST_REASON) }, sinceUnixMs, untilMs);
  };

  /**
   * The store decides which of two actions on one mode is the later one. An action here that it does not know yet is sent first. If the
   * store lists an earlier one than this box has heard of, it has gone back to older data, and gets the later one again.
   */
  const follow = (listed: Heard<StoredAction>): void => {
    const { key, id, made } = listed;
    const known = latest.get(key);
    if (unsent.has(key)) return;
    if (known?.id === id) latest.set(key, { ...known, made });
    else if ((known?.made ?? 0) > made) unsent.add(key);
    else carryOut(listed);
  };

  /** Someone who can write to the store can force only what this box shares. A tool may be declared later. */
  const carryOut = ({ key, id, made, body, leftMs: storedMs, heardMs }: Heard<StoredAction>): void => {
    const action = parseAction(body);
    const untilMs = heardMs + storedMs;
    const leftMs = untilMs - runtime.now();
    if (action === undefined || keyOf(action) !== key || leftMs <= 0) return;
    const { tool, owner } = action;
    if (action.agent !== agent || !isShared(tool)) return;
    const heard = { id, action, body, untilMs, askedMs: heardMs, made, after: 0 };
    if (action.do === 'release') {
      remember(key, { ...heard, sinceUnixMs: undefined });
      operator.release(tool, { owner, isCounted: false });
      return;
    }
    const { mode, reason } = action;
    const quietly = { isDeclared: false, isCounted: false };
    const { sinceUnixMs } = operator.force(tool, { mode, owner, reason, expiresInMs: leftMs, ...quietly });
    remember(key, { ...heard, sinceUnixMs });
  };

  /** G7: a store that has lost actions gets back those that still count, releases too. One without room is asked again. */
  const restore = (): void => {
    for (const [key, { untilMs }] of latest)
      if (untilMs > runtime.now() && !reader.knowledge.actions.has(key)) unsent.add(key);
  };

  const sendAll = async (): Promise<void> => {
    for (const key of unsent) {
      const one = latest.get(key);
      const forMs = Math.ceil((one?.untilMs ?? 0) - runtime.now());
      if (one === undefined || forMs <= 0) {
        unsent.delete(key);
        continue;
      }
      const { id, body, askedMs, after } = one;
      const ageMs = Math.round(runtime.now() - askedMs);
      const said = await reader.write((store) => store.control({ key, id, body, forMs, ageMs, after }));
      if (said === undefined) return;
      if (latest.get(key)?.id !== id) continue; // A later one waits.
      unsent.delete(key);
      if (said.answer === undefined)
        warnLocal(key, 'the fleet has no room for more modes. Release some that are no longer needed.');
      else follow({ ...said.answer, heardMs: runtime.now() });
    }
  };

  return {
    onWord: (isAll) => {
      safely('an action of the fleet', findOwn);
      for (const listed of reader.knowledge.actions.values()) safely('an action of the fleet', () => follow(listed));
      seenVersion = operator.version;
      if (isAll) restore();
    },
    send: () => {
      safely('an action of the fleet', findOwn);
      if (isSending || unsent.size === 0 || !reader.knowledge.answers) return;
      isSending = true;
      const sent = sendAll().then(() => {
        isSending = false;
      });
      void sent;
    },
    topics: () => {
      const listed = [...reader.knowledge.actions].filter(([, { body }]) => parseAction(body)?.agent === agent);
      const done = listed.flatMap(([key, { id }]) => (latest.get(key)?.id === id ? [id] : []));
      return listed.length === 0 ? [] : [agentTopic(agent), ...done];
    },
  };
};
