import type { TakeTurn } from '../agent/meter.ts';
import { TOOL_NAMES } from '../airline/tools.ts';
import type { Guarding } from '../protections/protection.ts';

/** One conversation in a framework's own loop, until the model has said its last words. */
export type Loop = (request: string, takeTurn: TakeTurn, guarding: Guarding) => Promise<void>;

export const INSTRUCTIONS = 'You are an agent of an airline. Use the tools, and tell the customer what was done.';
/** More turns than any task takes. */
export const MOST_TURNS = 150;
/** The scripts know the arguments, so the tools take any object. */
export const ANY_OBJECT = { type: 'object', properties: {}, additionalProperties: true } as const;

export const eachTool = <Tool>(make: (name: string) => Tool): readonly (readonly [string, Tool])[] =>
  TOOL_NAMES.map((name) => [name, make(name)]);
