/** `breakerbox mcp` as a process with raw pipes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const MAIN = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url));

/** Arguments of Node for the relay. */
export const relayTo = (...args: string[]): string[] => ['--conditions=breakerbox-source', MAIN, 'mcp', ...args];

/** Time limit for what a busy machine does, in milliseconds. */
export const PATIENT = { timeout: 30_000 };

export interface Piped {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly texts: { out: string; err: string };
  /** Waits for a line of its output. */
  line(index: number): Promise<string>;
  send(message: string): void;
}

/** Starts a relay. The test kills it. */
export const piped = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Piped => {
  const child = spawn(process.execPath, relayTo(...args), { stdio: 'pipe', env: { ...process.env, ...env } });
  const texts = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    texts.out += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    texts.err += chunk;
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const line = async (index: number): Promise<string> => {
    await expect.poll(() => texts.out.split('\n').length - 1, PATIENT).toBeGreaterThan(index);
    return texts.out.split('\n')[index] ?? '';
  };
  return { child, ended, texts, line, send: (message) => void child.stdin.write(`${message}\n`) };
};

export const callOf = (id: number | string, name: string, input: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: input } });

/** What the model reads. */
export const textIn = (line: string): string => JSON.parse(line).result.content[0].text;
