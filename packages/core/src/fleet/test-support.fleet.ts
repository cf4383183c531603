import { type BreakerboxConfig, createBreakerbox, type Session } from '../index.ts';
import type { FleetOrder, SharedChange, SharedCircuits } from './seam.ts';
import { shareCircuits } from './share-circuits.ts';

/** A process of a fleet, with a clock that only the test moves. */
export interface OneProcess {
  readonly session: Session;
  readonly box: ReturnType<typeof createBreakerbox>;
  readonly circuits: SharedCircuits;
  /** What the fleet would hear, in order. */
  readonly heard: SharedChange[];
  /** The changes of state that listeners of the box were told. */
  readonly moves: string[];
  wait(ms: number): void;
  feed(name: string, order: FleetOrder): void;
  /** Calls a tool, and settles the call if it is made. Returns the reason of the decision. */
  call(tool: string, how?: 'success' | 'network' | 'cancelled'): string;
}

export const oneProcess = (config: Partial<BreakerboxConfig> = {}): OneProcess => {
  let ms = 1_000_000;
  const box = createBreakerbox({
    agent: 'agent',
    scope: 'process',
    fleet: { join: () => {} },
    defaults: { share: 'fleet', ...config.defaults },
    tools: { a: {}, b: {}, c: {} },
    systemic: false,
    clock: { now: () => ms, unixNow: () => 1_700_000_000_000 + ms },
    ...config,
  });
  const circuits = shareCircuits(box);
  const heard: SharedChange[] = [];
  const moves: string[] = [];
  circuits.onChange((change) => heard.push(change));
  box.on('circuit.transition', ({ tool, from, to }) => moves.push(`${tool} ${from}>${to}`));
  const session = box.session({ id: 'one', budget: { failures: 1_000 } });
  return {
    session,
    box,
    circuits,
    heard,
    moves,
    wait: (more) => {
      ms += more;
    },
    feed: (name, order) => circuits.feed(name, order),
    call: (tool, how = 'success') => {
      const permit = session.acquire(tool);
      if (permit.decision === 'call' || permit.decision === 'probe') {
        permit.settle(
          how === 'success'
            ? { outcome: 'success' }
            : how === 'network'
              ? { outcome: 'failure', category: 'network' }
              : { outcome: 'ignored', category: 'cancelled' },
        );
      }
      return permit.reason;
    },
  };
};

export const hold = (ageMs = 0, waitMs = 60_000): FleetOrder => ({ order: 'hold', category: 'network', ageMs, waitMs });
export const grant = (forMs = 10_000): FleetOrder => ({ order: 'grant', forMs });
export const recover = (dueInMs = 500, ageMs = 0): FleetOrder => ({ order: 'recover', dueInMs, ageMs });
export const letGo = (notBeforeMs = 0): FleetOrder => ({ order: 'let_go', notBeforeMs });

/** Lets the listeners of changes run. */
export const heardSoon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
