/** What `@breakerbox/fleet` needs of a box whose circuits many processes share. */

export {
  EVENT_CIRCUIT,
  type FleetOrder,
  type SharedChange,
  type SharedCircuit,
  type SharedCircuits,
  type SharedPolicy,
} from './seam.ts';
export { shareCircuits } from './share-circuits.ts';
