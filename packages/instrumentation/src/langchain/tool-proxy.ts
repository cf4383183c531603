import { replaceable } from '../overlay.ts';
import type { LangChainTool } from './shapes.ts';

/** The functions of a tool that its proxy replaces. */
type Ways = Partial<Pick<LangChainTool, 'invoke' | 'call' | '_call'>>;

/**
 * A proxy of a tool that replaces these functions. The tool's own methods and accessors keep the tool as `this`, because it may have
 * private members. The methods of every `Runnable` (`batch`, `stream`, `withConfig`) are always those of `Runnable` itself, so that
 * they call the proxy's `invoke`.
 */
export const toolProxy = <Tool extends LangChainTool>(tool: Tool, ways: Ways): Tool => {
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

/** A proxy with other work beneath LangChain's own `invoke` and `call`. Only for a tool all of whose calls reach its work. */
export const withWork = <Tool extends LangChainTool>(tool: Tool, work: NonNullable<LangChainTool['_call']>): Tool => {
  const proxy: Tool = toolProxy(tool, {
    _call: work,
    invoke: (...given) => Reflect.apply(tool.invoke, proxy, given),
    call: (...given) => Reflect.apply(tool.call ?? tool.invoke, proxy, given),
  });
  return proxy;
};

/** LangChain's classes whose `call` calls `_call`. They keep these names even if a bundler renames classes. */
const CALLS_THROUGH: ReadonlySet<unknown> = new Set(['Tool', 'DynamicTool', 'DynamicStructuredTool']);

/**
 * Whether every call of a tool reaches its `_call`. A tool that is made of a `Runnable` has no `_call`. A class with its own `invoke` or
 * `call` may not use it.
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
