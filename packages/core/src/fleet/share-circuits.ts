import type { Breakerbox } from '../breakerbox.ts';
import type { CircuitPolicy } from '../circuit/policy.ts';
import { type BoxInternals, boxInternals } from '../session-internals.ts';
import { watchChanges } from './changes.ts';
import { OrderBook } from './order-book.ts';
import { modeReporter, reportHeard, reportIgnored } from './report-mode.ts';
import { EVENT_CIRCUIT, type SharedCircuit, type SharedCircuits } from './seam.ts';
import { circuitView, digestOf, eventDigest, eventView, sharedPolicy } from './shared-views.ts';
import { followGrants, takeOrders } from './take-orders.ts';

/** One for each box, because two fleets would give it contrary orders. */
const shared = new WeakMap<object, SharedCircuits>();

/**
 * The circuits of a box that many processes share: feeds them the fleet's orders, and drains what happens to them (G1). All calls for
 * one box return the same object. A box that was never given to this function pays nothing for it. Without `share: 'fleet'` and scope
 * `process`, a box has no such circuits.
 *
 * @throws BreakerboxUsageError if `box` is not a box.
 */
export const shareCircuits = (box: Breakerbox): SharedCircuits => {
  const internals = boxInternals(box, 'shareCircuits(box)');
  const known = shared.get(internals.context);
  if (known !== undefined) return known;
  const made = createSharedCircuits(internals);
  shared.set(internals.context, made);
  return made;
};

const createSharedCircuits = (internals: BoxInternals): SharedCircuits => {
  const { context, config, scope } = internals;
  const { clock, overrides } = context;
  const book = new OrderBook(internals);
  const changes = watchChanges(book);

  overrides.fleet = (_session, circuits, moves, at) => {
    const isFollowed = moves === undefined && at !== undefined; // Then it can be reported that an order opens a circuit.
    if (book.isEmpty || isFollowed) return;
    takeOrders(book, circuits, moves, at ?? { ms: clock.now(), step: 0, stepMs: 0 });
  };
  overrides.grants = (_session, circuits, moves) => {
    if (!book.isEmpty) followGrants(book, circuits, moves);
  };

  const circuit = (name: string): SharedCircuit | undefined => {
    if (name === EVENT_CIRCUIT) {
      const event = context.shared?.correlations.real.correlation.event;
      return scope === 'process' ? eventView(context, event !== undefined && book.isOfFleet(event)) : undefined;
    }
    const tracked = book.isShared(name) ? context.shared?.circuits.get(name) : undefined;
    return tracked && circuitView(context, tracked);
  };

  const policy = (name: string): CircuitPolicy | undefined => {
    if (name === EVENT_CIRCUIT) return context.systemic?.gate;
    const { policy } = context.tool(name) ?? context.group(name) ?? context.undeclared;
    return book.isShared(name) ? policy : undefined;
  };

  const digest = (name: string): string | undefined => {
    const of = policy(name);
    return of && (name === EVENT_CIRCUIT ? eventDigest(context.agent, of) : digestOf(of));
  };

  return {
    agent: context.agent,
    sharesAny: [
      config.defaults,
      ...[config.tools, config.groups, config.models].flatMap((all) => Object.values(all ?? {})),
    ].some((one) => one?.share === 'fleet'),
    all: () => [...(context.shared?.circuits.keys() ?? []), EVENT_CIRCUIT].flatMap((name) => circuit(name) ?? []),
    circuit,
    isShared: (name) => book.isShared(name),
    digest,
    policy: (name) => {
      const of = policy(name);
      return of && sharedPolicy(of);
    },
    feed: (name, order) => {
      book.feed(name, order);
      changes.watchEvent();
    },
    onChange: changes.onChange,
    heard: () => reportHeard(context),
    ignored: (records) => reportIgnored(context, records),
    reportMode: internals.modelsOf === undefined ? modeReporter(context) : () => {}, // The box reports it.
  };
};
