import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('hostile-child.ts', import.meta.url));

/** The result of an agent's process. */
export interface AgentRun {
  /** 0: it ended by itself, without an unhandled error. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What the caller of its tools saw. */
  readonly seen: readonly string[];
  readonly scraped: { readonly status: number; readonly lines: boolean };
  /** Its whole log: stderr, and stdout, where OpenTelemetry writes at some values of OTEL_LOG_LEVEL. */
  readonly log: string;
}

/** Far above all our limits. A process that has not ended by then never will, and the test reports it. */
const NEVER_MS = 60_000;

/** Exports all the time, and allows each export two seconds, so that telemetry is under way in every call and at the end. */
const EAGER = {
  OTEL_METRIC_EXPORT_INTERVAL: '200',
  OTEL_METRIC_EXPORT_TIMEOUT: '150',
  OTEL_BSP_SCHEDULE_DELAY: '50',
  OTEL_BLRP_SCHEDULE_DELAY: '50',
  OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
};

export const runAgent = async (env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<AgentRun> => {
  const child = spawn(process.execPath, ['--conditions=breakerbox-source', CHILD, ...args], {
    env: { PATH: process.env.PATH, ...EAGER, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: NEVER_MS,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  const lines = stdout.split('\n');
  const result = lines.find((line) => line.startsWith('{"seen":')) ?? '{}';
  const { seen, scraped } = JSON.parse(result) as Pick<AgentRun, 'seen' | 'scraped'>;
  return { code, signal, seen, scraped, log: stderr + lines.filter((line) => line !== result).join('\n') };
};
