import type { FleetOrder, SharedChange, SharedCircuit, SharedCircuits } from '@breakerbox/core/fleet';

/** Circuits of a box, as far as the fleet sees them: three failures open, one probe closes. */
export interface FakeCircuits extends SharedCircuits {
  /** Calls a tool. What became of it. */
  call(name: string, isUp: boolean): 'called' | 'failed' | 'probed' | 'probe failed' | 'rejected';
  /** Takes the probe slot, without an end. */
  take(name: string): boolean;
  finish(name: string, isUp: boolean): void;
  readonly orders: readonly string[];
  readonly modes: readonly string[];
}

interface Fake {
  failures: number;
  openedMs: number | undefined;
  waitMs: number;
  category: SharedCircuit['category'];
  held: { readonly fromMs: number; readonly untilMs: number } | undefined;
  notBeforeMs: number;
  rejectedMs: number | undefined;
  leaseEndMs: number | undefined;
}

const WAIT_MS = 60_000;
const LEASE_MS = 60_000;
const POLICY = { cooldownMs: WAIT_MS, maxCooldownMs: WAIT_MS, maxRetryAfterMs: 3_600_000, probeLeaseMs: LEASE_MS };

export const fakeCircuits = (now: () => number, names: readonly string[], digest = 'd1'): FakeCircuits => {
  const listeners = new Set<(change: SharedChange) => void>();
  const orders: string[] = [];
  const modes: string[] = [];
  const fresh = (): Fake => ({
    failures: 0,
    openedMs: undefined,
    waitMs: WAIT_MS,
    category: undefined,
    held: undefined,
    notBeforeMs: 0,
    rejectedMs: undefined,
    leaseEndMs: undefined,
  });
  const all = new Map(names.map((name) => [name, fresh()]));
  const emit = (change: SharedChange) => {
    for (const listener of listeners) queueMicrotask(() => listener(change));
  };
  const view = (name: string, fake: Fake): SharedCircuit => ({
    name,
    digest,
    mode: 'automatic',
    state: fake.openedMs === undefined ? 'closed' : fake.leaseEndMs === undefined ? 'open' : 'half_open',
    category: fake.openedMs === undefined ? undefined : fake.category,
    ageMs: fake.openedMs === undefined ? undefined : now() - fake.openedMs,
    waitMs: fake.waitMs,
    retryAfterMs: 0,
    rejectedMs: fake.rejectedMs === undefined ? undefined : now() - fake.rejectedMs,
    leaseMs: fake.leaseEndMs === undefined ? undefined : fake.leaseEndMs - now(),
    policy: POLICY,
  });
  const isDue = ({ held, openedMs = 0, waitMs, notBeforeMs }: Fake) =>
    held === undefined
      ? now() >= Math.max(openedMs + waitMs, notBeforeMs)
      : held.fromMs <= now() && now() < held.untilMs;
  const one = (name: string): Fake => {
    const fake = all.get(name) ?? fresh();
    all.set(name, fake);
    return fake;
  };
  const take = (name: string): boolean => {
    const fake = one(name);
    if (fake.openedMs === undefined || fake.leaseEndMs !== undefined || !isDue(fake)) return false;
    fake.leaseEndMs = now() + LEASE_MS;
    if (fake.held !== undefined && fake.held.untilMs < Infinity) emit({ change: 'probing', name });
    return true;
  };
  const finish = (name: string, isUp: boolean): void => {
    const fake = one(name);
    const granted = fake.held !== undefined && fake.held.untilMs < Infinity;
    if (isUp) {
      Object.assign(fake, fresh());
      emit({ change: 'closed', name, granted });
      return;
    }
    fake.leaseEndMs = undefined;
    fake.openedMs = now();
    fake.held = granted ? { fromMs: 0, untilMs: 0 } : undefined;
    emit(granted ? { change: 'probe_failed', name } : { change: 'opened', name });
  };
  const apply = (fake: Fake, order: FleetOrder): void => {
    if (order.order === 'let_go') {
      fake.held = undefined;
      fake.notBeforeMs = now() + order.notBeforeMs;
    } else if (order.order === 'recover') fake.held = { fromMs: now() + order.dueInMs, untilMs: Infinity };
    else if (order.order === 'grant') fake.held = { fromMs: now(), untilMs: now() + order.forMs };
    else {
      fake.openedMs = now() - order.ageMs;
      fake.category = order.category;
      fake.waitMs = order.waitMs;
      fake.held = { fromMs: 0, untilMs: 0 };
    }
  };
  return {
    agent: 'agent',
    sharesAny: true,
    isShared: (name) => names.includes(name),
    digest: (name) => (names.includes(name) ? digest : undefined),
    policy: (name) => (names.includes(name) ? POLICY : undefined),
    ignored: () => {},
    orders,
    modes,
    take,
    finish,
    all: () => [...all].map(([name, fake]) => view(name, fake)),
    circuit: (name) => {
      const fake = all.get(name);
      return fake && view(name, fake);
    },
    feed: (name, order) => {
      orders.push(`${name} ${order.order}`);
      apply(one(name), order);
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    heard: () => {},
    reportMode: (mode) => {
      if (modes.at(-1) !== mode) modes.push(mode);
    },
    call: (name, isUp) => {
      const fake = one(name);
      if (fake.openedMs === undefined) {
        fake.failures = isUp ? 0 : fake.failures + 1;
        if (fake.failures >= 3) {
          fake.openedMs = now();
          fake.category = 'server';
          emit({ change: 'opened', name });
        }
        return isUp ? 'called' : 'failed';
      }
      if (take(name)) {
        finish(name, isUp);
        return isUp ? 'probed' : 'probe failed';
      }
      fake.rejectedMs = now();
      return 'rejected';
    },
  };
};
