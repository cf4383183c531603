import type { ControlOptions } from './start-control.ts';

const PREFIX = 'BREAKERBOX_CONTROL_';
const NAMES = ['BREAKERBOX_CONTROL_LISTEN', 'BREAKERBOX_CONTROL_TOKENS', 'BREAKERBOX_CONTROL_AUDIT'] as const;

/** Of clients: `breakerbox ctl` reads it. */
const OF_CLIENTS = 'BREAKERBOX_CONTROL_TOKEN';

const NEEDS_TOKENS =
  'BREAKERBOX_CONTROL_TOKENS is not set, but a port needs a file of tokens, which `breakerbox ctl token create` writes';

/**
 * The options of `startControl` from the environment. Empty variables count as not set.
 *
 * @throws Error if a variable can't work or is unknown.
 */
export const optionsOf = (env: Readonly<Record<string, string | undefined>>): ControlOptions => {
  const unknown = Object.keys(env).find(
    (name) => name.startsWith(PREFIX) && name !== OF_CLIENTS && !NAMES.some((one) => one === name),
  );
  if (unknown !== undefined) throw new Error(`${unknown} is not a setting. Allowed here: ${NAMES.join(', ')}.`);
  const [listen, tokens, audit] = NAMES.map((name) => env[name]?.trim() || undefined);
  return { audit, listen: listen === undefined ? {} : addressOf(listen, tokens) };
};

const addressOf = (listen: string, tokens: string | undefined): ControlOptions['listen'] => {
  if (listen.startsWith('/')) return { socket: listen };
  const [, host, digits] = /^(?:(.+):)?(\d{1,5})$/.exec(listen) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535)
    throw new Error(
      `BREAKERBOX_CONTROL_LISTEN is '${listen}'. Set the path of a socket such as /run/agent.sock, a port such as 9470, or HOST:PORT.`,
    );
  if (tokens === undefined) throw new Error(`${NEEDS_TOKENS}.`);
  return { host: host?.replace(/^\[|\]$/g, ''), port, tokens };
};
