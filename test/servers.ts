import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { type Child, findProgram, freePort, isReady, startChild } from '../packages/demo/src/child.ts';
import { type RuleFile, type Scale, scaleExpression, scaleRules } from '../packages/demo/src/scale-rules.ts';
import { rewriteAlertmanager } from '../packages/demo/src/stack-files.ts';
import { startWatchdog } from '../packages/demo/src/watchdog.ts';

/** A real Prometheus with the repository's rules, and a real Alertmanager with its routes and inhibition. */
export interface Servers {
  readonly prometheus: string;
  readonly alertmanager: string;
  stop(): Promise<void>;
}

/** The targets of one job. */
export interface ScrapeJob {
  readonly job: string;
  /** Hosts with ports. */
  readonly targets: readonly string[];
  /** The series have their own job and instance. */
  readonly honorLabels?: boolean;
}

export interface ServerOptions {
  readonly jobs: readonly ScrapeJob[];
  /** The URL to which Alertmanager sends notifications. */
  readonly webhookUrl: string;
  /** The URL to which it sends messages for people. Default: none. */
  readonly messageUrl?: string;
  /** How much faster than in production time passes for the rules. */
  readonly scale: Scale;
  /** Time between two scrapes, and between two evaluations. */
  readonly intervalMs: number;
  /** What Prometheus has stored before it starts, in the format of OpenMetrics. Default: nothing. */
  readonly history?: string;
}

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const RULES = join(ROOT, 'alerts', 'rules');
const NAMES = { prometheus: ['prometheus'], alertmanager: ['prometheus-alertmanager', 'alertmanager'] } as const;

const read = (...path: string[]) => parse(readFileSync(join(ROOT, ...path), 'utf8'));

/** Rules compare Unix times with seconds, written as `5 * 60` so that this pattern finds them. */
const scaleSeconds = (expr: string, { factor }: Scale): string => expr.replaceAll(/\* 60\b/g, `* ${60 * factor}`);

/** The expression of a rule in the time of a run. */
export const scaleRule = (expr: string, scale: Scale): string => scaleSeconds(scaleExpression(expr, scale), scale);

const scaleFile = (file: RuleFile, scale: Scale): RuleFile => ({
  groups: scaleRules(file, scale).groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule) => ({ ...rule, expr: scaleSeconds(rule.expr, scale) })),
  })),
});

const program = (name: keyof typeof NAMES): string => {
  const found = findProgram(NAMES[name]);
  if (found !== undefined) return found;
  throw new Error(
    `${name} is not installed. Run \`npm test\` to install it, or put prometheus and alertmanager on PATH`,
  );
};

/** promtool comes with Prometheus. */
const storeHistory = (folder: string, history: string): void => {
  const promtool = findProgram(['promtool']);
  if (promtool === undefined) throw new Error('promtool is not installed. It comes with Prometheus: put it on PATH');
  const file = join(folder, 'history.txt');
  writeFileSync(file, history);
  execFileSync(promtool, ['tsdb', 'create-blocks-from', 'openmetrics', file, join(folder, 'prometheus')]);
};

const writeFiles = (folder: string, alertmanager: string, options: ServerOptions) => {
  const { jobs, webhookUrl, messageUrl, scale, intervalMs } = options;
  const rules = join(folder, 'rules');
  mkdirSync(rules);
  for (const name of readdirSync(RULES).filter((one) => one.endsWith('.yml'))) {
    const scaled = stringify(scaleFile(read('alerts', 'rules', name), scale));
    // A minute is too long for a text about a run of seconds.
    writeFileSync(join(rules, name), scaled.replaceAll('15:04 MST', '15:04:05 MST'));
  }
  const stack = read('stack', 'prometheus', 'prometheus.yml');
  const interval = `${intervalMs}ms`;
  const prometheus = {
    global: { ...stack.global, scrape_interval: interval, evaluation_interval: interval },
    rule_files: [join(rules, '*.yml')],
    alerting: { ...stack.alerting, alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
    scrape_configs: jobs.map(({ job, targets, honorLabels = false }) => ({
      job_name: job,
      honor_labels: honorLabels,
      static_configs: [{ targets }],
    })),
  };
  writeFileSync(join(folder, 'prometheus.yml'), stringify(prometheus));
  const addresses = { metrics: '', alertmanager, webhookUrl, messageUrl };
  const routes = rewriteAlertmanager(read('stack', 'alertmanager', 'alertmanager.yml'), addresses, scale);
  writeFileSync(join(folder, 'alertmanager.yml'), stringify(routes));
};

/**
 * Starts both on loopback, and waits until they answer.
 * @throws Error if one is not installed or does not start, because a test that needs them must fail without them
 */
export const startServers = async (options: ServerOptions): Promise<Servers> => {
  const programs = { prometheus: program('prometheus'), alertmanager: program('alertmanager') };
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-servers-'));
  const watchdog = startWatchdog(folder);
  const ports = { prometheus: await freePort(), alertmanager: await freePort() };
  const address = (name: keyof typeof ports): string => `127.0.0.1:${ports[name]}`;
  writeFiles(folder, address('alertmanager'), options);
  if (options.history !== undefined) storeHistory(folder, options.history);
  const flags = {
    prometheus: [
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      // Alertmanager drops an alert that is not sent again within four times this.
      '--rules.alert.resend-delay=5s',
      // As in docker-compose.yml.
      '--enable-feature=exemplar-storage',
    ],
    alertmanager: [`--storage.path=${join(folder, 'alertmanager')}`, '--cluster.listen-address='],
  };
  const start = (name: keyof typeof ports): Child =>
    startChild(programs[name], [
      `--config.file=${join(folder, `${name}.yml`)}`,
      `--web.listen-address=${address(name)}`,
      '--log.level=warn',
      ...flags[name],
    ]);
  const children = { prometheus: start('prometheus'), alertmanager: start('alertmanager') };
  watchdog.guard(Object.values(children).flatMap(({ pid }) => pid ?? []));
  const stop = async (): Promise<void> => {
    await Promise.all(Object.values(children).map((child) => child.stop()));
    rmSync(folder, { recursive: true, force: true });
    await watchdog.close();
  };
  const never = new AbortController().signal;
  for (const name of ['prometheus', 'alertmanager'] as const) {
    if (await isReady(children[name], `http://${address(name)}/-/ready`, never)) continue;
    await stop();
    throw new Error(`${name} did not start: ${children[name].lastWords || 'it printed no error'}`);
  }
  return { prometheus: `http://${address('prometheus')}`, alertmanager: `http://${address('alertmanager')}`, stop };
};
