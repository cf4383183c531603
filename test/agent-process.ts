import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What an agent in a process of its own is to do; given to test/agent-child.ts. */
export interface AgentOrders {
  readonly agent: string;
  /** Its `service.name`, and so its job where it pushes. */
  readonly job: string;
  /** Where it is scraped; without one it pushes by the `OTEL_` variables. */
  readonly port?: number;
  /** The services behind its tools: it calls them all, over and over. */
  readonly tools?: Readonly<Record<string, string>>;
  /** The group of each of these tools that is in one. */
  readonly groups?: Readonly<Record<string, string>>;
  /** What it does instead: spender.ts, moody.ts. */
  readonly nature?: 'spender' | 'moody';
}

/** What it is told while it runs. */
export type Message =
  | { readonly do: 'heal' | 'resume' | 'stop' }
  /** Failures of each session from now on; a spender is idle before. */
  | { readonly do: 'spend'; readonly failures: number };

/** It has started, and reports. */
export const READY = 'ready';

/** A process with one agent. */
export interface AgentProcess {
  readonly pid: number;
  tell(message: Message): void;
  /** Ends it as a deployment does: it finishes, and flushes what it has to tell. */
  stop(): Promise<void>;
  /** Ends it as the out-of-memory killer does. */
  kill(): Promise<void>;
  /** Halts it, as a paused virtual machine is: it answers no scrape. */
  freeze(): void;
  thaw(): void;
}

const CHILD = fileURLToPath(new URL('agent-child.ts', import.meta.url));

/** The variables of this process without those that would change a child's telemetry. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(OTEL_|NODE_OPTIONS|VITEST)/.test(name)));

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
};

/**
 * Starts an agent and waits until it reports.
 * @param variables Where it pushes, if it does.
 * @throws Error with the end of its stderr when it ends before it reports
 */
export const startAgentProcess = async (
  orders: AgentOrders,
  variables: Readonly<Record<string, string>> = {},
): Promise<AgentProcess> => {
  const child = fork(CHILD, [JSON.stringify(orders)], {
    execArgv: ['--conditions=breakerbox-source'],
    env: { ...cleanEnvironment(), ...variables },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-1000);
  });
  // What is said to one that has just ended is lost, as it should be.
  child.on('error', () => undefined);
  const ready = once(child, 'message').then(([said]) => said === READY);
  const alive = await Promise.race([ready, ended(child).then(() => false)]);
  if (!alive || child.pid === undefined) throw new Error(`the process of ${orders.agent} did not start: ${words}`);
  return {
    pid: child.pid,
    tell: (message) => {
      if (child.connected) child.send(message);
    },
    stop: async () => {
      if (child.connected) child.send({ do: 'stop' } satisfies Message);
      child.kill('SIGCONT');
      await ended(child);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended(child);
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
  };
};
