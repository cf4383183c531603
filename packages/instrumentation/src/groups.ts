import { atOnce, read, safely } from '@breakerbox/core/internal';
import { type OptionCheck, show } from './options.ts';

/** The group of tools (C13): one name for all of them, or a function that gives the group of each by the tool's name. */
export type ToolGroup = string | ((tool: string) => string | undefined);

/** The group of a tool; undefined for a tool without a group. */
export type GroupOf = (tool: string) => string | undefined;

const isGroupName = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** The check of an option `group` that is one group for all tools. */
export const groupName: OptionCheck = (value) =>
  isGroupName(value) ? undefined : `is ${show(value)}. Set a name that is not empty, or leave it out.`;

/** The check of an option `group` that may give each tool its own. */
export const toolGroup: OptionCheck = (value) =>
  isGroupName(value) || typeof value === 'function'
    ? undefined
    : `is ${show(value)}. Set a name that is not empty, or a function that gives the group of a tool, or leave it out.`;

const none: GroupOf = () => undefined;

/**
 * The groups that the option `group` gives.
 *
 * @param where The caller's name in reports of a function that throws (E5).
 * @param known The group of a tool for which the option gives none. Default: none.
 */
export const groupsBy = (given: ToolGroup | undefined, where: string, known: GroupOf = none): GroupOf => {
  if (given === undefined) return known;
  if (typeof given === 'string') return () => given;
  const what = `group() of ${where}`;
  return (tool) => {
    const group: unknown = safely(what, () => atOnce(what, given(tool)));
    return isGroupName(group) ? group : known(tool);
  };
};

/** The first value that can be the name of a group. Names come from servers and frameworks too. */
export const firstName = (...names: readonly unknown[]): string | undefined =>
  names.find((name) => isGroupName(name)) as string | undefined;

/** The name that `@ai-sdk/mcp` gives each client that has no name of its own. */
const UNNAMED_CLIENT = 'ai-sdk-mcp-client';

/** The MCP server of a tool, if its metadata names it. `@ai-sdk/mcp` has the name of its client there. */
export const serverOf = (tool: unknown): string | undefined => {
  const metadata = read(tool, 'metadata');
  const client = read(metadata, 'clientName');
  return firstName(read(metadata, 'serverName'), client === UNNAMED_CLIENT ? undefined : client);
};

/** The group for a prefix of tool names: `github` for `github.` or `github__`. */
export const groupOfPrefix = (prefix: string): string => prefix.replace(/[^\p{L}\p{N}]+$/u, '');
