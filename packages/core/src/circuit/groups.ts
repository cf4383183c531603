import type { ErrorCategory } from '../classify/taxonomy.ts';
import { GROUP_PREFIX } from '../telemetry/semconv.ts';

/** The name of a group's circuit among those of tools. */
export const circuitNameOf = (group: string): string => `${GROUP_PREFIX}${group}`;

/** The name of a group without the prefix; undefined for the name of a tool. */
export const groupNameOf = (circuit: string | undefined): string | undefined =>
  circuit?.startsWith(GROUP_PREFIX) ? circuit.slice(GROUP_PREFIX.length) : undefined;

const OF_GROUP: ReadonlySet<ErrorCategory> = new Set<ErrorCategory>(['network', 'timeout', 'server', 'resource']);

/** C13: the failures that a closed group counts. Other failures show that its server answers, or say nothing about it. */
export const countsForGroup = (category: ErrorCategory): boolean => OF_GROUP.has(category);
