import type { Session } from '@breakerbox/core';
import { atOnce, safely } from '@breakerbox/core/internal';
import { type OptionCheck, show } from './options.ts';

/** The group of tools (C13): one name for all of them, or a function that gives the group of each by the tool's name. */
export type ToolGroup = string | ((tool: string) => string | undefined);

/** The group of a tool; undefined for a tool that is in none. */
export type GroupOf = (tool: string) => string | undefined;

const isGroupName = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** For the option `group` where there is one group for all. */
export const groupName: OptionCheck = (value) =>
  isGroupName(value) ? undefined : `is ${show(value)}. Set a name that is not empty, or leave it out.`;

/** For the option `group` where each tool may have its own. */
export const toolGroup: OptionCheck = (value) =>
  isGroupName(value) || typeof value === 'function'
    ? undefined
    : `is ${show(value)}. Set a name that is not empty, or a function that gives the group of a tool, or leave it out.`;

const none: GroupOf = () => undefined;

/**
 * What the option `group` says.
 *
 * @param where names the caller in reports of a function that throws (E5).
 * @param known the group of a tool of which the option says nothing. Default: none.
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

/** The first that can be the name of a group: names come from servers and frameworks, too. */
export const firstName = (...names: readonly unknown[]): string | undefined =>
  names.find((name) => isGroupName(name)) as string | undefined;

/** The group that a prefix of tool names stands for: `github` for `github.` or `github__`. */
export const groupOfPrefix = (prefix: string): string => prefix.replace(/[^\p{L}\p{N}]+$/u, '');

/** Gives a tool its circuit, and tells the group that it is in. What the box's configuration says of the tool comes first. */
export const declareTool = (session: Session, tool: string, group: string | undefined): void => {
  if (group === undefined) session.declare(tool);
  else session.declare(tool, { group });
};
