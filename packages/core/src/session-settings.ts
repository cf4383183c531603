import type { BoxContext } from './box-context.ts';
import type { SessionOptions, SessionToolConfig } from './config/config.ts';
import type { ToolSettings, ToolSpec } from './tool.ts';

/** The settings of a tool of the box with those of a session over them. Undefined if they do not fit together. */
export type MergeOwn = (base: ToolSpec, own: SessionToolConfig) => ToolSettings | undefined;

/**
 * C18: a box as a session with settings of its own sees it. Other tools, groups and all else are those of the box. A session without such
 * settings uses the box itself.
 */
export const withOwnTools = (box: BoxContext, own: SessionOptions['tools'], merge: MergeOwn): BoxContext => {
  if (own === undefined) return box;
  const specs = new Map<string, ToolSpec>();
  return {
    ...box,
    ownTools: own,
    tool: (name) => {
      const base = box.tool(name);
      const changes = Object.hasOwn(own, name) ? own[name] : undefined;
      if (base === undefined || changes === undefined) return base;
      const spec = specs.get(name) ?? specOver(base, () => merge(base, changes));
      specs.set(name, spec);
      return spec;
    },
  };
};

/**
 * A tool that takes all else from that of the box, its group and its series too. When the settings of the box change (A10), those of the
 * session stay over the new ones, unless they no longer fit together: then it goes on with the earlier ones.
 */
const specOver = (base: ToolSpec, merge: () => ToolSettings | undefined): ToolSpec => {
  let seen = base.policy;
  let settings = merge();
  const { mode, policy } = settings ?? base;
  const now = (): ToolSettings => {
    if (base.policy !== seen) {
      seen = base.policy;
      settings = merge() ?? settings;
    }
    return settings ?? base;
  };
  return Object.create(base, {
    mode: { get: () => now().mode },
    policy: { get: () => now().policy },
    keyPolicy: { get: () => now().keyPolicy },
    key: { get: () => now().key },
    beganWith: { value: { mode, policy } },
  });
};
