import { read, warnOnce } from '@breakerbox/core/internal';
import { hasMethod } from './untrusted.ts';

/** The methods by which frameworks run a tool. */
const OWNERS = {
  execute: 'the AI SDK or Mastra',
  invoke: 'LangChain or the OpenAI Agents SDK',
  run: "Anthropic's tool runner",
  runAsync: 'Google ADK',
  callTool: 'an MCP client',
} as const;

type Method = keyof typeof OWNERS;

const METHODS = Object.keys(OWNERS) as readonly Method[];

/**
 * Warns of a tool that an adapter passes on without a guard, and that looks like one of another framework. Descriptions of tools that
 * run elsewhere, at the provider or in a client, have no method that runs them.
 *
 * @param where The adapter's function that was given the tool.
 * @param known The method of the adapter's own framework. A tool that has it belongs to that framework, so there is no warning.
 * @param name Default: the tool's own name.
 */
export const warnIfForeign = (
  where: string,
  tool: unknown,
  known: Method,
  name: unknown = read(tool, 'name'),
): void => {
  const found = METHODS.find((method) => method !== known && hasMethod(tool, method));
  if (found === undefined) return;
  const called = typeof name === 'string' ? `tool '${name}'` : 'a tool';
  warnOnce(
    'BREAKERBOX_FOREIGN_TOOL',
    `${where}/${called}`,
    () =>
      `${where}: ${called} has ${found}(), like a tool of ${OWNERS[found]}. This adapter does not guard it, so its calls are never skipped. Use the adapter of that framework, or wrap its function with guard().`,
  );
};
