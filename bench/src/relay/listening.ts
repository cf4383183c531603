import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Chain, memoryMb } from './chain.ts';

/** A client that speaks over HTTP to a process in between, which serves it with `--listen`. */
export const startListening = async (args: readonly string[]): Promise<Omit<Chain, 'startMs' | 'cpuMs'>> => {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  let url: string | undefined;
  for await (const text of child.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += text;
    url = /connect the client to (\S+)/.exec(said)?.[1];
    if (url !== undefined) break;
  }
  if (url === undefined) throw new Error(`the process ended: ${said}`);
  child.stderr.resume();
  const address = url;
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  let id = 0;
  return {
    call: async (argumentsOfCall) => {
      const at = performance.now();
      id += 1;
      const params = { name: 'echo', arguments: argumentsOfCall };
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
      const response = await fetch(address, { method: 'POST', headers, body });
      if (!(await response.text()).includes('"result"')) throw new Error('the call has no result');
      return performance.now() - at;
    },
    restMb: () => memoryMb(child.pid, 'VmRSS'),
    peakMb: () => memoryMb(child.pid, 'VmHWM'),
    close: async () => {
      const exit = once(child, 'exit');
      child.kill();
      await exit;
    },
  };
};
