import { ATTR } from '@breakerbox/core';
import { hashOfText, read, safeJson, safely } from '@breakerbox/core/internal';
import type { BaseTool, Context } from '@google/adk';
import { trace } from '@opentelemetry/api';
import { mayNeedApproval } from '../approval.ts';
import { firstName } from '../groups.ts';
import { type KnownTool, titleOf } from '../judging.ts';
import { orUndefined } from '../untrusted.ts';

/** The work of a tool, after its arguments are checked. */
export type AdkWork = (context: Context) => unknown;

/** Runs a tool's work, or rejects it. */
export type Guard = (input: unknown, context: Context, work: AdkWork) => unknown;

/**
 * The guards of coming calls, by the context that ADK makes for each call. If a call does not run, because another plugin answered
 * it, its arguments were rejected or a person said no, the entry goes with its context: nothing was decided for the call.
 */
const expected = new WeakMap<Context, Guard>();

/** What to ask before a person, for the same calls. */
const askedFirst = new WeakMap<Context, IsRejected>();

/** Whether a call is rejected now, so that no person has to confirm it. */
export type IsRejected = (input: unknown) => boolean;

/** The replacement functions that were put into tools here. */
const ours = new WeakSet<object>();

/**
 * Lets a guard run the work of one call. The tool itself is changed to ask the guard, because ADK's plugins are not enough. They are
 * called outside of the call's span, do not see an error that a FunctionTool caught or one that is not an Error, and cannot give
 * ADK another tool: calls that go on after a confirmation or a sign-in, and those of a workflow, do not read the tools of the request. A
 * tool that runs in a context without a guard works as before.
 *
 * @param isRejected Asked before the tool asks a person. If it says so, the guard runs at once, and must reject the call.
 * @throws TypeError for a frozen tool.
 */
export const expectCall = (tool: BaseTool, context: Context, guard: Guard, isRejected?: IsRejected): void => {
  if (!isFunctionTool(tool)) open(tool, 'runAsync', runAsyncOf);
  else {
    open(tool, 'execute', executeOf);
    const confirms: unknown = Reflect.get(tool, CONFIRMS);
    if (confirms === true) Reflect.set(tool, CONFIRMS, always);
    if (mayNeedApproval(confirms)) open(tool, CONFIRMS, confirmationOf);
  }
  expected.set(context, guard);
  if (isRejected) askedFirst.set(context, isRejected);
};

/** Where a FunctionTool of ADK 2 keeps whether a person has to confirm its calls: a boolean or a function. */
const CONFIRMS = 'requireConfirmation';

const always = (): boolean => true;

/** A person who has answered is not asked again. */
const confirmationOf = (own: Member): Member =>
  async function (this: unknown, input: never, context: never, ...rest: never[]) {
    const isNeeded: unknown = await Reflect.apply(own, this, [input, context, ...rest]);
    const { toolConfirmation } = (context ?? {}) as Partial<Context>;
    return isNeeded && (toolConfirmation !== undefined || askedFirst.get(context)?.(input) !== true);
  };

type Member = (this: unknown, ...given: never[]) => unknown;

const open = (tool: object, name: string, replacementOf: (own: Member) => Member): void => {
  const own = Reflect.get(tool, name) as Member;
  if (ours.has(own)) return;
  const replacement = replacementOf(own);
  ours.add(replacement);
  const added = Reflect.defineProperty(tool, name, { value: replacement, writable: true, configurable: true });
  if (!added) Object.defineProperty(tool, name, { value: replacement }); // A sealed tool's property can still be changed.
};

/** Runs after the confirmation, with the arguments as the schema has parsed them, and throws the tool's own error. */
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

/** A guard is for one call. Further calls of the tool with the same context are not guarded. */
const run = (input: unknown, context: Context, work: AdkWork): unknown => {
  const guard = expected.get(context);
  expected.delete(context);
  askedFirst.delete(context);
  return guard === undefined ? work(context) : guard(input, context, work);
};

/** The prefix of a tool's `MCPToolset`. ADK keeps the server's own name of the tool beside the one with the prefix. */
export const toolsetOf = (tool: BaseTool): string | undefined => {
  const { name } = tool;
  const own = firstName(read(tool, 'originalName'));
  return own !== undefined && name.endsWith(`_${own}`) ? firstName(name.slice(0, -own.length - 1)) : undefined;
};

/**
 * The server of a tool of an `MCPToolset` that has no prefix: its host or its command. Servers may share these, so a digest of the path or
 * of the arguments follows. They may contain secrets, and the digest does not reveal them.
 */
export const addressOf = (tool: BaseTool): string | undefined =>
  orUndefined(() => {
    const params = read(read(tool, 'mcpSessionManager'), 'connectionParams');
    const process = read(params, 'serverParams');
    const command = firstName(read(process, 'command'));
    if (command !== undefined) return withDigest(command.replace(/^.*[\\/]/, ''), safeJson(read(process, 'args')));
    const { host, pathname } = new URL(String(read(params, 'url')));
    return withDigest(host, pathname);
  });

const withDigest = (name: string, rest: string): string => `${name}#${hashOfText(rest, 0).slice(0, 6)}`;

/** Whether a tool belongs to an `MCPToolset`. */
export const isMcpTool = (tool: BaseTool): boolean => read(tool, 'mcpTool') !== undefined;

/** What ADK knows of a tool of an `MCPToolset`. */
export const knownTool = (tool: BaseTool): KnownTool => {
  return { name: firstName(read(tool, 'originalName')), title: titleOf(read(tool, 'mcpTool')) };
};

/** ADK's own mark, because a process may hold two copies of its class. */
const FUNCTION_TOOL = Symbol.for('google.adk.functionTool');

const isFunctionTool = (tool: BaseTool): boolean =>
  Reflect.get(tool, FUNCTION_TOOL) === true && typeof Reflect.get(tool, 'execute') === 'function';

/**
 * Sets the attributes of ADK's span before the call, because core needs them to name its own span beneath. ADK sets them when the tool
 * is done, and not at all when it failed.
 */
export const describeNativeSpan = (tool: string): void => {
  safely('the span', () => {
    const span = trace.getActiveSpan();
    const { name } = (span ?? {}) as { readonly name?: unknown }; // Spans of the SDK have a name.
    if (name === `execute_tool ${tool}`) span?.setAttributes({ [ATTR.operation]: 'execute_tool', [ATTR.tool]: tool });
  });
};
