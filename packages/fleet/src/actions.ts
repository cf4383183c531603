import type { ForcedModeView, Operator } from '@breakerbox/core/control';
import type { SharedCircuits } from '@breakerbox/core/fleet';
import { safely, warn } from '@breakerbox/core/internal';
import {
  actionOf,
  agentTopic,
  type FleetAction,
  fittingBody,
  keyOf,
  LONGEST_BODY,
  parseAction,
} from './fleet-action.ts';
import { BOUNDS } from './fleet-state.ts';
import type { StoredAction } from './protocol.ts';
import type { Heard, Reader } from './reader.ts';
import type { Runtime } from './runtime.ts';

const LONGEST_REASON = 500;

/** Actions that are carried out before other work of the process has its turn. */
const A_TURN = 10;

/** Carries the forced modes of one box to the other processes, and theirs to this box: those of shared tools only (G2, G8). */
export interface ActionSync {
  /** Carries out what the store lists and this box has not done. `isAll`: it has just listed everything. */
  onWord(isAll: boolean): void;
  /** Sends what was forced or released in this box. */
  send(): void;
  /** The same before the box leaves, which carries out nothing more. Resolves when the store has answered. */
  sendLast(): Promise<void>;
  /** What this box listens to while the store has an action of its agent: the agent's topic, and the actions that it has carried out. */
  topics(): readonly string[];
}

/** The latest action on a mode of the whole box. */
interface Latest {
  readonly id: string;
  readonly action: FleetAction;
  readonly body: string;
  /** Tells which forced mode of the box this is. Undefined if it is not forced any more. */
  readonly forced: string | undefined;
  /** Until when the mode is forced, and until when the store is to know this action. */
  readonly endsMs: number;
  readonly keptUntilMs: number;
  readonly askedMs: number;
  /** {@link StoredAction.made}; undefined if the store has not had it yet. */
  readonly made: number | undefined;
  /** {@link SentAction.after}. */
  readonly after: number;
}

/** An action is known for so long at least, and for as long as the mode that it has replaced: a process that was cut off may bring that back. */
const KEPT_MS = 3_600_000;
/** No mode is forced for longer (A4). */
const LONGEST_MS = 7 * 24 * 3_600_000;
/** After so many tools and owners, modes that stay local are not told any more. */
const MOST_TOLD = 1_000;
/** Actions of other processes that are remembered at once: those that the store lists, and as many that it has lost. */
const MOST_HEARD = 2 * BOUNDS.actions;

const forcedBy = ({ sinceUnixMs, untilUnixMs, mode, reason }: ForcedModeView): string =>
  JSON.stringify([sinceUnixMs, untilUnixMs, mode, reason]);

export const syncActions = (
  { agent, isShared }: Pick<SharedCircuits, 'agent' | 'isShared'>,
  operator: Operator,
  reader: Reader,
  runtime: Runtime,
  onIgnored: () => void,
): ActionSync => {
  const latest = new Map<string, Latest>();
  /** Keys of actions that the store does not know yet. */
  const unsent = new Set<string>();
  /** Modes that the fleet cannot carry. */
  const local = new Set<string>();
  let seenVersion: number | undefined;
  let sending: Promise<void> | undefined;

  /** W2: once for each mode. */
  const warnLocal = (key: string, why: string): void => {
    if (local.has(key) || local.size >= MOST_TOLD) return;
    local.add(key);
    warn(`an operator's mode stays in this process, because ${why}`);
  };

  const publish = (action: FleetAction, forced: string | undefined, endsMs: number): void => {
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
    const keptUntilMs = Math.max(endsMs, before?.keptUntilMs ?? 0, askedMs + KEPT_MS);
    latest.set(key, { id: runtime.id(), action, body, forced, endsMs, keptUntilMs, askedMs, made: undefined, after });
    unsent.add(key);
  };

  /** Finds what was forced or released here. What came from the fleet is in `latest` already, and is not sent again. */
  const findOwn = (): void => {
    if (operator.version === seenVersion) return;
    const ofBox = operator.modes().filter(({ tool, session }) => session === undefined && isShared(tool));
    const now = new Map(ofBox.map((mode) => [keyOf({ agent, ...mode }), mode]));
    for (const [key, mode] of now) if (latest.get(key)?.forced !== forcedBy(mode)) publishMode(mode);
    for (const [key, one] of [...latest]) {
      if (now.has(key) || one.forced === undefined) continue;
      const { tool, owner } = one.action;
      if (one.endsMs > runtime.now()) publish({ do: 'release', agent, tool, owner }, undefined, 0);
      else latest.set(key, { ...one, forced: undefined });
    }
    seenVersion = operator.version;
  };

  const publishMode = (view: ForcedModeView): void => {
    const { tool, owner, mode, reason } = view;
    const endsMs = runtime.now() + operator.leftMs(view); // A box may have a clock of its own.
    publish({ do: 'force', agent, tool, owner, mode, reason: reason.slice(0, LONGEST_REASON) }, forcedBy(view), endsMs);
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

  /** Whether the latest word listed everything, or one before it whose actions were not all followed. */
  let isAllHeard = false;
  let cancelRest = (): void => {};

  /** Other work of the process, such as an operator's, has its turn between many actions. */
  const followSome = (given: readonly Heard<StoredAction>[]): void => {
    safely('an action of the fleet', findOwn);
    for (const listed of given.slice(0, A_TURN)) safely('an action of the fleet', () => follow(listed));
    seenVersion = operator.version;
    const rest = given.slice(A_TURN);
    if (rest.length > 0) cancelRest = runtime.after(0, () => followRest(rest));
    else {
      if (isAllHeard) restore();
      isAllHeard = false;
    }
  };

  const followRest = (rest: readonly Heard<StoredAction>[]): void => {
    followSome(rest);
    startSending();
  };

  /**
   * Someone who can write to the store can force only what this box shares. A tool may be declared later. What this box may send back is
   * {@link fittingBody}, which the store in Redis has seen to already.
   */
  const carryOut = ({ key, id, made, ageMs, body: given, leftMs, keptMs, heardMs }: Heard<StoredAction>): void => {
    const body = fittingBody(key, given);
    if (body === undefined) warnRefused('Its record in the store does not fit.');
    const action = parseAction(body ?? '');
    if (body === undefined || action === undefined || action.agent !== agent || !isShared(action.tool)) return;
    const { tool, owner } = action;
    // Otherwise an end that the store cannot take would be sent again and again.
    const [endsMs, keptUntilMs] = [leftMs, keptMs].map((ms) => heardMs + Math.min(LONGEST_MS, ms)) as [number, number];
    const heard = { id, action, body, endsMs, keptUntilMs, askedMs: heardMs - ageMs, made, after: 0 };
    const forMs = endsMs - runtime.now();
    remember(key, { ...heard, forced: undefined }); // First, so that one that cannot be carried out is tried once.
    if (action.do === 'force' && forMs > 0) {
      const view = forced(action, forMs);
      if (view === undefined) onIgnored();
      else latest.set(key, { ...heard, forced: forcedBy(view) });
    } else operator.release(tool, { owner, isCounted: false });
  };

  /** Undefined if the box refuses it: its tool may have too many modes. */
  const forced = (action: Extract<FleetAction, { readonly do: 'force' }>, expiresInMs: number) => {
    const { tool, mode, owner, reason } = action;
    const quietly = { isDeclared: false, isCounted: false, isRemote: true };
    try {
      return operator.force(tool, { mode, owner, reason, expiresInMs, ...quietly });
    } catch (error) {
      warnRefused(error instanceof Error ? error.message : '');
      return undefined;
    }
  };

  let isRefusedTold = false;
  const warnRefused = (why: string): void => {
    if (isRefusedTold) return;
    isRefusedTold = true;
    warn(`a mode that another process forced is not in force here, and neither are others like it. ${why}`);
  };

  /** A store that lists other actions with each read must not fill the memory. */
  const remember = (key: string, one: Latest): void => {
    latest.delete(key);
    latest.set(key, one);
    if (latest.size <= MOST_HEARD) return;
    const isKept = (known: string): boolean =>
      known === key ||
      unsent.has(known) ||
      reader.knowledge.actions.has(known) ||
      latest.get(known)?.forced !== undefined;
    const lost = [...latest.keys()].find((known) => !isKept(known));
    if (lost !== undefined) latest.delete(lost);
  };

  /** G7: a store that has lost actions gets back those that still count, releases too. One without room is asked again. */
  const restore = (): void => {
    for (const key of latest.keys()) if (!reader.knowledge.actions.has(key)) unsent.add(key);
  };

  const forgetEnded = (): void => {
    for (const [key, { keptUntilMs }] of latest) if (keptUntilMs <= runtime.now()) latest.delete(key);
  };

  /** Each once: a store that refuses an action is not asked again at once. One that fails is the last one of the next turn. */
  const sendAll = async (): Promise<void> => {
    for (const key of [...unsent]) {
      const one = latest.get(key);
      unsent.delete(key);
      if (one === undefined || one.keptUntilMs <= runtime.now()) continue;
      unsent.add(key);
      const { id, body, after, forced } = one;
      const nowMs = runtime.now();
      const [leftMs, keptMs] = [Math.max(0, one.endsMs - nowMs), one.keptUntilMs - nowMs].map(Math.ceil) as [
        number,
        number,
      ];
      const ageMs = Math.round(nowMs - one.askedMs);
      const said = await reader.write((store) => store.control({ key, id, body, ageMs, leftMs, keptMs, after }));
      if (said === undefined) return;
      if (latest.get(key)?.id !== id) continue; // A later one waits.
      unsent.delete(key);
      const { answer } = said;
      if (answer === 'ignored') onIgnored();
      else if (answer?.id === id) latest.set(key, { ...one, made: answer.made });
      else if (answer !== undefined)
        safely('an action of the fleet', () => carryOut({ ...answer, heardMs: runtime.now() }));
      else if (forced !== undefined)
        warnLocal(key, 'the fleet has no room for more modes. Release some that are no longer needed.');
    }
  };

  const send = async (): Promise<void> => {
    safely('an action of the fleet', findOwn);
    if (unsent.size > 0 && reader.knowledge.answers) await sendAll();
  };

  const startSending = (): void => {
    sending ??= send().finally(() => {
      sending = undefined;
    });
  };

  return {
    onWord: (isAll) => {
      forgetEnded();
      isAllHeard ||= isAll;
      cancelRest();
      followSome([...reader.knowledge.actions.values()]);
    },
    send: startSending,
    sendLast: async () => {
      cancelRest();
      await sending;
      await send();
    },
    topics: () => {
      const listed = [...reader.knowledge.actions].filter(([, stored]) => actionOf(stored)?.agent === agent);
      const done = listed.flatMap(([key, { id }]) => (latest.get(key)?.id === id ? [id] : []));
      return listed.length === 0 ? [] : [agentTopic(agent), ...done];
    },
  };
};
