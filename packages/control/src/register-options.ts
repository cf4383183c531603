import { readFileSync } from 'node:fs';
import type { Listen, TcpAddress } from './listen-address.ts';
import type { ControlOptions } from './start-control.ts';

const PREFIX = 'BREAKERBOX_CONTROL_';
const NAMES = ['LISTEN', 'TOKENS', 'AUDIT', 'HOSTS', 'TLS_CERT', 'TLS_KEY', 'BEHIND_PROXY'] as const;
type Name = (typeof NAMES)[number];

/** Of clients: `breakerbox ctl` reads it. */
const OF_CLIENTS = 'BREAKERBOX_CONTROL_TOKEN';

const NEEDS_TOKENS =
  'BREAKERBOX_CONTROL_TOKENS is not set, but a port needs a file of tokens. Set it to the path of a file that `breakerbox ctl token create NAME --file FILE` has written';

/**
 * The options of `startControl` from the environment. Empty variables count as not set.
 *
 * @throws Error if a variable can't work or is unknown.
 */
export const optionsOf = (env: Readonly<Record<string, string | undefined>>): ControlOptions => {
  const allowed = NAMES.map((name) => `${PREFIX}${name}`);
  const unknown = Object.keys(env).find(
    (name) => name.startsWith(PREFIX) && name !== OF_CLIENTS && !allowed.includes(name),
  );
  if (unknown !== undefined)
    throw new Error(
      `${unknown} is not a setting of @breakerbox/control. Correct its name, or unset it. The settings are ${allowed.join(', ')}.`,
    );
  const setting = (name: Name): string | undefined => env[`${PREFIX}${name}`]?.trim() || undefined;
  return { audit: setting('AUDIT'), listen: addressOf(setting) };
};

const OF_PORTS = ['TOKENS', 'HOSTS', 'TLS_CERT', 'TLS_KEY', 'BEHIND_PROXY'] as const satisfies readonly Name[];

const addressOf = (setting: (name: Name) => string | undefined): Listen => {
  const listen = setting('LISTEN');
  if (listen === undefined || listen.startsWith('/')) {
    const excess = OF_PORTS.find((name) => setting(name) !== undefined);
    if (excess === undefined) return { socket: listen };
    throw new Error(
      `${PREFIX}${excess} applies only to a port, but ${PREFIX}LISTEN is not a port. Set ${PREFIX}LISTEN to a port, or unset ${PREFIX}${excess}.`,
    );
  }
  const [, host, digits] = /^(?:(.+):)?(\d{1,5})$/.exec(listen) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535)
    throw new Error(
      `BREAKERBOX_CONTROL_LISTEN is '${listen}'. Set the path of a socket such as /run/agent.sock, a port such as 9470, or HOST:PORT.`,
    );
  const tokens = setting('TOKENS');
  if (tokens === undefined) throw new Error(`${NEEDS_TOKENS}.`);
  const proxy = setting('BEHIND_PROXY');
  if (proxy !== undefined && proxy !== 'true' && proxy !== 'false')
    throw new Error(`${PREFIX}BEHIND_PROXY is '${proxy}'. Set true or false.`);
  return {
    host: host?.replace(/^\[|\]$/g, ''),
    port,
    tokens,
    hosts: setting('HOSTS')
      ?.split(',')
      .map((name) => name.trim()),
    tls: tlsOf(setting('TLS_CERT'), setting('TLS_KEY')),
    behindProxy: proxy === 'true',
  };
};

const tlsOf = (cert: string | undefined, key: string | undefined): TcpAddress['tls'] => {
  if (cert === undefined && key === undefined) return undefined;
  return { cert: fileOf('TLS_CERT', cert), key: fileOf('TLS_KEY', key) };
};

const fileOf = (name: Name, path: string | undefined): string => {
  if (path === undefined)
    throw new Error(`${PREFIX}${name} is not set, but TLS needs both files: ${PREFIX}TLS_CERT and ${PREFIX}TLS_KEY.`);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${PREFIX}${name} names a file that cannot be read: ${(error as Error).message}`);
  }
};
