import type { ConfigIssue } from '@breakerbox/core';
import { isObject } from '@breakerbox/core/internal';

/** Settings of a tool that are functions. */
const OF_TOOL: readonly string[] = ['classify', 'isFailure', 'precheck', 'trip'];

/** Settings of a box that only code can give. */
const OF_BOX: readonly string[] = ['clock', 'fleet'];

/** The setting of an alternative that is a function. */
const OF_ALTERNATIVE = 'adapt';

const ONLY_IN_CODE: readonly string[] = [...OF_BOX, ...OF_TOOL, OF_ALTERNATIVE];

/** What is wrong with an unknown setting, without the settings that a file cannot contain. */
export const withoutFunctions = ({ path, message }: ConfigIssue): ConfigIssue => ({
  path,
  message: message
    .replace(/ Did you mean '(\w+)'\?/, (hint, name: string) => (ONLY_IN_CODE.includes(name) ? '' : hint))
    .replace(/(Allowed here: )([\w, ]+)/, (_, start: string, names: string) => {
      const allowed = names.split(', ').filter((name) => !ONLY_IN_CODE.includes(name));
      return `${start}${allowed.join(', ')}`;
    }),
});

/** Settings that are functions, which a file cannot contain. */
export const functionIssues = (value: unknown): readonly ConfigIssue[] => {
  if (!isRecord(value)) return [];
  const { tools, defaults } = value;
  return [
    ...OF_BOX.filter((name) => name in value).map((name) => issue(name)),
    ...toolIssues('defaults', defaults),
    ...(isRecord(tools) ? Object.entries(tools).flatMap(([name, tool]) => toolIssues(`tools.${name}`, tool)) : []),
  ];
};

const toolIssues = (path: string, tool: unknown): readonly ConfigIssue[] => {
  if (!isRecord(tool)) return [];
  const { key = false, alternatives } = tool;
  return [
    ...OF_TOOL.filter((name) => Object.hasOwn(tool, name)).map((name) => issue(`${path}.${name}`)),
    ...(key === false ? [] : [issue(`${path}.key`, ' false, for no keys, is allowed.')]),
    ...(Array.isArray(alternatives) ? alternatives : []).flatMap((one, index) =>
      isRecord(one) && Object.hasOwn(one, OF_ALTERNATIVE)
        ? [issue(`${path}.alternatives[${index}].${OF_ALTERNATIVE}`)]
        : [],
    ),
  ];
};

const issue = (path: string, also = ''): ConfigIssue => ({
  path,
  message: `is a function, which a file cannot contain. Leave it out here, and set it in code.${also}`,
});

/** Whether it is an object with keys. */
export const isRecord = (value: unknown): value is Record<string, unknown> => isObject(value) && !Array.isArray(value);
