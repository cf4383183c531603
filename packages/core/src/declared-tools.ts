import { groupNameOf } from './circuit/groups.ts';
import { name as checkName, reject, show } from './config/checks.ts';
import { shortened } from './config/names.ts';
import { GROUP_PREFIX, OTHER_TOOL } from './telemetry/semconv.ts';
import { warnOnce } from './warnings/warnings.ts';

/** Number of tools that may be declared by being seen: per tool with its own series, and the least. */
const SEEN_PER_SERIES = 10;
export const LEAST_SEEN = 2_000;

/** The box that the tools belong to. */
interface Owner {
  readonly agent: string;
  readonly maxTools: number;
  /** The declared tools. */
  readonly tools: { readonly size: number; has(name: string): boolean };
  readonly declare: (name: string, group: string | undefined) => void;
}

/**
 * Declares tools that adapters see. A server's list and a model's calls may have any number of names, and each tool costs memory.
 * Tools beyond the limit are left out, with one warning. A low `maxTools`, set to save series, does not take circuits from an
 * agent's own tools.
 */
export const boundedDeclare = ({
  agent,
  maxTools,
  tools,
  declare,
}: Owner): ((name: string, group: string | undefined) => void) => {
  const most = Math.max(LEAST_SEEN, SEEN_PER_SERIES * maxTools);
  return (name, group) => {
    if (groupNameOf(typeof name === 'string' ? name : undefined) !== undefined) {
      return warnOnce(
        'BREAKERBOX_RESERVED_NAME',
        agent,
        () =>
          `Agent '${agent}': tool ${show(name)} has no circuit, because names that begin with '${GROUP_PREFIX}' are reserved for the circuits of groups. Its calls pass, and are counted as '${OTHER_TOOL}'. Rename the tool.`,
      );
    }
    if (tools.size < most || typeof name !== 'string' || tools.has(shortened(name))) return declare(name, group);
    reject(checkName('tool', name));
    warnOnce(
      'BREAKERBOX_TOO_MANY_TOOLS',
      agent,
      () =>
        `Agent '${agent}' has ${tools.size} declared tools. Further ones that are only seen have no circuit: their calls pass, and are counted as '${OTHER_TOOL}'. If an agent really has so many, declare them in createBreakerbox({ tools }) or by box.declare(), or raise maxTools (${maxTools}): ten times as many may be seen, ${LEAST_SEEN} at least.`,
    );
  };
};
