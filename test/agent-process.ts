import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The orders for an agent in a process of its own, for test/agent-child.ts. */
export interface AgentOrders {
  readonly agent: string;
  /** Its `service.name`, which is also its job if it pushes. */
  readonly job: string;
  /** The port on which it is scraped. Without one it pushes, as the `OTEL_` variables say. */
  readonly port?: number;
  /** The services behind its tools. It calls all of them again and again. */
  readonly tools?: Readonly<Record<string, string>>;
  /** The group of each of these tools that has one. */
  readonly groups?: Readonly<Record<string, string>>;
  /** Another kind of agent: spender.ts, moody.ts, speaker.ts, limited.ts. */
  readonly nature?: 'spender' | 'moody' | 'speaker' | 'limited' | 'burner';
}

/** The messages to a running agent. */
export type Message =
  | { readonly do: 'heal' | 'resume' | 'stop' }
  /** Failures of each session from now on. Before this message a spender is idle. */
  | { readonly do: 'spend'; readonly failures: number }
  /** How many models refuse the key of a speaker. */
  | { readonly do: 'refuse'; readonly models: number };

/** The agent has started, and exports telemetry. */
export const READY = 'ready';

/** A process with one agent. */
export interface AgentProcess {
  readonly pid: number;
  send(message: Message): void;
  /** Ends it as a deployment does: it finishes its work, and flushes its telemetry. */
  stop(): Promise<void>;
  /** Kills it, as the out-of-memory killer does. */
  kill(): Promise<void>;
  /** Stops it, like a paused virtual machine: it answers no scrape. */
  freeze(): void;
  thaw(): void;
}

const CHILD = fileURLToPath(new URL('agent-child.ts', import.meta.url));

/** The variables of this process, without those that would change a child's telemetry. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(OTEL_|NODE_OPTIONS|VITEST)/.test(name)));

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
};

/**
 * Starts an agent, and waits until it exports telemetry.
 * @param variables The address to which it pushes, if it does.
 * @throws Error with the end of its stderr if it exits before it exports telemetry
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
  // A message to an agent that has just exited is lost, as it should be.
  child.on('error', () => undefined);
  const ready = once(child, 'message').then(([said]) => said === READY);
  const alive = await Promise.race([ready, ended(child).then(() => false)]);
  if (!alive || child.pid === undefined) throw new Error(`the process of ${orders.agent} did not start: ${words}`);
  return {
    pid: child.pid,
    send: (message) => {
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
