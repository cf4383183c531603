// First, because it replaces Math.random, which the fleet takes for itself.
import '../world/time.ts';
import { type Breakerbox, createBreakerbox, type ToolConfig } from '@breakerbox/core';
import { createFleet, memoryStore } from '@breakerbox/fleet';
import { createRelay } from '../../../packages/cli/src/mcp/relay.ts';
import { createRelayBox } from '../../../packages/cli/src/mcp/relay-box.ts';
import { RELAY_DEFAULTS } from '../../../packages/cli/src/mcp/relay-config.ts';
import { ALTERNATIVES } from '../airline/tools.ts';
import type { CallTool, Guarding, Protection } from './protection.ts';

const clock = { now: () => performance.now(), unixNow: () => Date.now() };
const agent = 'airline';

/** Which tool can replace which. With `adapt`, Breakerbox calls it itself, where the adapter is told that it may. */
const capabilityMap = (more: ToolConfig = {}, direct = false): Readonly<Record<string, ToolConfig>> =>
  Object.fromEntries(
    Object.entries(ALTERNATIVES).flatMap(([tool, other]) => [
      [
        tool,
        {
          ...more,
          alternatives: [
            { tool: other, degradation: 'low' as const, ...(direct && { adapt: (input: unknown) => input }) },
          ],
        },
      ],
      [other, more],
    ]),
  );

/** A session for the conversation, which ends with it. */
const inSession = (box: Breakerbox, call: CallTool): Guarding => {
  const session = box.session();
  return { call, session, end: () => session.end() };
};

const single = (
  id: string,
  text: string,
  tools: Readonly<Record<string, ToolConfig>>,
  { scope = 'process', inPlace }: { readonly scope?: 'process' | 'session'; readonly inPlace?: readonly string[] } = {},
): Protection => ({
  id,
  text,
  begin: () => {
    const box = createBreakerbox({ agent, clock, scope, tools });
    return { guard: (_, call) => ({ ...inSession(box, call), ...(inPlace && { inPlace }) }), end: async () => {} };
  },
});

export const DEFAULTS = single('breakerbox', 'Breakerbox, defaults', {});
export const WITH_MAP = single('breakerbox-map', 'Breakerbox, capability map', capabilityMap());
export const OWN_CIRCUITS = single('breakerbox-own', 'Breakerbox, map, circuits of one conversation', capabilityMap(), {
  scope: 'session',
});
export const DIRECT = single('breakerbox-direct', 'Breakerbox, alternatives called directly', capabilityMap({}, true), {
  inPlace: Object.values(ALTERNATIVES),
});

/** `breakerbox mcp` in front of the server, by the relay's own code. */
const relayed = (id: string, text: string, tools: Readonly<Record<string, ToolConfig>>): Protection => ({
  id,
  text,
  begin: () => {
    const { session, ...rules } = createRelayBox({ agent, clock, ...RELAY_DEFAULTS, tools });
    const relay = createRelay({ session, group: 'airline', ...rules });
    return { guard: (_, call) => ({ call, session, relay }), end: async () => session.end() };
  },
});

export const RELAY = relayed('breakerbox', 'Breakerbox, relay', {});
export const RELAY_WITH_MAP = relayed('breakerbox-map', 'Breakerbox, relay with a capability map', capabilityMap());

export const MODELS: Protection = {
  id: 'breakerbox-models',
  text: 'Breakerbox, guardModels with a second model',
  begin: () => {
    const models = createBreakerbox({ agent, clock });
    return { guard: (_, call) => ({ call, models }), end: async () => {} };
  },
};

const PROCESSES = 3;

/** Three boxes, as in three processes, which share circuits through a store. */
export const FLEET: Protection = {
  id: 'breakerbox-fleet',
  text: `Breakerbox, map and fleet of ${PROCESSES}`,
  processes: PROCESSES,
  begin: () => {
    const store = memoryStore();
    const members = Array.from({ length: PROCESSES }, () => {
      const fleet = createFleet({ client: store });
      const tools = capabilityMap({ share: 'fleet' });
      return { fleet, box: createBreakerbox({ agent, clock, scope: 'process', fleet, tools }) };
    });
    return {
      guard: (process, call) => {
        const member = members[process];
        return member === undefined ? { call } : inSession(member.box, call);
      },
      end: async () => {
        for (const { fleet } of members) await fleet.close();
      },
    };
  },
};
