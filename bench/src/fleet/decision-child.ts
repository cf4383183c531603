import { setTimeout as wait } from 'node:timers/promises';
import { type Breakerbox, createBreakerbox, type Session } from '@breakerbox/core';
import { createFleet } from '@breakerbox/fleet';
import { createClient } from 'redis';
import { type Redis, startRedis } from '../../../test/fleet/redis.ts';
import { FULL, QUICK } from '../contest.ts';
import { AGENT, byHand } from '../ours.ts';
import { cockatielCircuit } from '../peers.ts';
import { type Racer, race } from '../race.ts';
import { brokenTool, caught, HOUR_MS, NEVER, TOOL, tool } from '../tool.ts';

/** Races decisions with and without a fleet in this process, and sends the findings to the process that started it. */
const pace = process.argv[2] === 'quick' ? QUICK : FULL;

/** Longer than a fleet waits before it says that it is degraded. */
const HANG_MS = 4_000;

const boxOn = (
  redis: Redis | undefined,
  name: string,
): { readonly box: Breakerbox; readonly close: () => Promise<void> } => {
  const policy = { cooldownMs: HOUR_MS, maxCooldownMs: HOUR_MS };
  const base = { agent: AGENT, scope: 'process', budget: { failures: NEVER } } as const;
  if (redis === undefined)
    return { box: createBreakerbox({ ...base, tools: { [TOOL]: policy } }), close: async () => {} };
  const client = createClient({ url: `redis://127.0.0.1:${redis.port}` });
  const fleet = createFleet({ client, name, quorum: 1 });
  const box = createBreakerbox({ ...base, fleet, tools: { [TOOL]: { ...policy, share: 'fleet' } } });
  return { box, close: () => fleet.close() };
};

const fails = async (session: Session): Promise<void> => {
  for (let left = 3; left > 0; left -= 1) await caught(() => byHand(session, brokenTool)(1))();
};

const working = await startRedis();
const hanging = await startRedis();
const ways = [
  { id: 'alone', title: 'without a fleet', redis: undefined },
  { id: 'fleet', title: 'in a fleet', redis: working },
  { id: 'hung', title: 'in a fleet whose Redis hangs', redis: hanging },
] as const;
const closed = ways.map((way) => ({ ...way, ...boxOn(way.redis, 'closed') }));
const open = ways.map((way) => ({ ...way, ...boxOn(way.redis, 'open') }));
for (const { box } of open) await fails(box.session());
await wait(1_000); // The fleets hear of each other.
hanging.freeze();
await wait(HANG_MS);

const ours = (id: string, title: string, run: Racer['run'], sync: boolean): Racer => ({
  id,
  title,
  by: 'breakerbox',
  run,
  sync,
});
const cockatiel = cockatielCircuit();
const dead = cockatielCircuit();
const executeDead = caught(() => dead.execute(() => brokenTool(1)));
for (let left = 3; left > 0; left -= 1) await executeDead();

const findings = {
  closed: await race(
    [
      {
        id: 'cockatiel',
        title: 'a call that succeeds: cockatiel',
        by: 'cockatiel',
        run: () => cockatiel.execute(() => tool(1)),
      },
      ...closed.map(({ id, title, box }) => {
        const hand = byHand(box.session(), tool);
        return ours(id, `a call that succeeds: Breakerbox ${title}`, () => hand(1), false);
      }),
    ],
    pace,
  ),
  open: await race(
    [
      { id: 'cockatiel', title: 'while the circuit is open: cockatiel', by: 'cockatiel', run: executeDead },
      ...open.map(({ id, title, box }) => {
        const session = box.session();
        return ours(id, `while the circuit is open: Breakerbox ${title}`, () => session.acquire(TOOL), true);
      }),
    ],
    pace,
  ),
};
hanging.thaw();
for (const { close } of [...closed, ...open]) await close();
await working.remove();
await hanging.remove();
process.send?.(findings, () => process.exit());
