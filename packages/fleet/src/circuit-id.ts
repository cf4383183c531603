import type { SharedCircuit } from '@breakerbox/core/fleet';

/** The circuit in the store: one for each name and each policy, so that releases with other thresholds do not quarrel (G9). */
export const circuitId = ({ name, digest }: Pick<SharedCircuit, 'name' | 'digest'>): string => `${digest}:${name}`;

/** The name in a circuit's id. */
export const circuitName = (id: string): string => id.slice(id.indexOf(':') + 1);
