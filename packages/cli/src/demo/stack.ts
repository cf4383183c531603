import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, findProgram, freePort, isReady, startChild } from './child.ts';
import { DemoError } from './errors.ts';
import type { Journal } from './journal.ts';
import { haveStackFiles, writeStackFiles } from './stack-files.ts';
import { startWatchdog } from './watchdog.ts';

/** How a program of the stack stands. */
export type ProgramState =
  /** It runs. */
  | 'running'
  /** It ran and has ended; the demo doesn't start it again. */
  | 'down'
  /** It isn't there, or could not be started. */
  | 'missing'
  /** It was not wanted: `--no-stack`, or no `/metrics` to scrape. */
  | 'off';

/** Prometheus or Alertmanager. */
export interface Program {
  readonly state: ProgramState;
  /** Where it answers; undefined unless it runs. */
  readonly url: string | undefined;
  readonly pid: number | undefined;
  /** Why it isn't running; empty when it is. */
  readonly note: string;
}

/** What watches the agents. */
export interface Stack {
  readonly prometheus: Program;
  readonly alertmanager: Program;
  /** Ends both and removes their files. */
  stop(): Promise<void>;
  /** The same at once, for the last moment of a process. */
  kill(): void;
}

const absent = (state: 'off' | 'missing', note: string): Program => ({ state, url: undefined, pid: undefined, note });

/** No programs, and why. */
export const noStack = (state: 'off' | 'missing', note: string): Stack => {
  const program = absent(state, note);
  return { prometheus: program, alertmanager: program, stop: () => Promise.resolve(), kill: () => undefined };
};

const NOT_INSTALLED = 'not on PATH; apt-get install prometheus prometheus-alertmanager';

const INSTALL_HINT =
  'On Debian and Ubuntu: apt-get install prometheus prometheus-alertmanager. Elsewhere: put prometheus and alertmanager from https://prometheus.io/download on PATH. Or run the whole stack in containers: docker compose up --build';

/** What the stack is started with. */
export interface StackOptions {
  /** Host and port of the demo's `/metrics`. */
  readonly metrics: string;
  /** Takes alerts as data. */
  readonly webhookUrl: string;
  /** Takes messages for people, in Slack's form; left out: there are none. */
  readonly messageUrl?: string;
  readonly journal: Journal;
  readonly signal: AbortSignal;
}

/**
 * Starts Prometheus and Alertmanager with the repository's files, as far as they are there; says what isn't.
 *
 * @throws DemoError when there is no place for their files.
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const { metrics, webhookUrl, messageUrl, journal, signal } = options;
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
    journal.note('stack', `Alertmanager is not on PATH: alerts fire and are not delivered. ${INSTALL_HINT}`, 'warn');
  }
  if (!haveStackFiles()) {
    journal.note(
      'stack',
      'This installation has no alerts/ and stack/: Prometheus is left out. Run it from a clone.',
      'warn',
    );
    return noStack('missing', 'this installation has no alerts/ and stack/');
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
      alertmanager: programs.alertmanager && `127.0.0.1:${ports.alertmanager}`,
    });
    const [prometheus, alertmanager] = await Promise.all([
      run('prometheus', programs.prometheus, ports.prometheus, [
        `--config.file=${files.prometheus}`,
        `--storage.tsdb.path=${join(folder, 'prometheus')}`,
        `--web.listen-address=127.0.0.1:${ports.prometheus}`,
        // Alertmanager forgets an alert that isn't sent again within four times this.
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
    return { prometheus, alertmanager, stop, kill };
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
      `can't make a folder for Prometheus and Alertmanager in ${parent} (${code ?? message}). Set TMPDIR to a folder that is there, that this user may write to, and that has room; or give --no-stack.`,
    );
  }
};

type ProgramName = 'prometheus' | 'alertmanager';
interface Surroundings {
  readonly journal: Journal;
  readonly signal: AbortSignal;
  readonly state: { readonly stopping: boolean };
}

/** A signal to the whole group, such as ctrl-c, may end the children a moment before we hear of it ourselves. */
const SIGNAL_RACE_MS = 300;

const program = async (name: ProgramName, child: Child, url: string, around: Surroundings): Promise<Program> => {
  const { journal, signal, state } = around;
  if (!(await isReady(child, `${url}/-/ready`, signal))) {
    if (signal.aborted) return absent('off', 'stopped');
    await child.stop();
    journal.note(
      'stack',
      `${name} did not start, the demo goes on without it: ${child.lastWords || 'it said nothing'}`,
      'bad',
    );
    return absent('missing', 'did not start; see the events');
  }
  child.onExit((how) => {
    setTimeout(() => {
      if (!state.stopping) journal.note('stack', `${name} is down (${how}); the agents go on`, 'bad');
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
      return child.gone ? 'down; the agents go on' : '';
    },
  };
};
