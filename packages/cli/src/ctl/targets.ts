import { existsSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { isOwn, runtimeFolder } from '@breakerbox/control';
import { type ProcessState, readStates, type Target } from '@breakerbox/control/client';

/** A process that answered, or why it did not. */
export type Found =
  | { readonly target: Target; readonly state: ProcessState; readonly error?: undefined }
  | { readonly target: Target; readonly state?: undefined; readonly error: string };

export interface TargetFlags {
  readonly endpoint?: readonly string[];
  readonly token?: string;
  /** Whether the token may cross a network unencrypted. */
  readonly plainHttp?: boolean;
}

/**
 * The endpoints of the flags, else of `BREAKERBOX_CONTROL` (with commas), else the sockets of the runtime folder (A7).
 *
 * @throws Error if an endpoint is no address, if the token would cross a network unencrypted, or if others can write to the runtime folder.
 */
export const targetsOf = (
  { endpoint, token, plainHttp = false }: TargetFlags,
  env: NodeJS.ProcessEnv,
): readonly Target[] => {
  const named = endpoint ?? env.BREAKERBOX_CONTROL?.split(',').filter((one) => one.trim() !== '');
  const urls = named?.map(urlOf) ?? sockets(runtimeFolder(env));
  const shown = token ?? env.BREAKERBOX_CONTROL_TOKEN;
  return urls.map((given) => {
    const [url, own = shown] = withoutToken(given);
    return { url, token: own && tokenFor(url, own, plainHttp), user: userName() };
  });
};

/** The number of the user if it has no name, as in a container. */
const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return String(process.geteuid?.());
  }
};

/** `https://TOKEN@HOST`: a token for that endpoint alone, which then gets no other. */
const withoutToken = (given: string): readonly [url: string, token?: string] => {
  if (given.startsWith('unix:')) return [given];
  const url = new URL(given);
  const token = url.password || url.username;
  url.username = '';
  url.password = '';
  return token === '' ? [given] : [url.href.replace(/\/$/, ''), token];
};

/** A socket needs no token, and over plain HTTP every network on the way to another machine could read it. */
const tokenFor = (url: string, token: string, plainHttp: boolean): string | undefined => {
  if (url.startsWith('unix:')) return undefined;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || plainHttp || LOOPBACK.test(hostname)) return token;
  throw new Error(
    `the endpoint '${url}' is on another machine, and the token would cross the network unencrypted. Write https://, or give --plain-http if something else encrypts the way to it, such as a service mesh.`,
  );
};

/** Addresses that only this machine reaches. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

const urlOf = (given: string): string => {
  const url = given.trim();
  if (url.startsWith('/')) return `unix:${url}`;
  if (url.startsWith('unix:/') || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) return url;
  throw new Error(
    `the endpoint '${url.replace(/\/\/[^/@]*@/, '//')}' is not an address. Write unix:PATH with an absolute path, or http(s)://HOST:PORT.`,
  );
};

const sockets = (folder: string): readonly string[] => {
  if (!existsSync(folder)) return [];
  if (!isOwn(folder))
    throw new Error(
      `${folder} must be a folder that you own and that only you can write to. Otherwise its sockets may belong to another user. Run chmod go-w ${folder}, or name an endpoint with --endpoint.`,
    );
  return readdirSync(folder)
    .filter(isOfLiving)
    .toSorted()
    .map((name) => `unix:${join(folder, name)}`);
};

/** A process that was killed leaves its socket, `PID.sock`, behind. */
const isOfLiving = (name: string): boolean => {
  const [, pid] = /^(\d+)(?:-\d+)?\.sock$/.exec(name) ?? [];
  if (pid === undefined) return name.endsWith('.sock');
  try {
    return process.kill(Number(pid), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Asks all of them at once, for all sessions or those with an id. */
export const look = async (targets: readonly Target[], session?: string): Promise<readonly Found[]> =>
  (await readStates(targets, session)).map(({ target, state, error }) =>
    error === undefined ? { target, state } : { target, error: error.message },
  );
