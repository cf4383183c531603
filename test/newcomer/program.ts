import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { ScriptedApi } from '@breakerbox/scripted-models/loopback';
import { freePort } from '../../packages/demo/src/child.ts';
import type { Documented } from './documented.ts';
import { openGate } from './gate.ts';

/** What is to be seen of a program that has run to its end. */
export interface Seen {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What /metrics said while the program waited for its model the last time. */
  readonly metrics: string;
}

/** The environment of a shell in which nothing is set but this: no key, no proxy, no settings of the person who runs the tests. */
const bareEnvironment = (home: string) => ({ PATH: process.env.PATH ?? '', HOME: home, NO_COLOR: '1' });

/**
 * Runs `agent.ts` of a project with the model's API in the place of the provider.
 *
 * @param variables What the program's environment says, given the address of the API.
 * @param asked Is called each time that the program asks its model: the program's pid, and how many times it has asked by now.
 */
export const runProgram = async (
  folder: string,
  { variables: documented, flags }: Documented,
  api: ScriptedApi,
  variables: (url: string) => Readonly<Record<string, string>>,
  asked: (asking: { readonly pid: number; readonly times: number }) => void = () => {},
): Promise<Seen> => {
  const port = await freePort();
  let metrics = '';
  let pid = 0;
  let times = 0;
  const gate = await openGate(api.url, async () => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined); // It may not listen yet.
    if (response?.ok) metrics = await response.text();
    times += 1;
    asked({ pid, times });
  });
  try {
    const child = spawn(process.execPath, [...flags, 'agent.ts'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...bareEnvironment(folder),
        OTEL_EXPORTER_PROMETHEUS_PORT: `${port}`,
        ...documented,
        ...variables(gate.url),
      },
    });
    pid = child.pid ?? 0;
    const code = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await code, stdout, stderr, metrics };
  } finally {
    await gate.stop();
  }
};
