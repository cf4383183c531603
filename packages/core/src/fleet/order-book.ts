import type { BoxContext } from '../box-context.ts';
import type { SystemicEvent } from '../budget/systemic.ts';
import { groupNameOf } from '../circuit/policy.ts';
import type { Held } from '../circuit/schedule.ts';
import type { BoxInternals } from '../session-internals.ts';
import { MODEL_PREFIX } from '../telemetry/semconv.ts';
import { isGrant, type Wanted, wantedAfter } from './orders.ts';
import { EVENT_CIRCUIT, type FleetOrder } from './seam.ts';

/** Names that no tool has yet, and whose orders are kept. */
const MOST_UNKNOWN = 1_000;

/** What the fleet wants of the shared circuits of a box. */
export class OrderBook {
  readonly context: BoxContext;
  readonly #box: BoxInternals;
  readonly #orders = new Map<string, Wanted>();
  /** The event that the fleet has begun to share: the object `began` of it (S1). */
  #begun: object | undefined;

  constructor(box: BoxInternals) {
    this.context = box.context;
    this.#box = box;
  }

  get isEmpty(): boolean {
    return this.#orders.size === 0;
  }

  /** Whether the tool, group or model has `share: 'fleet'` (G2). The models of a box have an order book of their own. */
  isShared(name: string): boolean {
    const { scope, config, modelsOf } = this.#box;
    const group = groupNameOf(name);
    const isOfModels = (group ?? name).startsWith(MODEL_PREFIX);
    if (isOfModels !== (modelsOf !== undefined) || scope !== 'process') return false;
    if (group !== undefined) return config.groups?.[group]?.share === 'fleet';
    if (isOfModels) return config.models?.[name.slice(MODEL_PREFIX.length)]?.share === 'fleet';
    return (this.context.tool(name)?.own.share ?? config.defaults?.share) === 'fleet';
  }

  /** The desired state of a shared circuit; undefined for one that is not shared, and before the first order. */
  wanted(name: string): Wanted | undefined {
    return name === EVENT_CIRCUIT || this.isShared(name) ? this.#orders.get(name) : undefined;
  }

  /** Other processes can derive an event of two circuits that are open for all (G3). From then on it is the fleet's. */
  isOfFleet({ began, openings }: SystemicEvent): boolean {
    if (began !== undefined && began === this.#begun) return true;
    return openings.filter(({ tool }) => this.wanted(tool)?.opening !== undefined).length >= 2;
  }

  shareEvent({ began }: SystemicEvent): void {
    this.#begun = began;
  }

  /** An order to end the event is done. A hold is for the next event too. */
  eventOver(): void {
    if (this.#orders.get(EVENT_CIRCUIT)?.opening === undefined) this.#orders.delete(EVENT_CIRCUIT);
  }

  /**
   * Whether this is the probe that the fleet granted to this circuit. A grant of the group or the event lets a circuit through as well
   * (C15). That probe is not the circuit's own.
   */
  isGranted(name: string, held: Held | undefined): boolean {
    const own = this.#orders.get(name)?.held;
    return isGrant(held) && isGrant(own) && (own === held || own.untilMs > this.context.clock.now());
  }

  /** The circuits look at their orders again at the next use. */
  refresh(): void {
    this.context.overrides.common.version += 1;
  }

  feed(name: string, order: FleetOrder): void {
    const { shared, clock } = this.context;
    const wanted = wantedAfter(this.#orders.get(name), order, clock.now());
    const isEnd = name === EVENT_CIRCUIT && order.order === 'recover';
    if (isEnd && shared !== undefined) shared.correlations.fleetEndedMs = clock.now() - (order.ageMs ?? 0);
    this.#orders.delete(name);
    const isDone = isEnd && shared?.correlations.real.correlation.event === undefined; // The next event is another one.
    if (!isDone) this.#orders.set(name, wanted);
    if (this.#orders.size > MOST_UNKNOWN) this.#dropUnknown();
    this.refresh();
  }

  /** The oldest one first. */
  #dropUnknown(): void {
    const isKnown = (name: string) =>
      name === EVENT_CIRCUIT || this.context.tool(name) !== undefined || this.context.group(name) !== undefined;
    const unknown = [...this.#orders.keys()].filter((name) => !isKnown(name));
    for (const name of unknown.slice(0, Math.max(0, unknown.length - MOST_UNKNOWN))) this.#orders.delete(name);
  }
}
