import { answerKey, enterKey, giveBackKey, keyCircuit, keyPolicyOf } from '../circuit/key-circuits.ts';
import { circuitMoment } from '../circuit-store.ts';
import type { Pass } from '../passes.ts';
import { type Barrier, HAS_KEY, KEYS_MOVED } from './barrier.ts';
import { type Says, whyRejected } from './tool-barrier.ts';

const SAYS: Says = { due: 'key_probe_due', open: 'key_open' };

/** C14: the circuit of the call's key, in a map of its tool. It moves silently, and its failures count for the tool too. */
export const keyBarrier: Barrier = {
  of: 'key',
  when: HAS_KEY | KEYS_MOVED,
  passed: HAS_KEY,

  ask: ({ circuits }, { tracked }, _mode, { key }, at) =>
    tracked === undefined || key === undefined
      ? undefined
      : whyRejected(keyCircuit(tracked, key), keyPolicyOf(tracked), SAYS, circuitMoment(circuits.store, at)),

  enter: ({ store }, { tracked }, _mode, key, at) =>
    tracked === undefined || key === undefined ? undefined : enterKey(tracked, key, circuitMoment(store, at)),

  isUntouched: ({ entry: { tracked } }) => tracked?.keys === undefined,

  answer: (circuits, permit, ticket, judged, at) => {
    const tracked = circuits.own(permit.entry.tracked);
    if (tracked === undefined) return;
    answerKey(tracked, ticket as Pass, judged, circuitMoment(circuits.store, at), circuits.isDegraded(permit, at));
  },

  giveBack: (circuits, permit, ticket) => {
    const tracked = circuits.own(permit.entry.tracked);
    if (tracked !== undefined) giveBackKey(tracked, ticket as Pass);
  },
};
