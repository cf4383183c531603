import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A client that speaks to a server, directly or through a process in between. */
export interface Chain {
  /** Milliseconds from the start of the first process to the answer of the server to `initialize`. */
  readonly startMs: number;
  /** Calls a tool. Gives milliseconds until the whole answer is there. */
  call(argumentsOfCall: object): Promise<number>;
  /** Milliseconds of processor time that the first process has taken. Linux counts in steps of 10 ms. */
  cpuMs(): number;
  /** Memory of the first process now, in MB. */
  restMb(): number;
  /** The most memory that the first process has had, in MB. */
  peakMb(): number;
  close(): Promise<void>;
}

const LINE_FEED = 0x0a;

/** The client only writes and waits for a line, so that the time is not that of an SDK. */
export const startChain = async (args: readonly string[]): Promise<Chain> => {
  const begun = performance.now();
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let answered = (): void => {};
  // The answers come one after the other, and only their ends have a line feed.
  child.stdout?.on('data', (chunk: Buffer) => {
    if (chunk.at(-1) === LINE_FEED) answered();
  });
  let id = 0;
  const send = (method: string, params: object): Promise<void> => {
    id += 1;
    const text = `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
    return new Promise((resolve, reject) => {
      answered = resolve;
      void ended.then(() => reject(new Error(`the process ended: ${args.join(' ')}`)));
      child.stdin?.write(text);
    });
  };
  const clientInfo = { name: 'bench', version: '0.0.0' };
  await send('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  const startMs = performance.now() - begun;
  child.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  await send('tools/list', {});
  return {
    startMs,
    call: async (argumentsOfCall) => {
      const at = performance.now();
      await send('tools/call', { name: 'echo', arguments: argumentsOfCall });
      return performance.now() - at;
    },
    cpuMs: () => cpuMs(child.pid),
    restMb: () => memoryMb(child.pid, 'VmRSS'),
    peakMb: () => memoryMb(child.pid, 'VmHWM'),
    close: async () => {
      child.stdin?.end();
      await ended;
    },
  };
};

/** `utime` and `stime` of proc(5), in the steps of Linux. */
const cpuMs = (pid: number | undefined): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
};

/** As Linux counts it. */
export const memoryMb = (pid: number | undefined, field: 'VmRSS' | 'VmHWM'): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
};
