/** Plans of what can be done while tools are unavailable, and capability maps from files. */

export type { Alternative, Capability, Degradation } from '../routing/capability.ts';
export type { AchievableTask, DeferredTask, ScopePlan, TaskBlocker } from '../routing/route.ts';
export { type CapabilityMap, parseCapabilities, validateCapabilities } from './capability-file.ts';
export { planScope, type Task } from './scope.ts';
