import type { Breakerbox, BreakerboxConfig } from '@breakerbox/core';
import { visible } from '@breakerbox/core/internal';
import type { FileSettings } from '@breakerbox/instrumentation/config';
import type { CommandIo } from '../command-io.ts';

/** The help of `--config`. */
export const CONFIG_FLAG =
  'settings in YAML or JSON, as createBreakerbox() takes them; read again when the file changes and on SIGHUP; default: BREAKERBOX_CONFIG';

/** The flags that are settings. */
export interface ConfigFlags {
  readonly agent?: string | undefined;
  readonly config?: string | undefined;
  readonly observe?: boolean | undefined;
}

/** The settings of a relay, from flags, the environment and a file (M8). */
export interface RelaySettings {
  readonly config: BreakerboxConfig;
  /** Lets the box follow the file. Gives what SIGHUP calls; undefined without a file. */
  follow(box: Breakerbox, io: Pick<CommandIo, 'err'>): (() => void) | undefined;
}

/** What a relay takes up for good: it has one session, which lives as long as the relay. */
const FIXED = ['budget', 'limits', 'allowedTools'] as const;

/**
 * The failure budget is off unless the file has `budget` (M5): it counts the failures of one run, and a relay serves many conversations for days. Circuits
 * protect each tool.
 *
 * The loop guard is off unless the file turns it on (M5). Between two equal calls the agent may have edited files or asked a person, and the
 * relay sees neither. It serves many conversations, so a block would last for days.
 */
export const RELAY_DEFAULTS = { budget: false, loopGuard: false } as const;

/**
 * Reads the settings. A flag wins over the file.
 *
 * @throws BreakerboxConfigError if the file cannot be read, or says what cannot work
 */
export const relaySettings = async (
  { agent, config: flag, observe = false }: ConfigFlags,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<RelaySettings> => {
  const path = flag ?? (env.BREAKERBOX_CONFIG?.trim() || undefined);
  if (path === undefined) {
    const defaults = observe ? { defaults: { mode: 'observe_only' as const } } : {};
    return { config: { agent: agent ?? 'mcp', ...RELAY_DEFAULTS, ...defaults }, follow: () => undefined };
  }
  // Without a file, the relay starts faster without a parser.
  const { inMode, readConfig, watchConfig } = await import('@breakerbox/instrumentation/config');
  const file = readConfig(path);
  const adjust = (settings: FileSettings): FileSettings => {
    const all = { ...RELAY_DEFAULTS, ...settings };
    return observe ? inMode(all, 'observe_only') : all;
  };
  return {
    config: { ...adjust(file.settings), agent: agent ?? file.agent ?? 'mcp' },
    follow: (box, io) => {
      const onReload = (error: Error | undefined) => io.err(`breakerbox mcp: ${lineOf(path, error)}\n`);
      const { reload } = watchConfig(box, path, { adjust, fixed: FIXED, onReload });
      return () => void reload();
    },
  };
};

const lineOf = (path: string, error: Error | undefined): string =>
  error === undefined
    ? `the settings in '${visible(path)}' are in use.`
    : `the settings stay as they were. ${visible(inOneLine(error.message))}`;

const inOneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
