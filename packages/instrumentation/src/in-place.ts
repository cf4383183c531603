import { BreakerboxConfigError } from '@breakerbox/core';

/**
 * R4: the tools of `inPlace` that no person has to approve. It is refused without the option that says which tools a person has to approve,
 * because the framework does not tell that.
 *
 * @param where The caller's name in the error.
 * @param option The name of the option, what the framework asks by it, and its value.
 * @param isAsked Whether a person may be asked about a tool.
 */
export const withoutApproval = (
  where: string,
  listed: readonly string[],
  [option, framework, given]: readonly [string, string, unknown],
  isAsked: (tool: string) => boolean,
): readonly string[] => {
  if (listed.length === 0 || given !== undefined) return listed.filter((tool) => !isAsked(tool));
  const message = `lists tools to call in place of others, but it is not known which of them a person has to approve. Set ${option} to the value that you give ${framework}, or to {} if a person approves none.`;
  throw new BreakerboxConfigError([{ path: `${where} options.inPlace`, message }]);
};
