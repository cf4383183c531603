/** MCP servers and clients from PyPI, each line of the SDK in a folder of its own. The first time, pip takes half a minute. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The packages of each line, with their versions. */
const LINES = {
  sdk1: ['mcp==1.30.0', 'fastmcp==3.4.11', ...['fetch', 'git', 'time'].map((name) => `mcp-server-${name}==2026.10.10`)],
  sdk2: ['mcp==2.3.0'],
} as const;
export type Line = keyof typeof LINES;

const OLDEST = 10;

const reasonAgainst = async (): Promise<string | undefined> => {
  const look = 'import sys, pip; print(sys.version_info.minor)';
  try {
    const { stdout } = await run('python3', ['-c', look]);
    return Number(stdout) < OLDEST ? `needs Python 3.${OLDEST} or later` : undefined;
  } catch {
    return `needs python3 of 3.${OLDEST} or later, with pip`;
  }
};

/** Why the programs cannot be had here; undefined if they can. */
export const NO_PYTHON: string | undefined = await reasonAgainst();

const CACHE = join(import.meta.dirname, '../node_modules/.cache/breakerbox-python');

/** Installs the packages of a line, or takes those that were installed before. @returns their folder. @throws Error with the last words of pip */
const packagesOf = async (line: Line): Promise<string> => {
  const wanted = LINES[line];
  const { stdout } = await run('python3', ['-c', 'import sys; print(sys.implementation.cache_tag)']);
  const folder = join(CACHE, [stdout.trim(), ...wanted].join('+').replaceAll('==', '-'));
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const made = await mkdtemp(join(CACHE, 'new-'));
  try {
    const flags = ['--quiet', '--disable-pip-version-check', '--no-input', '--target', made];
    await run('python3', ['-m', 'pip', 'install', ...flags, ...wanted], { maxBuffer: 2 ** 24 });
    await rename(made, folder);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  return folder;
};

export interface Python {
  readonly command: string;
  /** The variables with which Python finds the packages. */
  readonly env: Readonly<Record<string, string>>;
}

export const pythonOf = async (line: Line): Promise<Python> => {
  const folder = await packagesOf(line);
  return { command: 'python3', env: { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' } };
};

/** A script of this folder. */
export const pythonScript = (name: string): string => join(import.meta.dirname, 'python', name);
