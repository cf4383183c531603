import { ATTR } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import type { BaseTool, Context } from '@google/adk';
import { trace } from '@opentelemetry/api';
import { firstName } from './groups.ts';
import { type KnownTool, titleOf } from './judging.ts';
import { readOf } from './readable.ts';

/** What a tool does, once its arguments are checked. */
export type Work = (context: Context) => unknown;

/** Runs a tool's work, or doesn't. */
export type Guard = (input: unknown, context: Context, work: Work) => unknown;

/**
 * Which call is to be guarded, by the context that ADK makes for each. One that never gets so far, for another plugin answered
 * it, its arguments were refused or a person said no, is forgotten with its context: nothing was decided for it.
 */
const expected = new WeakMap<Context, Guard>();

/** The functions that were put into tools here. */
const ours = new WeakSet<object>();

/**
 * Has a guard run the work of one call. The tool itself is told to ask for it: ADK's plugins are asked outside of the span of
 * the call, see neither the error that a FunctionTool caught nor one that is no Error, and can't hand ADK another tool. A tool
 * that runs in no context of ours works as ever.
 *
 * @throws TypeError for a frozen tool.
 */
export const expectCall = (tool: BaseTool, context: Context, guard: Guard): void => {
  if (isFunctionTool(tool)) open(tool, 'execute', executeOf);
  else open(tool, 'runAsync', runAsyncOf);
  expected.set(context, guard);
};

type Member = (this: unknown, ...given: never[]) => unknown;

const open = (tool: object, name: string, replacementOf: (own: Member) => Member): void => {
  const own = Reflect.get(tool, name) as Member;
  if (ours.has(own)) return;
  const replacement = replacementOf(own);
  ours.add(replacement);
  const added = Reflect.defineProperty(tool, name, { value: replacement, writable: true, configurable: true });
  if (!added) Object.defineProperty(tool, name, { value: replacement }); // That of a sealed tool can still be exchanged.
};

/** Runs with the arguments as the schema has parsed them, after the confirmation, and throws the tool's own error. */
const executeOf = (own: Member): Member =>
  function (this: unknown, input: never, context: never, ...rest: never[]) {
    const work = (given: Context): unknown => Reflect.apply(own, this, [input, given, ...rest]);
    return run(input, context, work);
  };

const runAsyncOf = (own: Member): Member =>
  function (this: unknown, request: { args: unknown; toolContext: Context }) {
    const work = (toolContext: Context): unknown => Reflect.apply(own, this, [{ ...request, toolContext }]);
    return run(request.args, request.toolContext, work);
  } as Member;

/** A guard is for one call: what the tool calls with the same context is its own business. */
const run = (input: unknown, context: Context, work: Work): unknown => {
  const guard = expected.get(context);
  expected.delete(context);
  return guard === undefined ? work(context) : guard(input, context, work);
};

/** The prefix of the `MCPToolset` that a tool is of: ADK keeps the server's own name of the tool beside the one with the prefix. */
export const toolsetOf = (tool: BaseTool): string | undefined => {
  const { name } = tool;
  const own = firstName(readOf(tool, 'originalName'));
  return own !== undefined && name.endsWith(`_${own}`) ? firstName(name.slice(0, -own.length - 1)) : undefined;
};

/** Whether a tool is of an `MCPToolset`. */
export const isOfServer = (tool: BaseTool): boolean => readOf(tool, 'mcpTool') !== undefined;

/** What ADK knows of a tool of an `MCPToolset`. */
export const knownTool = (tool: BaseTool): KnownTool => {
  return { name: firstName(readOf(tool, 'originalName')), title: titleOf(readOf(tool, 'mcpTool')) };
};

/** By ADK's own mark: there may be two copies of its class in a process. */
const FUNCTION_TOOL = Symbol.for('google.adk.functionTool');

const isFunctionTool = (tool: BaseTool): boolean =>
  Reflect.get(tool, FUNCTION_TOOL) === true && typeof Reflect.get(tool, 'execute') === 'function';

/**
 * ADK says what its span is about when the tool is done, and not at all when it failed. Core has to know before, to name its
 * own beneath that.
 */
export const describeNativeSpan = (tool: string): void => {
  safely('the span', () => {
    const span = trace.getActiveSpan();
    const { name } = (span ?? {}) as { readonly name?: unknown }; // The SDK's spans show it.
    if (name === `execute_tool ${tool}`) span?.setAttributes({ [ATTR.operation]: 'execute_tool', [ATTR.tool]: tool });
  });
};
