import { stat } from 'node:fs/promises';
import type { Breakerbox, BreakerboxConfig } from '@breakerbox/core';
import { reconfigure } from '@breakerbox/core/control';
import { visible } from '@breakerbox/core/internal';
import { type FileSettings, latestOf, loadConfig, stateOf } from './load-config.ts';
import { mergeSettings } from './merge-settings.ts';

/** Options of {@link watchConfig}. */
export interface WatchOptions {
  /** Milliseconds between two looks at the file. A change is read once two looks find the same. 0: only `reload()` reads. Default 1,000. */
  readonly intervalMs?: number | undefined;
  /** What your code makes of the file's settings, if it changes them, such as {@link inMode}. Default: nothing. */
  readonly adjust?: ((settings: FileSettings) => FileSettings) | undefined;
  /** More settings that your program cannot change while it runs. A change of them is an error. Default: none. */
  readonly fixed?: readonly string[] | undefined;
  /**
   * Called after each reload, with the reason if the settings stay as they are. Default: the reason is a warning of the process, on
   * stderr.
   */
  readonly onReload?: ((error: Error | undefined) => void) | undefined;
}

/** The box follows the file until `stop()`. */
export interface ConfigWatch {
  /** Reads the file now, such as on a signal. Gives the reason if the settings stay as they are. Never throws. */
  reload(): Error | undefined;
  stop(): void;
}

/**
 * Lets a living box follow its configuration file (A10). Thresholds, modes, alternatives and fallbacks of tools, defaults and groups change
 * at the next use of each session; open circuits stay open. Settings that your code has set itself stay. If the file is broken, or changes
 * a setting that cannot change while the box lives, all settings stay as they are. The watch does not keep the process alive.
 *
 * @throws BreakerboxConfigError if the file cannot be read, and your code has not read it by {@link loadConfig} before.
 *
 * @example
 * ```ts
 * const box = createBreakerbox({ agent: 'research-agent', ...loadConfig('breakerbox.yaml') });
 * const watch = watchConfig(box, 'breakerbox.yaml');
 * process.on('SIGHUP', () => watch.reload());
 * ```
 */
export const watchConfig = (box: Breakerbox, path: string | URL, options: WatchOptions = {}): ConfigWatch => {
  const { intervalMs = 1_000, adjust = (settings) => settings, fixed, onReload = warn } = options;
  const { settings, state } = latestOf(path);
  let before = adjust(settings);

  const reload = (): Error | undefined => {
    const error = caught(() => apply(adjust(loadConfig(path))));
    onReload(error);
    return error;
  };

  const apply = (after: FileSettings): void => {
    const change = (running: BreakerboxConfig) => mergeSettings(running, before, after);
    reconfigure(box, change, { fixed });
    before = after;
  };

  const timer = intervalMs > 0 ? follow(path, state, intervalMs, reload) : undefined;
  return { reload, stop: () => clearInterval(timer) };
};

/**
 * Calls back once the file has changed, and has stopped changing. A file that is replaced may be missing for a moment.
 *
 * @param read The state in which the program has read it.
 */
const follow = (path: string | URL, read: string, intervalMs: number, changed: () => void): NodeJS.Timeout => {
  let known = read;
  let seen: string | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return; // A network file system may hang.
    isLooking = true;
    const now = await stat(path).then(stateOf, () => 'missing');
    isLooking = false;
    const isSteady = now === seen;
    seen = now;
    if (!isSteady || now === known) return;
    known = now;
    changed();
  };
  void look();
  return setInterval(look, intervalMs).unref();
};

const caught = (run: () => void): Error | undefined => {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(`${error}`);
  }
};

const warn = (error: Error | undefined): void => {
  if (error === undefined) return;
  const text = `The settings stay as they were. ${visible(inOneLine(error.message))}`;
  process.emitWarning(text, { type: 'BreakerboxWarning', code: 'BREAKERBOX_CONFIG_RELOAD' });
};

const inOneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
