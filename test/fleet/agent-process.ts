import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from '../compile-cache.ts';

/** How an agent reaches Redis. */
export interface RedisAddress {
  readonly library: 'redis' | 'ioredis';
  /** More than one: a cluster. */
  readonly ports: readonly number[];
  readonly password?: string;
  /** File of the certificate to trust. With it, the connection is TLS. */
  readonly ca?: string;
}

/** The orders for an agent process, for agent-program.ts. */
export interface FleetOrders {
  readonly name: string;
  /** Undefined: no fleet. Each process learns alone. */
  readonly redis: RedisAddress | undefined;
  readonly toolUrl: string;
  /** Time between the ends of two calls of a tool. */
  readonly everyMs: number;
  /** Added to the wall clock of this process. */
  readonly wallClockMs: number;
  readonly failureThreshold: number;
  readonly cooldownMs: number;
  readonly maxCooldownMs: number;
  readonly probeLeaseMs: number;
}

/** What an agent says of itself. */
export interface AgentFacts {
  readonly decisions: Readonly<Record<string, number>>;
  /** Rejected calls of the tool that always works. */
  readonly healthyRejected: number;
  /** Milliseconds that decisions took. */
  readonly longestAcquireMs: number;
  readonly p99AcquireMs: number;
  /** The longest time that a timer of this process was late: the process itself waited, or had no processor. */
  readonly latestTimerMs: number;
  /** State of the circuit of the shared tool. */
  readonly state: string;
  readonly mode: 'starting' | 'up' | 'degraded' | 'off';
  /** What `fleet.status()` returns. */
  readonly status: unknown;
}

/** Messages to an agent. */
export type FleetMessage = { readonly do: 'begin' | 'halt' | 'facts' | 'forget' | 'stop' };

/** A real process with a box, a fleet and two shared tools. */
export interface FleetAgent {
  readonly name: string;
  readonly pid: number;
  /** It begins to call its tools. */
  begin(): void;
  /** It calls no tool any more, and lives on. */
  halt(): void;
  facts(): Promise<AgentFacts>;
  /** The longest decision so far counts no more. */
  forget(): void;
  freeze(): void;
  thaw(): void;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Closes the fleet and exits. Returns the milliseconds that closing took. */
  stop(): Promise<number>;
}

const PROGRAM = fileURLToPath(new URL('agent-program.ts', import.meta.url));
const FACTS_LIMIT_MS = 15_000;

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
};

/** Starts an agent and waits until its box is made. It does not wait for Redis. */
export const startFleetAgent = async (orders: FleetOrders): Promise<FleetAgent> => {
  const child = fork(PROGRAM, [JSON.stringify(orders)], {
    execArgv: ['--conditions=breakerbox-source'],
    env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, BREAKERBOX_WARNINGS: 'off', ...COMPILE_CACHE },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-2000);
  });
  child.on('error', () => undefined);
  const alive = await Promise.race([once(child, 'message').then(() => true), ended(child).then(() => false)]);
  if (!alive || child.pid === undefined) throw new Error(`the process of ${orders.name} did not start: ${words}`);
  const send = (message: FleetMessage): void => void (child.connected && child.send(message));
  return {
    name: orders.name,
    pid: child.pid,
    begin: () => send({ do: 'begin' }),
    halt: () => send({ do: 'halt' }),
    forget: () => send({ do: 'forget' }),
    facts: async () => {
      const answer = once(child, 'message', { signal: AbortSignal.timeout(FACTS_LIMIT_MS) });
      send({ do: 'facts' });
      const [facts] = await answer.catch(() => {
        throw new Error(`${orders.name} did not answer: ${words}`);
      });
      return facts as AgentFacts;
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    kill: async () => {
      child.kill('SIGKILL');
      await ended(child);
    },
    stop: async () => {
      const closed = once(child, 'message');
      child.kill('SIGCONT');
      send({ do: 'stop' });
      const [closedMs] = await closed;
      await ended(child);
      return closedMs as number;
    },
  };
};
