import { existsSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Command, Option } from 'commander';
import { type CommandIo, documentOf, processIo } from '../../command-io.ts';
import { printable } from '../../plain-table.ts';
import { CLIENT_TRAITS, CLIENTS, type ClientFile, type McpClient, type Surroundings } from './client-files.ts';
import { backupsOf, ChangedBetween, readConfig, replaceConfig } from './config-file.ts';
import { type FilePlan, type Named, planInstall, planUninstall } from './install-plan.ts';
import {
  defaultLauncher,
  isInClone,
  LAUNCHERS,
  type Launcher,
  launcherWords,
  type Running,
  writtenLauncher,
} from './launcher.ts';
import { checkRelayOptions, withFullPaths } from './relay-words.ts';
import { faultOfLauncher, npmHas } from './runnable.ts';

interface Flags {
  readonly client: McpClient;
  readonly server?: readonly string[];
  readonly file?: string;
  readonly launcher?: Launcher;
  /** Of `install` only. */
  readonly restart?: boolean;
  readonly write: boolean;
  readonly json: boolean;
}

/** What the command knows of its machine. */
export interface InstallHost extends Surroundings, Running {}

/** For scripts. Wrong flags give 1, as everywhere in this command. */
const CODES = { done: 0, failed: 1, changedBetween: 3, unknownServer: 4 } as const;

/** npm installs a command as a link to its script. */
const realScript = (path = ''): string => (existsSync(path) ? realpathSync(path) : path);

export const processInstallHost = (version: string): InstallHost => ({
  home: homedir(),
  cwd: process.cwd(),
  env: process.env,
  platform: process.platform,
  version,
  main: realScript(process.argv[1]),
  execPath: process.execPath,
  execArgv: process.execArgv,
  path: process.env.PATH ?? '',
  npmHas,
});

/** `breakerbox mcp install` and `breakerbox mcp uninstall` (M8). The relay itself is another command, so that it loads none of this. */
export const mcpInstallCommand = (host: InstallHost, io: CommandIo = processIo): Command => {
  const mcp = new Command('mcp').description('Put the relay before MCP servers in the configuration of a client.');
  const add = (name: string, description: string): Command =>
    mcp
      .command(name)
      .description(description)
      .addOption(new Option('--client <client>', 'whose configuration').choices(CLIENTS).makeOptionMandatory())
      .option('--server <name...>', 'only these servers; default: all')
      .option('--file <path>', 'this file; default: those of the client, for you and for the project in this folder')
      .option('--write', 'make the change, for claude-code and claude-desktop; default: only print it', false)
      .option('--json', 'print one JSON document', false)
      .showHelpAfterError(`(see breakerbox mcp ${name} --help)`);
  add('install', 'Print or make the change that puts the relay before servers.')
    .usage('--client <client> [options] [-- options of the relay]')
    .argument('[relay-options...]', 'options of breakerbox mcp for these servers; write -- before them')
    .addOption(
      new Option(
        '--launcher <launcher>',
        'how the client starts breakerbox: npx needs no installation; breakerbox must be on the PATH of the client; node gives full paths. Default: breakerbox if it is installed, else npx; always npx in files of a project. In a clone: node. An entry that starts the relay keeps its launcher',
      ).choices(LAUNCHERS),
    )
    .option('--no-restart', 'do not start a server with a command again when it ends; default: the relay does')
    .action((options: string[], flags: Flags) => run(INSTALL(host, options), flags, host, io));
  add('uninstall', 'Print or make the change that takes the relay away again.').action((flags: Flags) =>
    run(UNINSTALL, flags, host, io),
  );
  return mcp;
};

/** Tabs stay, because files are indented by them. */
const printableLines = (text: string): string => text.split('\t').map(printable).join('\t');

/** One of the two commands. */
interface Work {
  readonly keepsBackup: boolean;
  readonly nothing: string;
  plan(file: NonNullable<Awaited<ReturnType<typeof readConfig>>>, place: ClientFile, flags: Flags): Promise<FilePlan>;
  check(): void;
}

const rootsOf = ({ client }: Flags) => CLIENT_TRAITS[client].roots;

const namedBy = ({ server }: Flags): Named | undefined => server && ((name) => server.includes(name));

const INSTALL = (host: InstallHost, options: readonly string[]): Work => ({
  keepsBackup: true,
  nothing: 'Every server that can have the relay has it.',
  check: () => checkRelayOptions(options),
  plan: (file, { isShared }, flags) => {
    const choice = launcherChoice(host, flags.launcher, isShared);
    return planInstall(
      file,
      rootsOf(flags),
      {
        launcherFor: async (present) => {
          if (present === undefined || flags.launcher !== undefined) return launcherWords(await choice(), host);
          return repairedWords(present, host);
        },
        options: { words: withFullPaths(options, host.cwd), restarts: flags.restart !== false },
        env: host.env,
        isWindows: host.platform === 'win32',
      },
      namedBy(flags),
    );
  },
});

/** Which launcher new entries get. It is looked up once, when the first entry needs it. @throws Error if the given one cannot be run */
const launcherChoice = (
  host: InstallHost,
  given: Launcher | undefined,
  isShared: boolean,
): (() => Promise<Launcher>) => {
  const find = async (): Promise<Launcher> => {
    const preferred = isShared && !isInClone(host) ? (['npx', 'breakerbox'] as const) : [defaultLauncher(host)];
    for (const one of given === undefined ? preferred : [given]) {
      const fault = await faultOfLauncher(one, host);
      if (fault === undefined) return one;
      if (given !== undefined) throw new Error(`--launcher ${given}: ${fault} Nothing was changed.`);
    }
    return 'node';
  };
  let found: Promise<Launcher> | undefined;
  return () => {
    found ??= find();
    return found;
  };
};

/** The launcher of an entry with the present version and paths. What cannot be run does not replace what may work. */
const repairedWords = async (present: readonly string[], host: InstallHost): Promise<readonly string[]> => {
  const written = writtenLauncher(present);
  const words = written === undefined ? present : launcherWords(written, host);
  if (written === undefined || isDeepStrictEqual(words, present)) return present;
  return (await faultOfLauncher(written, host)) === undefined ? words : present;
};

const UNINSTALL: Work = {
  keepsBackup: false,
  nothing: 'No server has the relay.',
  check: () => {},
  plan: (file, _, flags) =>
    planUninstall(file, rootsOf(flags), namedBy(flags), CLIENT_TRAITS[flags.client].needsType === true),
};

const run = async (work: Work, flags: Flags, host: InstallHost, given: CommandIo): Promise<void> => {
  // Names come from files that other programs write.
  const io: CommandIo = {
    ...given,
    out: (text) => given.out(printableLines(text)),
    err: (text) => given.err(printableLines(text)),
  };
  try {
    work.check();
    const { isWritten, title } = CLIENT_TRAITS[flags.client];
    if (flags.write && !isWritten)
      throw new Error(
        `--write is for claude-code and claude-desktop. For ${title}, leave it out and make the printed change yourself.`,
      );
    const plans = await plansOf(work, flags, host);
    const missing = missingIn(plans, flags);
    if (missing !== undefined) {
      io.err(`breakerbox mcp: ${placesOf(flags, plans)} has no server '${missing}'.\n`);
      return io.exitWith(CODES.unknownServer);
    }
    const done = flags.write ? await writeAll(work, plans) : new Map<FilePlan, Written>();
    if (flags.json) io.out(documentOf(reportOf(plans, done)));
    else printAll(work, plans, done, flags, io);
    const isLeft = plans.some(({ entries }) => entries.some(({ result }) => result === 'left'));
    if (flags.server && isLeft) io.exitWith(CODES.failed);
  } catch (error) {
    io.err(`breakerbox mcp: ${(error as Error).message}\n`);
    io.exitWith(error instanceof ChangedBetween ? CODES.changedBetween : CODES.failed);
  }
};

const plansOf = async (work: Work, flags: Flags, host: InstallHost): Promise<readonly FilePlan[]> => {
  const { title, files } = CLIENT_TRAITS[flags.client];
  const places =
    flags.file === undefined
      ? files(host)
      : [{ path: resolve(host.cwd, flags.file), isShared: isSharedFile(flags, host) }];
  const read = await Promise.all(
    places.map(async (place) => ({ place, file: await readConfig(place.path, flags.file) })),
  );
  const present = read.flatMap(({ place, file }) => (file ? [{ place, file }] : []));
  if (present.length > 0) return Promise.all(present.map(({ place, file }) => work.plan(file, place, flags)));
  throw new Error(
    `${title} has no configuration at ${places.map(({ path }) => path).join(' or ')}. Add a server in ${title} first, or give the file with --file.`,
  );
};

/** A file that is named is a project's, unless it is one of the user's own. */
const isSharedFile = ({ client, file = '' }: Flags, host: InstallHost): boolean => {
  const known = CLIENT_TRAITS[client].files(host).find(({ path }) => path === resolve(host.cwd, file));
  return known?.isShared ?? client !== 'claude-desktop';
};

const missingIn = (plans: readonly FilePlan[], { server = [] }: Flags): string | undefined =>
  server.find((name) => !plans.some(({ entries }) => entries.some((entry) => entry.name === name)));

const placesOf = ({ client }: Flags, plans: readonly FilePlan[]): string =>
  `the configuration of ${CLIENT_TRAITS[client].title} (${plans.map(({ file }) => file.path).join(', ')})`;

interface Written {
  readonly backup?: string;
  readonly removed: readonly string[];
}

const writeAll = async (work: Work, plans: readonly FilePlan[]): Promise<Map<FilePlan, Written>> => {
  const done = new Map<FilePlan, Written>();
  const replace = ({ file, source }: FilePlan) =>
    replaceConfig(file, source, work.keepsBackup).catch((error: Error) => {
      error.message = `${doneBefore(done)}${error.message}`;
      throw error;
    });
  for (const plan of plans) {
    const backup = isChanged(plan) ? await replace(plan) : undefined;
    // A person may have taken the relay away before.
    const removed = work.keepsBackup || plan.hasRelay ? [] : await removeBackups(plan);
    if (isChanged(plan) || removed.length > 0) done.set(plan, { ...(backup !== undefined && { backup }), removed });
  }
  return done;
};

/** For an error: a client can have several files. */
const doneBefore = (done: ReadonlyMap<FilePlan, Written>): string =>
  [...done]
    .filter(([plan]) => isChanged(plan))
    .map(([{ file }, { backup }]) => `${file.path} was written${backup === undefined ? '' : `, backup ${backup}`}. `)
    .join('');

const isChanged = ({ file, source }: FilePlan): boolean => source !== file.source;

/** Once no server has the relay, nothing of it is left. */
const removeBackups = async ({ file }: FilePlan): Promise<readonly string[]> => {
  const backups = await backupsOf(file);
  for (const path of backups) await rm(path, { force: true });
  return backups;
};

const reportOf = (plans: readonly FilePlan[], done: ReadonlyMap<FilePlan, Written>) => ({
  files: plans.map((plan) => ({
    path: plan.file.path,
    written: done.has(plan) && isChanged(plan),
    ...done.get(plan),
    servers: plan.entries.map(({ label, name, result, reason, lines }) => ({
      name,
      path: label,
      result,
      reason,
      lines,
    })),
  })),
});

const printAll = (
  work: Work,
  plans: readonly FilePlan[],
  done: ReadonlyMap<FilePlan, Written>,
  flags: Flags,
  io: CommandIo,
): void => {
  for (const plan of plans) printFile(plan, done.get(plan), io);
  io.out(`${lastLine(work, plans, done, flags)}\n`);
};

const lastLine = (
  work: Work,
  plans: readonly FilePlan[],
  done: ReadonlyMap<FilePlan, Written>,
  { client }: Flags,
): string => {
  const { isWritten, restart, title } = CLIENT_TRAITS[client];
  if (!plans.some(isChanged)) return done.size > 0 ? work.nothing : `${work.nothing} Nothing was changed.`;
  if (done.size > 0) return restart;
  if (isWritten) return 'Nothing was changed. Add --write to make this change.';
  return `Nothing was changed. Make this change in the file of ${title}, and keep what is shown as "…". ${restart}`;
};

const printFile = (plan: FilePlan, written: Written | undefined, io: CommandIo): void => {
  const { file, entries } = plan;
  io.out(`${file.shown}\n`);
  if (entries.length === 0) io.out('  no server\n');
  for (const { label, lines, reason, result } of entries) {
    if (result === 'changed') io.out(`@@ ${label} @@\n${lines.join('\n')}\n`);
    else io.out(`  ${label} stays as it is: ${reason}\n`);
  }
  if (!written) return;
  const texts = [
    ...(isChanged(plan) ? ['Written.'] : []),
    ...(written.backup ? [`The file as it was is ${written.backup}.`] : []),
    ...(written.removed.length > 0 ? ['The backup is removed.'] : []),
  ];
  io.out(`${texts.join(' ')}\n`);
};
