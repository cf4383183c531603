/** A recorder of the bytes on each side of `breakerbox mcp`, for the tests of one file. */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, expect } from 'vitest';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const RELAY = ['--conditions=breakerbox-source', path('../packages/cli/src/main.ts'), 'mcp'];

/** Whether a line of the client's side is the server's, but for the advice after an error (R5), with which the relay writes it again. */
const isTheirs = (line: string, theirs = ''): boolean => {
  const [plain, ...advised] = line.split(/\\n<breakerbox>.*?<\/breakerbox>/);
  if (advised.length === 0) return line === theirs;
  return isDeepStrictEqual(JSON.parse([plain, ...advised].join('')), JSON.parse(theirs || 'null'));
};

/** Each test has a folder of its own. */
export const mcpRecorder = () => {
  let folder = '';
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'breakerbox-recorder-')));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const tee = (name: string): string[] => [path('conformance/tee.mjs'), folder, name];

  /** The arguments of Node for recorder, relay with options, recorder, command of a server. */
  const recordedCommand = (options: readonly string[], ...command: string[]): string[] => [
    ...tee('client'),
    process.execPath,
    ...RELAY,
    ...options,
    '--',
    process.execPath,
    ...tee('server'),
    ...command,
  ];

  /** The same for a server that is a script of Node. */
  const recordedWith = (options: readonly string[], ...server: string[]): string[] =>
    recordedCommand(options, process.execPath, ...server);

  const bytes = (side: string): string => readFileSync(join(folder, side), 'latin1');

  /** The lines of the client's side that the server's side does not have, in order. Advice is no difference. */
  const extra = (of: 'in' | 'out'): string[] => {
    const theirs = bytes(`server.${of}`).split('\n');
    return bytes(`client.${of}`)
      .split('\n')
      .filter((line) => {
        const isSame = isTheirs(line, theirs[0]);
        if (isSame) theirs.shift();
        return !isSame;
      });
  };

  const expectEqualBytes = (): void => {
    expect(bytes('client.in')).not.toBe('');
    expect(bytes('client.in') === bytes('server.in')).toBe(true);
    expect(bytes('client.out') === bytes('server.out')).toBe(true);
  };

  return {
    folder: () => folder,
    recorded: (...server: string[]) => recordedWith([], ...server),
    recordedWith,
    recordedCommand,
    extra,
    expectEqualBytes,
  };
};
