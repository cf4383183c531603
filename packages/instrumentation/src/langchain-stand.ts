import type { LangChainTool } from './langchain-shapes.ts';
import { replaceable } from './stand-in.ts';

/** Functions of a tool that a stand-in has of its own. */
type Ways = Partial<Pick<LangChainTool, 'invoke' | 'call' | '_call'>>;

/**
 * All of a tool, but for these of its functions. Its own methods and accessors keep the tool as `this`, for it may have private
 * members. What every `Runnable` has (`batch`, `stream`, `withConfig`) is that of `Runnable` itself, however the tool has it:
 * those lead to the stand-in's `invoke`.
 */
export const standIn = <Tool extends LangChainTool>(tool: Tool, ways: Ways): Tool => {
  const runnable = topmostWith(tool, 'batch') ?? {};
  return new Proxy(replaceable(tool, new Map(Object.entries(ways))), {
    get: (_, key) => {
      if (Object.hasOwn(ways, key)) return Reflect.get(ways, key);
      const value: unknown = Reflect.get(tool, key);
      if (typeof value !== 'function' || key === 'constructor' || Object.hasOwn(tool, key)) return value;
      return Object.hasOwn(runnable, key) ? Reflect.get(runnable, key) : value.bind(tool);
    },
    set: (_, key, value) => Reflect.set(tool, key, value),
  });
};

/** The same with other work beneath LangChain's own `invoke` and `call`: only for a tool all of whose ways lead to its work. */
export const withWork = <Tool extends LangChainTool>(tool: Tool, work: NonNullable<LangChainTool['_call']>): Tool => {
  const stand: Tool = standIn(tool, {
    _call: work,
    invoke: (...given) => Reflect.apply(tool.invoke, stand, given),
    call: (...given) => Reflect.apply(tool.call ?? tool.invoke, stand, given),
  });
  return stand;
};

/** Those of LangChain's classes whose `call` leads to `_call`; by this name even where a bundler gave them others. */
const CALLS_THROUGH: ReadonlySet<unknown> = new Set(['Tool', 'DynamicTool', 'DynamicStructuredTool']);

/**
 * Whether all ways of a tool lead to its `_call`. Those of a tool that is made of a `Runnable` don't, for it has none; those of
 * a class with an `invoke` or a `call` of its own may not.
 */
export const leadsToWork = (tool: LangChainTool): boolean => {
  const base = topmostWith(tool, 'call');
  if (base === undefined || tool._call === undefined) return false;
  const own = chainOf(tool);
  return own
    .slice(0, own.indexOf(base))
    .every((part) => !Object.hasOwn(part, 'invoke') && (!Object.hasOwn(part, 'call') || callsThrough(part)));
};

const callsThrough = (prototype: object): boolean =>
  Object.hasOwn(prototype, 'constructor') &&
  CALLS_THROUGH.has((prototype.constructor as { lc_name?(): unknown }).lc_name?.());

const topmostWith = (value: object, key: PropertyKey): object | undefined =>
  chainOf(value).findLast((part) => Object.hasOwn(part, key));

/** A value and its prototypes. */
const chainOf = (value: object): readonly object[] => {
  const above: unknown = Object.getPrototypeOf(value);
  return above === null ? [value] : [value, ...chainOf(above as object)];
};
