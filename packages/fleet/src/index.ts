export { createFleet, type Fleet } from './fleet.ts';
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from './memory-store.ts';
export type { FleetClient, FleetOptions } from './options.ts';
export type {
  FleetStore,
  Grant,
  Listeners,
  Listening,
  Position,
  ProbeResult,
  Report,
  StoredAction,
  StoredCircuit,
  Word,
} from './protocol.ts';
export type { FleetMode } from './reader.ts';
export type { StoreReason } from './reasons.ts';
export type { IoredisClient, NodeRedisClient } from './redis/connection.ts';
export type { FleetActionStatus, FleetCircuit, FleetStatus } from './status.ts';
