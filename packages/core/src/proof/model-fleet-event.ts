import type { Model, ModelBox } from './model.ts';
import type { ModelEvent } from './model-correlation.ts';

/** G2. */
export const isShared = ({ config }: Model, name: string): boolean => {
  const own = name.startsWith('group:') ? config.groups?.[name.slice('group:'.length)] : config.tools?.[name];
  const share = own?.share ?? (name.startsWith('group:') ? undefined : config.defaults?.share);
  return share === 'fleet';
};

/** G3: an event is the fleet's from when two of its circuits were open for all. */
export const isOfFleet = (model: Model, { shared, wishes }: ModelBox, { id, openings }: ModelEvent): boolean =>
  shared?.fleetEvent === id ||
  openings.filter(({ tool }) => isShared(model, tool) && wishes.get(tool)?.outage !== undefined).length >= 2;

/** Remembers it: the circuits of the event may close for all before it is over. */
export const noteFleetEvent = (model: Model, box: ModelBox): void => {
  const { shared } = box;
  const { event, gate } = shared?.real ?? {};
  if (shared !== undefined && event !== undefined && gate !== undefined && isOfFleet(model, box, event))
    shared.fleetEvent = event.id;
};
