import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, findProgram, freePort, isReady, startChild } from './child.ts';
import { DemoError } from './errors.ts';
import type { Journal } from './journal.ts';
import { writeStackFiles } from './stack-files.ts';
import { startWatchdog } from './watchdog.ts';

/** The state of a program of the stack. */
export type ProgramState =
  /** It runs. */
  | 'running'
  /** It ran and has ended. The demo does not start it again. */
  | 'down'
  /** It is not installed, or could not be started. */
  | 'missing'
  /** It is not wanted: `--no-stack`, or no `/metrics` to scrape. */
  | 'off';

/** Prometheus or Alertmanager. */
export interface Program {
  readonly state: ProgramState;
  /** Its URL; undefined unless it runs. */
  readonly url: string | undefined;
  readonly pid: number | undefined;
  /** Why it does not run; empty if it does. */
  readonly note: string;
}

/** The programs that watch the agents. */
export interface Stack {
  readonly prometheus: Program;
  readonly alertmanager: Program;
  /** Their folder, which `stop` removes; undefined if none of them runs. */
  readonly folder?: string;
  /** Stops both programs and removes their files. */
  stop(): Promise<void>;
  /** Kills both at once, for use when this process exits. */
  kill(): void;
}

const absent = (state: 'off' | 'missing', note: string): Program => ({ state, url: undefined, pid: undefined, note });

/** No programs, and the reason. */
export const noStack = (state: 'off' | 'missing', note: string): Stack => {
  const program = absent(state, note);
  return { prometheus: program, alertmanager: program, stop: () => Promise.resolve(), kill: () => undefined };
};

const NOT_INSTALLED = 'not on PATH; apt-get install prometheus prometheus-alertmanager';

const INSTALL_HINT =
  'On Debian and Ubuntu: apt-get install prometheus prometheus-alertmanager. Elsewhere: put prometheus and alertmanager from https://prometheus.io/download on PATH. Or run the whole stack in containers: docker compose up --build';

/** The options of the stack. */
export interface StackOptions {
  /** Host and port of the demo's `/metrics`. */
  readonly metrics: string;
  /** The URL that takes alerts as data. */
  readonly webhookUrl: string;
  /** The URL that takes messages for people, in Slack's format. If it is left out, there are no messages. */
  readonly messageUrl?: string;
  /** The operators' console, which alerts link to. If it is left out, they don't. */
  readonly consoleUrl?: string;
  readonly journal: Journal;
  readonly signal: AbortSignal;
}

/**
 * Starts Prometheus and Alertmanager with the repository's files. Reports a program or a file that is missing.
 *
 * @throws DemoError if there is no writable folder for their files.
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const { metrics, webhookUrl, messageUrl, consoleUrl, journal, signal } = options;
  const programs = {
    prometheus: findProgram(['prometheus']),
    alertmanager: findProgram(['prometheus-alertmanager', 'alertmanager']),
  };
  if (programs.prometheus === undefined) {
    journal.note(
      'stack',
      `Prometheus is not on PATH: no alerts, but the view and /metrics work. ${INSTALL_HINT}`,
      'warn',
    );
    return noStack('missing', NOT_INSTALLED);
  }
  if (programs.alertmanager === undefined) {
    journal.note('stack', `Alertmanager is not on PATH: alerts fire, but are not delivered. ${INSTALL_HINT}`, 'warn');
  }

  const folder = await makeFolder();
  const watchdog = startWatchdog(folder);
  const children: Child[] = [];
  const guardChildren = (): void =>
    watchdog.guard(children.flatMap(({ pid, gone }) => (pid === undefined || gone ? [] : [pid])));
  const state = { stopping: false };
  const stop = async (): Promise<void> => {
    state.stopping = true;
    await Promise.all(children.map((child) => child.stop()));
    await rm(folder, { recursive: true, force: true });
    await watchdog.close();
  };
  const run = async (name: ProgramName, file: string | undefined, port: number, args: readonly string[]) => {
    if (file === undefined) return absent('missing', NOT_INSTALLED);
    if (signal.aborted) return absent('off', 'stopped');
    const child = startChild(file, args);
    children.push(child);
    child.onExit(guardChildren);
    guardChildren();
    return program(name, child, `http://127.0.0.1:${port}`, { journal, signal, state });
  };

  try {
    const ports = { prometheus: await freePort(), alertmanager: await freePort() };
    const files = await writeStackFiles(folder, {
      metrics,
      webhookUrl,
      messageUrl,
      consoleUrl,
      alertmanager: programs.alertmanager && `127.0.0.1:${ports.alertmanager}`,
    });
    const [prometheus, alertmanager] = await Promise.all([
      run('prometheus', programs.prometheus, ports.prometheus, [
        `--config.file=${files.prometheus}`,
        `--storage.tsdb.path=${join(folder, 'prometheus')}`,
        `--web.listen-address=127.0.0.1:${ports.prometheus}`,
        // Alertmanager drops an alert that is not sent again within four times this.
        '--rules.alert.resend-delay=5s',
        '--log.level=warn',
      ]),
      run('alertmanager', programs.alertmanager, ports.alertmanager, [
        `--config.file=${files.alertmanager}`,
        `--storage.path=${join(folder, 'alertmanager')}`,
        `--web.listen-address=127.0.0.1:${ports.alertmanager}`,
        '--cluster.listen-address=',
        '--log.level=warn',
      ]),
    ]);
    const kill = (): void => {
      for (const child of children) child.kill();
      rmSync(folder, { recursive: true, force: true });
    };
    return { prometheus, alertmanager, folder, stop, kill };
  } catch (error) {
    await stop();
    throw error;
  }
};

const makeFolder = async (): Promise<string> => {
  const parent = tmpdir();
  try {
    return await mkdtemp(join(parent, 'breakerbox-demo-'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new DemoError(
      `can't make a folder for Prometheus and Alertmanager in ${parent} (${code ?? message}). Set TMPDIR to a writable folder with free space, or add --no-stack.`,
    );
  }
};

type ProgramName = 'prometheus' | 'alertmanager';
interface ProgramContext {
  readonly journal: Journal;
  readonly signal: AbortSignal;
  readonly state: { readonly stopping: boolean };
}

/** A signal to the whole group, such as ctrl-c, may end the programs a moment before this process gets it. */
const SIGNAL_RACE_MS = 300;

const program = async (name: ProgramName, child: Child, url: string, context: ProgramContext): Promise<Program> => {
  const { journal, signal, state } = context;
  if (!(await isReady(child, `${url}/-/ready`, signal))) {
    if (signal.aborted) return absent('off', 'stopped');
    await child.stop();
    journal.note(
      'stack',
      `${name} did not start, so the demo runs without it: ${child.lastWords || 'it printed no error'}`,
      'bad',
    );
    return absent('missing', 'did not start, see the events');
  }
  child.onExit((how) => {
    setTimeout(() => {
      if (!state.stopping) journal.note('stack', `${name} is down (${how}). The agents keep running`, 'bad');
    }, SIGNAL_RACE_MS).unref();
  });
  return {
    pid: child.pid,
    get state() {
      return child.gone ? 'down' : 'running';
    },
    get url() {
      return child.gone ? undefined : url;
    },
    get note() {
      return child.gone ? 'down; the agents keep running' : '';
    },
  };
};
