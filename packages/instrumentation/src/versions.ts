import { BreakerboxUsageError } from '@breakerbox/core';

/**
 * The framework versions that the contract suite runs with, from `least` on and below `below`. They are not in package.json, because npm
 * would not install beside another version, even if you do not use the framework's adapter.
 */
export const SUPPORTED = {
  '@anthropic-ai/claude-agent-sdk': { least: '0.2.120', below: '0.4.0' },
  '@anthropic-ai/sdk': { least: '0.84.0', below: '2.0.0' },
  '@google/adk': { least: '1.0.0', below: '3.0.0' },
  '@langchain/core': { least: '1.1.17', below: '2.0.0' },
  '@mastra/core': { least: '1.42.0', below: '2.0.0' },
  '@modelcontextprotocol/client': { least: '2.0.0', below: '3.0.0' },
  '@modelcontextprotocol/sdk': { least: '1.15.0', below: '2.0.0' },
  '@openai/agents': { least: '0.3.0', below: '1.0.0' },
  ai: { least: '5.0.30', below: '8.0.0' },
  langchain: { least: '1.2.13', below: '2.0.0' },
} as const;

export type Framework = keyof typeof SUPPORTED;

/** A version of a framework that was found, and the folder it is in. */
export interface Installed {
  readonly version: string;
  readonly folder: string;
}

const passed = new Set<Framework>();

/**
 * Refuses to adapt a framework that is too old for an adapter: some old versions ignore what the adapter gives them, and tools would run
 * unguarded. A newer version than the supported ones passes, and so does a framework that is not found, as in a bundle.
 *
 * @param where The function that was called, and what it is imported from.
 * @throws BreakerboxUsageError when every version of the framework that is found is too old.
 */
export const checkVersion = (framework: Framework, where: string, find = installedVersions): void => {
  if (passed.has(framework)) return;
  const found = find(framework);
  const { least } = SUPPORTED[framework];
  if (found.length === 0 || found.some(({ version }) => isAtLeast(version, least))) {
    if (find === installedVersions) passed.add(framework);
    return;
  }
  const [{ version, folder }] = found as [Installed];
  throw new BreakerboxUsageError(
    `${where} needs ${framework} ${least} or later, but version ${version} is installed (${folder}). Run \`npm install ${framework}@latest\`, or guard ` +
      'the functions of your tools with guard() of @breakerbox/instrumentation, which needs no framework.',
  );
};

const isAtLeast = (version: string, least: string): boolean => {
  const [one, other] = [version, least].map((text) => text.split(/[.+-]/).slice(0, 3).map(Number)) as [
    number[],
    number[],
  ];
  const at = one.findIndex((part, index) => part !== other[index]);
  return at < 0 || !((one[at] ?? 0) < (other[at] ?? 0)); // A part that is not a number does not count as too old.
};

/**
 * The versions that this module, the program and the working directory find, each in the nearest `node_modules` with the framework.
 * They are read from the files, because frameworks may hide their package.json. Empty where there are no files.
 */
export const installedVersions = (framework: Framework, starts = startingPoints()): readonly Installed[] => {
  try {
    const { existsSync, readFileSync } = process.getBuiltinModule('node:fs');
    const { dirname, join } = process.getBuiltinModule('node:path');
    const above = (path: string): string[] => (dirname(path) === path ? [path] : [path, ...above(dirname(path))]);
    return starts.flatMap((start) => {
      const folder = above(start)
        .map((one) => join(one, 'node_modules', framework))
        .find((one) => existsSync(join(one, 'package.json')));
      if (folder === undefined) return [];
      const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version?: unknown };
      return typeof version === 'string' ? [{ version, folder }] : [];
    });
  } catch {
    return []; // Without Node, or if the files can't be read, no version is known.
  }
};

/** Files or folders below which the framework may be. Empty without Node. */
const startingPoints = (): readonly string[] => {
  try {
    const { url } = import.meta as { readonly url?: string }; // Some bundlers leave it out.
    const own = url?.startsWith('file:') ? [process.getBuiltinModule('node:url').fileURLToPath(url)] : [];
    return [...own, ...process.argv.slice(1, 2), `${process.cwd()}/.`];
  } catch {
    return [];
  }
};
