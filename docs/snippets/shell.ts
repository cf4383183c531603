import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Command } from 'commander';
import { consoleCommand } from '../../packages/cli/src/ctl/console-command.ts';
import { ctlCommand } from '../../packages/cli/src/ctl/ctl-command.ts';
import { mcpInstallCommand, processInstallHost } from '../../packages/cli/src/mcp/install/install-command.ts';
import { mcpCommand } from '../../packages/cli/src/mcp/mcp-command.ts';
import { demoCommand } from '../../packages/demo/src/demo-command.ts';
import { COMPILE_CACHE } from '../../test/compile-cache.ts';
import { published } from '../../test/packaging/published.ts';
import { type Fence, namedFiles, ROOT } from './fences.ts';
import type { Ended } from './running.ts';
import { faultInVariables } from './variables.ts';

/** A folder in which the commands of a document are run: its named files, our packages, and `node` and `breakerbox` from source. */
export interface Workplace {
  readonly folder: string;
  readonly bin: string;
}

/** What `agent.js` is in the documents that don't show it: any program of the reader's. */
const AGENT = `
import { createBreakerbox } from '@breakerbox/core';
const session = createBreakerbox({ agent: 'research-agent' }).session();
session.acquire('web_search').settle({ outcome: 'success' });
session.end();
`;

/** The map of which packages/cli/README.md shows the table. */
const CAPABILITIES = `
tools:
  web_search:
    provides: web search
    dependsOn: [proxy, dns]
    alternatives:
      - { tool: news_search, degradation: low, note: recent items only }
      - { tool: fetch_page }
    fallback: ask the user for a link
  news_search: { provides: news of the last 30 days, fallback: ask the user for a link }
  fetch_page: { provides: pages by their address }
`;

/** A client's configuration, as docs/without-code.md changes it. */
const CLIENT = `{
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]
    },
    "tracker": {
      "url": "https://tracker.example.com/mcp",
      "headers": { "Authorization": "Bearer 123" }
    }
  }
}
`;

export const makeWorkplace = async (folder: string, fences: readonly Fence[]): Promise<Workplace> => {
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  await symlink(join(ROOT, 'docs/node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'agent.js'), AGENT);
  await writeFile(join(folder, 'capabilities.yaml'), CAPABILITIES);
  await writeFile(join(folder, 'mcp.json'), CLIENT);
  for (const [name, text] of namedFiles(fences)) await writeFile(join(folder, name), text);
  const node = `exec '${process.execPath}' --conditions=breakerbox-source`;
  const main = join(ROOT, 'packages/cli/src/main.ts');
  await shim(bin, 'node', `${node} "$@"`);
  await shim(bin, 'breakerbox', `${node} '${main}' "$@"`);
  await shim(bin, 'npm', `script=$2; shift 3; [ $script = breakerbox ] || set -- $script "$@"; ${node} '${main}' "$@"`);
  await shim(bin, 'npx', `shift; ${node} '${main}' "$@"`); // npx breakerbox
  return { folder, bin };
};

const shim = async (bin: string, name: string, line: string): Promise<void> => {
  await writeFile(join(bin, name), `#!/bin/sh\n${line}\n`);
  await chmod(join(bin, name), 0o755);
};

/** The commands of a block, each on a line, without comments. */
export const commandsOf = ({ code }: Fence): readonly string[] =>
  code
    .replaceAll(/\s*\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .filter(Boolean);

/** Commands that are run as they stand. Those of `breakerbox` that do not end, or need an agent, are not. */
const IS_RUN =
  /^(?:\w+=\S+ )*(?:node (?!scripts\/)|(?:npx breakerbox|npm run breakerbox --) (?:bundle|capabilities|check|mcp install \S+ \S+ --file mcp.json|replay) |npm run bundle -- |promtool |curl |printf )/;

export const isRun = (command: string): boolean => IS_RUN.test(command);

export const runCommand = (command: string, { folder, bin }: Workplace): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { PATH: `${bin}${delimiter}${process.env.PATH}`, OTEL_EXPORTER_PROMETHEUS_PORT: '0', ...COMPILE_CACHE };
    // A pipe fails where any part of it does, as a reader would see.
    execFile(
      'bash',
      ['--norc', '-o', 'pipefail', '-c', command],
      { cwd: folder, env, timeout: 30_000 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
        resolve({ code, stdout, stderr });
      },
    );
  });

/** `A=b c` sets a variable for a command, `export A=b` for all that follow. */
const ASSIGNED = /^(?:export )?((?:[A-Za-z_]\w*=\S+(?: |$))*)(.*)$/;

/** Compared literally, because they cannot run here. stack/ tests what they need. */
const DOCKER = ['docker compose up', 'docker compose up --build'];

/** `npm test` is npm's own. Any other single word after npm does something else, or nothing. */
const SCRIPT =
  /^(?:npm run --silent|npm run|pnpm|node scripts\/pnpm\/pnpm\.mjs run|npm(?= test\b)) ([\w:]+)(?: -- (.+))?$/;

/** Packing, and what comes of it. test/packaging.clone.test.ts runs both. */
const PACKS = /^npm run pack(?: -- (.+))?$/;
const PACKED = '../breakerbox/breakerbox-*.tgz';

const faultInPacking = (command: string): string | undefined => {
  const [, given] = PACKS.exec(command) ?? [];
  if (given === undefined) return undefined;
  const names = given.split(' ');
  const nameOf = ({ folder }: (typeof published)[number]): string => folder.split('/').at(-1) ?? '';
  const unknown = names.filter((name) => !published.some((one) => nameOf(one) === name));
  if (unknown.length > 0) return `packs ${unknown.join(', ')}, which no release publishes.`;
  const packed = published.filter((one) => names.includes(nameOf(one)));
  const needed = packed.flatMap(({ manifest }) => Object.keys(manifest.dependencies ?? {}));
  const missing = published.filter(({ name }) => needed.includes(name) && !packed.some((one) => one.name === name));
  return missing.length === 0
    ? undefined
    : `does not pack ${missing.map(({ name }) => name).join(', ')}, which the others need.`;
};

/**
 * What is wrong with a command, without running it: all that can be said of those that would take too long, or change too much; of the
 * others, what they set. Undefined where nothing is.
 */
export const faultIn = async (command: string): Promise<string | undefined> => {
  const [, assigned = '', rest = ''] = ASSIGNED.exec(command) ?? [];
  const fault = faultInVariables([...assigned.matchAll(/(\w+)=/g)].map(([, name = '']) => name));
  if (fault !== undefined || rest === '' || isRun(rest)) return fault;
  const { scripts, names } = await workspace();
  if (/^(?:npm|pnpm) (?:install|add) /.test(rest)) {
    const unknown = rest
      .split(' ')
      .slice(2)
      .filter((name) => !name.startsWith('--') && !names.has(name) && name !== PACKED);
    return unknown.length === 0 ? undefined : `installs ${unknown.join(', ')}, which this workspace doesn't use.`;
  }
  if (DOCKER.includes(rest)) return undefined;
  if (PACKS.test(rest)) return faultInPacking(rest);
  const [, ofOperators] = OF_OPERATORS.exec(rest) ?? [];
  if (ofOperators !== undefined) return faultInArguments(ofOperators);
  const [, script, flags = ''] = SCRIPT.exec(rest) ?? [];
  if (script === undefined) return 'is no command that docs/snippets/shell.ts knows how to run or to check.';
  if (!scripts.has(script)) return `runs the script ${script}, and package.json has none of that name.`;
  return faultInFlags(script, flagsIn(flags));
};

/** They act on agents that run elsewhere, on the configuration of a client, or on servers that the reader has. */
const OF_OPERATORS = /^(?:npx breakerbox|npm run (?:--silent )?breakerbox --) ((?:ctl|console|mcp)\b.*)$/;

const flagsIn = (text: string): readonly string[] => text.split(' ').filter((one) => one && one !== '>');

/** Where a script reads its flags. */
const READS: Readonly<Record<string, string>> = {
  bench: 'bench/src/main.ts',
  preview: 'dashboards/preview/src/options.ts',
};

const faultInFlags = async (script: string, given: readonly string[]): Promise<string | undefined> => {
  if (script === 'demo') return faultInDemo(given);
  const source = READS[script] === undefined ? '' : await readFile(join(ROOT, READS[script]), 'utf8');
  const flags = given.filter((one) => one.startsWith('-'));
  const unknown = flags.filter((flag) => !new RegExp(`^ +'?${flag.slice(2)}'?: \\{ type: '`, 'm').test(source));
  return unknown.length === 0 ? undefined : `gives ${unknown.join(', ')} to ${script}, which doesn't take it.`;
};

const faultInDemo = async (flags: readonly string[]): Promise<string | undefined> => {
  const nothing = async (): Promise<void> => {};
  const command = demoCommand(nothing, nothing)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  const given = flags.filter((one) => !one.endsWith('.json'));
  return command.parseAsync(given, { from: 'user' }).then(
    () => undefined,
    (error: Error) => error.message,
  );
};

/** Whether a command of operators has these arguments. Nothing is asked of any agent. */
const faultInArguments = (given: string): Promise<string | undefined> => {
  const checked = (command: Command): Command => {
    for (const one of command.commands) checked(one);
    return command
      .action(() => {})
      .exitOverride()
      .configureOutput({ writeErr: () => {} });
  };
  const args = [...given.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const all = new Command()
    .enablePositionalOptions()
    .addCommand(ctlCommand())
    .addCommand(consoleCommand())
    .addCommand(/install$/.test(args[1] ?? '') ? mcpInstallCommand(processInstallHost('0.0.0')) : mcpCommand());
  return checked(all)
    .parseAsync(args, { from: 'user' })
    .then(
      () => undefined,
      (error: Error) => error.message,
    );
};

interface Manifest {
  readonly name?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const MANIFESTS = [
  '',
  'packages/core/',
  'packages/instrumentation/',
  'packages/telemetry/',
  'packages/control/',
  'packages/fleet/',
  'packages/cli/',
  'packages/demo/',
  'examples/',
  'docs/',
];

/** The scripts of the root, and all packages that anything here uses. */
const workspace = async (): Promise<{ scripts: ReadonlySet<string>; names: ReadonlySet<string> }> => {
  const read = (path: string) =>
    readFile(join(ROOT, path, 'package.json'), 'utf8').then((text): Manifest => JSON.parse(text));
  const manifests = await Promise.all(MANIFESTS.map(read));
  const names = manifests.flatMap(({ name = '', dependencies, devDependencies, peerDependencies }) => [
    name,
    ...Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies }),
  ]);
  return { scripts: new Set([...Object.keys(manifests[0]?.scripts ?? {}), 'test']), names: new Set(names) };
};
