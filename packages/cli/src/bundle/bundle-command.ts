import { BreakerboxConfigError, type ConfigIssue } from '@breakerbox/core';
import { Command } from 'commander';
import { type CommandIo, documentOf, processIo } from '../command-io.ts';
import { onOneLine } from '../plain-table.ts';
import type { MadeBundle, RejectedBundle } from './bundle-report.ts';
import { type BundleFlags, DEFAULT_FOLDER, outIssues, PARTS, readFlags } from './options.ts';
import { HalfWritten } from './put.ts';

interface Flags extends BundleFlags {
  readonly out?: string;
  readonly namespace?: string;
  readonly ruleLabel: readonly string[];
  readonly set: readonly string[];
  readonly settings: readonly string[];
  readonly listSettings: boolean;
  readonly force: boolean;
  readonly json: boolean;
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** `breakerbox bundle`. */
export const bundleCommand = (io: CommandIo = processIo): Command => {
  const command = new Command('bundle');
  const asJson = (): boolean => argumentsOf(command).includes('--json');
  return command
    .description('Write dashboards, rules, alerts and runbooks for a Grafana and a Prometheus of your own.')
    .option('--out <dir>', 'the folder to write to; created if it does not exist')
    .option('--selector <matchers>', `PromQL matchers for every query, such as 'job=~"agents-.+"'. Default: all jobs`)
    .option('--data-source <uid[:name]>', 'the Prometheus data source in Grafana, for dashboards and alerts')
    .option('--logs <uid[:name]>', "a Loki data source with the agents' logs; dashboards have a panel of them then")
    .option('--folder <title>', "Grafana's folder for dashboards and alerts", DEFAULT_FOLDER)
    .option('--grafana-url <url>', 'makes links from alerts to dashboards absolute')
    .option(
      '--console-url <url>',
      'the address of your console, as breakerbox console --port serves it; alerts and dashboards link to it',
    )
    .option('--runbook-url <url>', "where your team reads the runbooks. Default: this project's repository")
    .option('--namespace <name>', "the namespace of the Prometheus operator's PrometheusRule")
    .option(
      '--rule-label <name=value>',
      'a label of the PrometheusRule, for the ruleSelector of your Prometheus; may be repeated',
      collect,
      [],
    )
    .option('--set <name=value>', 'a threshold or another setting of the rules; may be repeated', collect, [])
    .option('--settings <file>', 'a YAML or JSON file of settings; --set overrides it', collect, [])
    .option('--list-settings', 'print every setting with its default, unit and meaning, and write nothing', false)
    .option('--only <parts>', `write only these parts, separated by commas: ${PARTS.join(', ')}`)
    .option('--force', 'overwrite existing files that differ', false)
    .option('--json', 'print one JSON document, of type BundleReport', false)
    .showHelpAfterError('(see breakerbox bundle --help)')
    .configureOutput({ writeErr: (text) => (asJson() ? undefined : io.err(text)) })
    .exitOverride(({ exitCode, message }) => {
      if (exitCode === 0 || !asJson()) return;
      const fault = { path: flagIn(message), message: message.replace(/^error: /, '') };
      io.out(documentOf({ made: false, errors: [fault] } satisfies RejectedBundle));
    })
    .action((flags: Flags) => run(flags, io));
};

/** The flags. If one cannot be parsed, the flags after it are missing. */
const argumentsOf = (command: Command): readonly string[] => {
  const { parent } = command;
  if (parent !== null) return argumentsOf(parent);
  return 'rawArgs' in command && Array.isArray(command.rawArgs) ? command.rawArgs.map(String) : [];
};

const flagIn = (message: string): string => /'(-[^\s']*)/.exec(message)?.[1] ?? 'breakerbox bundle';

const run = async (flags: Flags, io: CommandIo): Promise<void> => {
  const { out, err, exitWith } = io;
  try {
    if (flags.listSettings) await list(flags, io);
    else await make(flags, io);
  } catch (error) {
    if (!(error instanceof BreakerboxConfigError)) throw error;
    if (flags.json) out(documentOf({ made: false, errors: error.issues } satisfies RejectedBundle));
    else err(renderFaults(error));
    exitWith(1);
  }
};

// Loaded here, because no other command needs the code that makes dashboards.

const list = async ({ json }: Flags, { out, columns }: CommandIo): Promise<void> => {
  const { listedSettings, renderSettings } = await import('./settings.ts');
  out(json ? documentOf(listedSettings()) : renderSettings(columns));
};

const make = async (flags: Flags, { out }: CommandIo): Promise<void> => {
  const { readSettings } = await import('./settings.ts');
  const { readMetadata } = await import('./rule-object.ts');
  const read = readFlags(flags);
  const metadata = readMetadata(flags.namespace, flags.ruleLabel);
  const { settings, levels, issues } = await readSettings(flags.settings[0], flags.set);
  const twice: readonly ConfigIssue[] =
    flags.settings.length > 1
      ? [{ path: '--settings', message: `is given ${flags.settings.length} times. Put all settings in one file` }]
      : [];
  const all = [...outIssues(flags.out), ...read.issues, ...metadata.issues, ...twice, ...issues];
  if (flags.out === undefined || all.length > 0) throw new BreakerboxConfigError(all, 'bundle');
  const options = { ...read.options, ruleObject: metadata.ruleObject, settings, levels };
  const { bundleFiles } = await import('./contents.ts');
  const { writeBundle } = await import('./write.ts');
  const { notesOn, renderBundle } = await import('./bundle-report.ts');
  const files = await writeBundle(flags.out, bundleFiles(options), flags.force);
  const notes = notesOn(options, flags.only === undefined);
  const made: MadeBundle = { made: true, out: flags.out, files, options, notes };
  out(flags.json ? documentOf(made) : renderBundle(made));
};

/** All faults, one per line. */
const renderFaults = (error: BreakerboxConfigError): string =>
  [
    `breakerbox bundle: ${error instanceof HalfWritten ? 'some files could not be restored' : 'nothing was written'}:`,
    ...error.issues.map(({ path, message }) => `  ${onOneLine(path)}: ${onOneLine(message)}`),
    '',
  ].join('\n');
