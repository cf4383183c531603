import {
  type Check,
  type ConfigIssue,
  complete,
  gather,
  isRecord,
  text as name,
  object,
  readJson,
  reject,
  show,
} from '../checks/checks.ts';
import {
  type Capability,
  capabilityFileChecks,
  capabilityWarnings,
  checkCapabilityMap,
} from '../routing/capability.ts';

/** A checked capability map from a file. */
export interface CapabilityMap {
  /** Capabilities by tool: each is a part of the tool's configuration. */
  readonly tools: Readonly<Record<string, Capability>>;
  /** Faults that do not prevent a start: a tool with neither alternative nor fallback leaves the model nothing to do. */
  readonly warnings: readonly ConfigIssue[];
}

const WHAT = 'capability map';

const A_TOOL = "{ fallback: 'ask the user for a link' }";

const checkTools: Check = (path, value) => {
  if (!isRecord(value)) return object({}, `{ web_search: ${A_TOOL} }`)(path, value);
  return gather(Object.entries(value), ([tool, capability]) => [
    ...name('it is the name of a tool.')(`${path}['${tool}']`, tool),
    ...object(capabilityFileChecks, A_TOOL)(`${path}.${tool}`, capability),
  ]);
};

const checkFile: Check = (path, value) => {
  if (!isRecord(value)) {
    const what = value === null ? 'empty' : show(value); // As YAML reads an empty file.
    return [
      {
        path: 'file',
        message: `is ${what}. Give an object with the key 'tools', such as { tools: { web_search: ${A_TOOL} } }.`,
      },
    ];
  }
  if (!Object.hasOwn(value, 'tools')) {
    return [
      { path: 'file', message: `has no key 'tools'. Put the tools under it: { tools: { web_search: ${A_TOOL} } }.` },
    ];
  }
  return complete({ tools: (_, tools) => checkTools('tools', tools) })(path, value);
};

/**
 * Checks a capability map (R1) from a file, in YAML or another format: `{ tools: { name: { provides, alternatives, fallback,
 * dependsOn } } }`. All four may be left out. An alternative must also be a tool of the file. `adapt` can't come from a file.
 *
 * @throws {BreakerboxConfigError} with everything that is malformed: unknown keys, values of a wrong type, an alternative that is
 * not a tool, is the tool itself or is listed twice, a cycle of alternatives or of `dependsOn`.
 *
 * @example
 * ```ts
 * const { tools, warnings } = validateCapabilities(await readYaml('capabilities.yaml'));
 * for (const { path, message } of warnings) report(path, message);
 * createBreakerbox({ agent: 'research-agent', tools });
 * ```
 */
export const validateCapabilities = (value: unknown): CapabilityMap => {
  const { tools } = (value ?? {}) as { tools?: unknown };
  reject([...checkFile('', value), ...checkCapabilityMap(tools)], WHAT);
  const sound = tools as CapabilityMap['tools'];
  return { tools: sound, warnings: capabilityWarnings(sound) };
};

/**
 * The same for a JSON string.
 *
 * @throws {BreakerboxConfigError} if it is not JSON, with line and column if they are known, and as {@link validateCapabilities}
 * does.
 *
 * @example
 * ```ts
 * const { tools } = parseCapabilities('{"tools": {"web_search": {"fallback": "ask the user for a link"}}}');
 * ```
 */
export const parseCapabilities = (text: string): CapabilityMap => {
  if (typeof text !== 'string')
    reject([{ path: 'text', message: `is ${show(text)}. Give the JSON as a string.` }], WHAT);
  const { value, issue } = readJson(text, '{"tools": {}}');
  if (issue !== undefined) reject([issue], WHAT);
  return validateCapabilities(value);
};
