import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, runCommand } from '../newcomer/commands.ts';
import { readJson } from './published.ts';

const CACHE = join(ROOT, 'node_modules/.cache/breakerbox/nodes');
/** As the npm package `node` picks its binary, whose script would ask npm once more. */
const PLATFORM = `node-${process.platform}-${process.arch}`;

const own = readJson<{ dependencies: { node: string } }>(ROOT, 'package.json').dependencies.node;

/** The newest Node that everything is tried with. */
export const NEWEST_NODE = '26.10.0';
/** The Node of this workspace. */
export const OWN_NODE = own;

/** The binary of a version of Node, from npm; brought once. */
export const nodeBinary = async (version: string): Promise<string> => {
  if (version === own) return process.execPath;
  const kept = join(CACHE, version);
  const binary = join(kept, 'node_modules', PLATFORM, 'bin/node');
  if (existsSync(binary)) return binary;
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(`${kept}-`);
  await writeFile(join(work, 'package.json'), '{ "private": true }');
  await runCommand('npm', ['install', ...NPM_QUIET, `${PLATFORM}@${version}`], work);
  await rm(kept, { recursive: true, force: true });
  await rename(work, kept);
  return binary;
};

/** What npm is told in all tests. */
export const NPM_QUIET: readonly string[] = ['--no-audit', '--no-fund', '--prefer-offline'];
