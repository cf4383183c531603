/** MCP servers behind streamable HTTP as processes, which tests kill, stop and start again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { freePort } from '../packages/demo/src/child.ts';

export interface ServerBehindHttp {
  readonly url: string;
  readonly pid: number;
  /** Ends it, and waits until it has ended. */
  kill(): Promise<void>;
}

const resolver = createRequire(import.meta.url);

/** The script of a reference server. */
export const npmServer = (name: string): string =>
  resolver.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);

const killed = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
};

/** Starts a server that uses `mcp-serve.mjs`, or the everything server. Port 0: any that is free. */
export const startServer = async (script: string, wanted = 0): Promise<ServerBehindHttp> => {
  const isOwn = !script.includes('node_modules');
  const port = wanted === 0 ? await freePort() : wanted;
  const child = spawn(process.execPath, [script, ...(isOwn ? ['http', `${port}`] : ['streamableHttp'])], {
    env: { ...process.env, PORT: `${port}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    for (const output of [child.stdout, child.stderr])
      createInterface(output).on('line', (line) => {
        said.push(line);
        if (/^http:|listening/.test(line)) resolve();
      });
    child.once('exit', () => reject(new Error(`The server did not start: ${said.join('\n')}`)));
  });
  return { url: `http://127.0.0.1:${port}/mcp`, pid: child.pid ?? 0, kill: () => killed(child) };
};
