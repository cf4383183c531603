/**
 * Two processes of a fleet on a real Redis, in whose hash and answers anything may be. Times pass at once. The promise: a healthy tool is
 * called within two reads after the garbage is gone, and no process ends.
 */
import { createBreakerbox } from '@breakerbox/core';
import { operate } from '@breakerbox/core/control';
import { shareCircuits } from '@breakerbox/core/fleet';
import { createClient } from 'redis';
import { fleetWith } from '../../packages/fleet/src/fleet.ts';
import type { FleetStore } from '../../packages/fleet/src/protocol.ts';
import type { RedisConnection } from '../../packages/fleet/src/redis/connection.ts';
import { fleetKey, redisStore } from '../../packages/fleet/src/redis/redis-store.ts';
import { openConnection, startRedis } from '../../packages/fleet/src/redis/test-support.redis-server.ts';
import { virtualRuntime } from '../../packages/fleet/src/test-support.virtual.ts';

/** What is wrong for a while. */
export interface Garbage {
  /** Fields of the hash. In a name, DIGEST is the digest of the tools' policy. */
  readonly hash: readonly (readonly [field: string, value: string])[];
  /** Answers of Redis, one after the other; none: it answers itself. */
  readonly answers: readonly unknown[];
}

/** Of the store: a round number, so that inputs can have times. */
export const START_MS = 1_700_000_000_000;
const READ_MS = 1_200;
/** A circuit that the garbage has opened, as Redis may say of any tool, is closed by a probe after its wait. */
const POLICY = {
  cooldownMs: 500,
  maxCooldownMs: 1_000,
  maxRetryAfterMs: 1_000,
  probeLeaseMs: 1_000,
  share: 'fleet',
} as const;
const LONGEST_MS = POLICY.maxCooldownMs + 1_000;
const CALL_MS = 200;
/** After answers that did not fit, a process is degraded for so long at most. Meanwhile it decides alone. */
const RESTORED_MS = 11_000;

/** One server for all inputs. It ends with this process. */
const server = async () => {
  const redis = await startRedis();
  process.once('exit', () => redis.child.kill('SIGKILL'));
  redis.child.unref();
  const client = createClient({ url: redis.url });
  client.on('error', () => {});
  await client.connect();
  client.unref();
  const connection = await openConnection(client);
  return {
    client,
    connection,
    stop: async () => {
      connection.close();
      client.destroy();
      redis.child.ref(); // Its end is waited for.
      await redis.stop();
    },
  };
};

let started: ReturnType<typeof server> | undefined;
let plays = 0;

/** Ends the server, for a process that goes on. */
export const stopRedis = async (): Promise<void> => {
  await (await started)?.stop();
  started = undefined;
};

/** A store that says when all of its commands are answered. Nothing listens for hints. */
const watched = (store: FleetStore) => {
  const pending = new Set<Promise<unknown>>();
  const watch =
    <Args extends readonly unknown[], Answer>(send: (...args: Args) => Promise<Answer>) =>
    (...args: Args): Promise<Answer> => {
      const answer = send(...args);
      pending.add(answer);
      answer.catch(() => {}).finally(() => pending.delete(answer));
      return answer;
    };
  const { read, report, claim, settle, end, control } = store;
  const all = {
    read: watch(read),
    report: watch(report),
    claim: watch(claim),
    settle: watch(settle),
    end: watch(end),
    control: watch(control),
  };
  const listen = () => ({ isCounted: () => true, to: () => {}, stop: () => {} });
  return { store: { ...store, ...all, listen }, pending };
};

/** Plays it. Throws if the promise is broken. */
export const playGarbage = async ({ hash, answers }: Garbage): Promise<void> => {
  started ??= server();
  const { client, connection } = await started;
  plays += 1;
  const name = `play ${plays}`;
  const key = fleetKey('fuzz', name);
  const runtime = virtualRuntime(plays);
  let isWrong = false;
  let answered = 0;
  const faulty: RedisConnection = {
    ...connection,
    send: (...command) => {
      if (!isWrong || answers.length === 0) return connection.send(...command);
      answered += 1;
      return Promise.resolve(answers[answered % answers.length]);
    },
  };
  const now = () => START_MS + Math.round(runtime.now());
  const epoch = () => runtime.id();
  const { store, pending } = watched(redisStore(faulty, { prefix: 'fuzz', name, commandTimeoutMs: 5_000, now, epoch }));
  const clock = { now: runtime.now, unixNow: now };
  const processes = [0, 1].map(() => {
    const fleet = fleetWith({ client: store, name }, { runtime, share: shareCircuits, operate });
    const tools = { healthy: POLICY, dead: POLICY };
    const box = createBreakerbox({
      agent: 'fuzz',
      scope: 'process',
      clock,
      fleet,
      tools,
      budget: { failures: 1_000_000 },
      systemic: false,
    });
    return { fleet, box, session: box.session() };
  });
  const [first] = processes;
  const digest = first === undefined ? '' : (shareCircuits(first.box).digest('healthy') ?? '');
  const thrown: unknown[] = [];
  const onThrown = (error: unknown) => void thrown.push(error);
  process.on('unhandledRejection', onThrown);

  /** Numbers of the processes that have called the healthy tool. */
  const pass = async (ms: number): Promise<ReadonlySet<number>> => {
    const called = new Set<number>();
    for (let passed = 0; passed < ms; passed += CALL_MS) {
      processes.forEach(({ session }, number) => {
        for (const tool of ['healthy', 'dead'] as const) {
          const permit = session.acquire(tool);
          if (permit.decision !== 'call' && permit.decision !== 'probe') continue;
          permit.settle(tool === 'healthy' ? { outcome: 'success' } : { outcome: 'failure', category: 'network' });
          if (tool === 'healthy') called.add(number);
        }
      });
      for (let turn = 0; turn < 4; turn += 1) {
        await runtime.pass(CALL_MS / 4);
        while (pending.size > 0) await Promise.allSettled(pending);
      }
    }
    return called;
  };

  try {
    await pass(2_000);
    if (hash.length > 0)
      await client.hSet(
        key,
        Object.fromEntries(hash.map(([field, value]) => [field.replace('DIGEST', digest), value])),
      );
    isWrong = true;
    await pass(4_000);
    isWrong = false;
    await client.del(key);
    await pass(2 * READ_MS);
    // The next calls may be rejected only as long as a circuit waits that Redis said was open.
    const called = await pass(LONGEST_MS);
    if (called.size < processes.length)
      throw new Error(`does not hold: a healthy tool is called again. Called by ${[...called]}`);
    const last = await pass(CALL_MS);
    if (last.size < processes.length)
      throw new Error(`does not hold: it is called from then on. Called by ${[...last]}`);
    const modes = () => processes.map(({ fleet }) => fleet.status().mode);
    if (modes().includes('degraded')) await pass(RESTORED_MS);
    if (thrown.length > 0 || modes().some((mode) => mode !== 'up'))
      throw new Error(`does not hold: all goes on as before. ${modes()}, ${thrown.join()}`);
  } finally {
    process.off('unhandledRejection', onThrown);
    const closing = Promise.all(processes.map(({ fleet }) => fleet.close()));
    await runtime.pass(10_000);
    await closing;
    await client.del(key);
  }
};

/** An input of the fuzzer: a line for each field, its name and its value; `answer` and JSON for an answer of Redis. */
export const garbageOf = (text: string): Garbage => {
  const lines = text.split('\n').map((line) => {
    const at = line.indexOf(' ');
    return [at < 0 ? line : line.slice(0, at), at < 0 ? '' : line.slice(at + 1)] as const;
  });
  const answers = lines.flatMap(([field, value]) => {
    if (field !== 'answer') return [];
    try {
      return [JSON.parse(value) as unknown];
    } catch {
      return [value];
    }
  });
  return { hash: lines.filter(([field]) => field !== 'answer' && field !== ''), answers };
};
