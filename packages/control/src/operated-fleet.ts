import { fitting } from './fitting.ts';
import { FleetState } from './schema.ts';

/** A fleet of `@breakerbox/fleet`, as far as operators see it. */
export interface OperatedFleet {
  status(): unknown;
}

/** Without what another release of the fleet adds. Without parts that do not fit. Undefined if it is not what this release knows. */
export const fleetState = (fleet: OperatedFleet | undefined): FleetState | undefined => {
  try {
    return fleet && fitting(FleetState, fleet.status()).data;
  } catch {
    return undefined;
  }
};
