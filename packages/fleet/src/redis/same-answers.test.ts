import fc from 'fast-check';
import { createClient } from 'redis';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { boundedMemoryStore } from '../memory-store.ts';
import type { FleetStore, Grant, Position, ProbeResult, StoredCircuit } from '../protocol.ts';
import { NOWHERE } from '../protocol.ts';
import { redisStore } from './redis-store.ts';
import { openConnection, type RedisServer, startRedis } from './test-support.redis-server.ts';

let server: RedisServer;
let client: ReturnType<typeof createClient>;

beforeAll(async () => {
  server = await startRedis();
  client = createClient({ url: server.url });
  client.on('error', () => {});
  await client.connect();
});
afterAll(async () => {
  client.destroy();
  await server.stop();
});

const ids = fc.constantFrom('a', 'b', 'c', 'é {x}');
const processes = fc.constantFrom('p1', 'p2', 'p');
const ms = fc.constantFrom(0, 1, 500, 1_000, 5_000);
const leases = fc.constantFrom(1, 1_000, 7_000, 20_000);
const categories = fc.constantFrom('network', 'timeout', 'server' as const);
const generations = fc.nat(4);

const results: fc.Arbitrary<ProbeResult> = fc.oneof(
  fc.constant({ result: 'success' } as const),
  fc.record({ result: fc.constant('failure' as const), category: categories, waitMs: ms }),
  fc.constant({ result: 'returned' } as const),
);

/** What a process knows: where it has read to, the circuits, and the latest grant. */
interface Known {
  readonly position: Position;
  readonly circuits: readonly StoredCircuit[];
  readonly granted: readonly [id: string, process: string, grant: Grant] | undefined;
}

type Call = (store: FleetStore, known: Known) => Promise<unknown>;

interface Move {
  readonly call?: Call;
  readonly passMs?: number;
  readonly flush?: boolean;
  /** The answer is the grant of this process. */
  readonly claims?: readonly [id: string, process: string];
}

const call: fc.Arbitrary<Move> = fc.oneof(
  // A negative time: the clock of another main server.
  { weight: 4, arbitrary: fc.oneof(ms, ms, fc.constantFrom(-500, -10_000)).map((passMs) => ({ passMs })) },
  { weight: 1, arbitrary: fc.constant({ flush: true }) },
  {
    weight: 8,
    arbitrary: fc
      .record({
        id: ids,
        process: processes,
        category: categories,
        waitMs: ms,
        quorum: fc.nat(2).map((n) => n + 1),
        windowMs: fc.constantFrom(1_000, 10_000),
        generation: fc.constantFrom(0, 0, 0, 1, 3),
        ageMs: ms,
        living: fc.constantFrom(undefined, 1, 2, 5),
      })
      .map((report) => ({ call: (store: FleetStore) => store.report(report) })),
  },
  {
    weight: 8,
    arbitrary: fc
      .tuple(ids, processes, generations, fc.constantFrom('t1', 't2'), leases, fc.boolean())
      .map((claim) => ({
        call: (store: FleetStore) => store.claim(...claim),
      })),
  },
  {
    weight: 8,
    arbitrary: fc
      .tuple(
        ids,
        processes,
        fc.record({ epoch: fc.constantFrom('e0', 'e1'), generation: generations, token: fc.constantFrom('t1', 't2') }),
        results,
      )
      .map((settlement) => ({ call: (store: FleetStore) => store.settle(...settlement) })),
  },
  {
    weight: 8,
    arbitrary: fc.tuple(ids, processes, leases, fc.boolean()).map(([id, process, leaseMs, isWanted]) => ({
      call: (store: FleetStore, { circuits }: Known) =>
        store.claim(id, process, circuits.find((one) => one.id === id)?.generation ?? 0, 't1', leaseMs, isWanted),
      claims: [id, process] as const,
    })),
  },
  {
    weight: 8,
    arbitrary: results.map((result) => ({
      call: async (store: FleetStore, { granted }: Known) => granted && store.settle(...granted, result),
    })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(ids, generations).map((end) => ({ call: (store: FleetStore) => store.end(...end) })),
  },
  {
    weight: 6,
    arbitrary: fc
      .record({
        key: fc.constantFrom('k', 'l', 'é {x}'),
        id: fc.constantFrom('a', 'b', 'c', 'd'),
        body: fc.constantFrom('{}', '{"a":"é\\\\"}'),
        leftMs: ms,
        keptMs: ms,
        ageMs: ms,
        after: fc.constantFrom(0, 0, 1_700_000_000_500),
      })
      .map((action) => ({ call: (store: FleetStore) => store.control(action) })),
  },
  {
    weight: 8,
    arbitrary: fc.constantFrom('here', 'nowhere', 'elsewhere', 'later').map((from) => ({
      call: (store: FleetStore, { position: { epoch, version } }: Known) =>
        store.read(
          {
            here: { epoch, version },
            nowhere: NOWHERE,
            elsewhere: { epoch: 'other', version },
            later: { epoch, version: version + 5 },
          }[from] ?? NOWHERE,
        ),
    })),
  },
);

test('G9: the scripts give the answers of the pure functions, for any sequence of calls', async () => {
  const runs = Number(process.env.BREAKERBOX_MODEL_CASES ?? 1_000) / 5;
  const connection = await openConnection(client);
  onTestFinished(() => connection.close());
  let name = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 5, maxLength: 60 }), async (calls) => {
      name += 1;
      let nowMs = 1_700_000_000_000;
      let epoch = 0;
      const seams = { now: () => nowMs, epoch: () => `e${epoch}`, bounds: { circuits: 2, actions: 2 } };
      const memory = boundedMemoryStore(seams.bounds, seams);
      const redis = redisStore(connection, { prefix: 'test', name: `n${name}`, commandTimeoutMs: 10_000, ...seams });
      let known: Known = { position: NOWHERE, circuits: [], granted: undefined };
      for (const { call, passMs = 0, flush, claims } of calls) {
        nowMs += passMs;
        if (flush === true) {
          epoch += 1;
          memory.clear();
          await client.sendCommand(['FLUSHALL']);
        }
        if (call === undefined) continue;
        const [expected, found] = [await call(memory, known), await call(redis, known)];
        expect(found).toEqual(expected);
        const { position, circuits } = await memory.read(NOWHERE);
        const granted = claims && expected !== undefined ? ([...claims, expected as Grant] as const) : known.granted;
        known = { position, circuits, granted };
      }
      expect(await redis.read(NOWHERE)).toEqual(await memory.read(NOWHERE));
    }),
    { numRuns: runs },
  );
});
