// First, because it replaces Math.random, which the fleet takes for itself.
import '../world/time.ts';
import { createBreakerbox, type ToolConfig } from '@breakerbox/core';
import { createFleet, memoryStore } from '@breakerbox/fleet';
import { createRelay } from '../../../packages/cli/src/mcp/relay.ts';
import { createRelayBox } from '../../../packages/cli/src/mcp/relay-box.ts';
import { RELAY_DEFAULTS } from '../../../packages/cli/src/mcp/relay-config.ts';
import { ALTERNATIVES } from '../airline/tools.ts';
import type { Protection } from './protection.ts';

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

const single = (
  id: string,
  text: string,
  tools: Readonly<Record<string, ToolConfig>>,
  inPlace?: readonly string[],
): Protection => ({
  id,
  text,
  begin: () => {
    const session = createBreakerbox({ agent, clock, tools }).session();
    return { guard: (_, call) => ({ call, session, ...(inPlace && { inPlace }) }), end: async () => session.end() };
  },
});

export const DEFAULTS = single('breakerbox', 'Breakerbox, defaults', {});
export const WITH_MAP = single('breakerbox-map', 'Breakerbox, capability map', capabilityMap());
export const DIRECT = single(
  'breakerbox-direct',
  'Breakerbox, alternatives called directly',
  capabilityMap({}, true),
  Object.values(ALTERNATIVES),
);

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
      return { fleet, session: createBreakerbox({ agent, clock, scope: 'process', fleet, tools }).session() };
    });
    return {
      guard: (process, call) => {
        const member = members[process];
        return member === undefined ? { call } : { call, session: member.session };
      },
      end: async () => {
        for (const { fleet, session } of members) {
          session.end();
          await fleet.close();
        }
      },
    };
  },
};
