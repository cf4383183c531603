import type { Breakerbox } from '../breakerbox.ts';
import type { SystemicEvent } from '../budget/systemic.ts';
import { type CircuitPolicy, groupNameOf } from '../circuit/policy.ts';
import { type BoxInternals, boxInternals } from '../session-internals.ts';
import { watchChanges } from './changes.ts';
import { isGrant, type Wanted, wantedAfter } from './orders.ts';
import { modeReporter, reportHeard, reportIgnored } from './report-mode.ts';
import { EVENT_CIRCUIT, type FleetOrder, type SharedCircuit, type SharedCircuits } from './seam.ts';
import { followGrants, takeOrders } from './take-orders.ts';
import { circuitView, digestOf, eventDigest, eventView, sharedPolicy } from './views.ts';

/** Names that no tool has yet, and whose orders are kept. */
const MOST_UNKNOWN = 1_000;

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
  const made = createSharedCircuits(box, internals);
  shared.set(internals.context, made);
  return made;
};

const createSharedCircuits = (box: Breakerbox, { context, config, scope }: BoxInternals): SharedCircuits => {
  const { clock, overrides } = context;
  const orders = new Map<string, Wanted>();

  const isShared = (name: string): boolean => {
    if (scope !== 'process') return false;
    const group = groupNameOf(name);
    if (group !== undefined) return config.groups?.[group]?.share === 'fleet';
    return (context.tool(name)?.own.share ?? config.defaults?.share) === 'fleet';
  };

  /** The event that the fleet has begun to share: the object `began` of it (S1). */
  let begun: object | undefined;

  /** Other processes can derive an event of two circuits that are open for all (G3). From then on it is the fleet's. */
  const isOfFleet = ({ began, openings }: SystemicEvent): boolean =>
    (began !== undefined && began === begun) ||
    openings.filter(({ tool }) => isShared(tool) && orders.get(tool)?.opening !== undefined).length >= 2;

  /** A hold is for the next event too. */
  const eventOver = (): void => {
    if (orders.get(EVENT_CIRCUIT)?.opening === undefined) orders.delete(EVENT_CIRCUIT);
  };

  const changes = watchChanges(box, context, {
    isShared,
    isOfFleet,
    /** A grant of the group or the event lets a circuit through as well (C15). That probe is not the circuit's own. */
    isGranted: (name, held) => {
      const own = orders.get(name)?.held;
      return isGrant(held) && isGrant(own) && (own === held || own.untilMs > clock.now());
    },
    refresh: () => {
      overrides.version += 1;
    },
    shareEvent: ({ began }) => {
      begun = began;
    },
    eventOver,
  });
  const book = {
    context,
    wanted: (name: string) => (name === EVENT_CIRCUIT || isShared(name) ? orders.get(name) : undefined),
    isOfFleet,
    eventOver,
    moving: changes.moving,
  };

  overrides.fleet = (_session, circuits, moves, at) => {
    const isFollowed = moves === undefined && at !== undefined; // Then it can be reported that an order opens a circuit.
    if (orders.size > 0 && !isFollowed)
      takeOrders(book, circuits, moves, at ?? { ms: clock.now(), step: 0, stepMs: 0 });
  };
  overrides.grants = (_session, circuits, moves) => {
    if (orders.size > 0) followGrants(book, circuits, moves);
  };

  const isKnown = (name: string): boolean =>
    name === EVENT_CIRCUIT || context.tool(name) !== undefined || context.group(name) !== undefined;

  /** The oldest one first. */
  const dropUnknown = (): void => {
    const unknown = [...orders.keys()].filter((name) => !isKnown(name));
    for (const name of unknown.slice(0, Math.max(0, unknown.length - MOST_UNKNOWN))) orders.delete(name);
  };

  const feed = (name: string, order: FleetOrder): void => {
    const hasEvent = context.shared?.correlations.real.correlation.event !== undefined;
    const isDone = name === EVENT_CIRCUIT && order.order === 'recover' && !hasEvent; // The next event is another one.
    const wanted = wantedAfter(orders.get(name), order, clock.now());
    if (name === EVENT_CIRCUIT && order.order === 'recover' && context.shared !== undefined)
      context.shared.correlations.fleetEndedMs = clock.now() - (order.ageMs ?? 0);
    orders.delete(name);
    if (!isDone) orders.set(name, wanted);
    if (orders.size > MOST_UNKNOWN) dropUnknown();
    overrides.version += 1;
    changes.watchEvent();
  };

  const circuit = (name: string): SharedCircuit | undefined => {
    if (name === EVENT_CIRCUIT) {
      const event = context.shared?.correlations.real.correlation.event;
      return scope === 'process' ? eventView(context, event !== undefined && isOfFleet(event)) : undefined;
    }
    const tracked = isShared(name) ? context.shared?.circuits.get(name) : undefined;
    return tracked && circuitView(context, tracked);
  };

  const policy = (name: string): CircuitPolicy | undefined => {
    if (name === EVENT_CIRCUIT) return context.systemic?.gate;
    const { policy } = context.tool(name) ?? context.group(name) ?? context.undeclared;
    return isShared(name) ? policy : undefined;
  };

  const digest = (name: string): string | undefined => {
    const of = policy(name);
    return of && (name === EVENT_CIRCUIT ? eventDigest(context.agent, of) : digestOf(of));
  };

  return {
    agent: context.agent,
    sharesAny: [config.defaults, ...Object.values(config.tools ?? {}), ...Object.values(config.groups ?? {})].some(
      (one) => one?.share === 'fleet',
    ),
    all: () => [...(context.shared?.circuits.keys() ?? []), EVENT_CIRCUIT].flatMap((name) => circuit(name) ?? []),
    circuit,
    isShared,
    digest,
    policy: (name) => {
      const of = policy(name);
      return of && sharedPolicy(of);
    },
    feed,
    onChange: changes.onChange,
    heard: () => reportHeard(context),
    ignored: (records) => reportIgnored(context, records),
    reportMode: modeReporter(context),
  };
};
