import { isLocalHost } from './listen-address.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How the variables of a proxy apply to a server's address. */
export interface ProxySettings {
  /** The variables as Node's HTTP agents take them. Undefined: no proxy. */
  readonly proxyEnv?: NodeJS.Dict<string>;
  /** Why a proxy that the environment names is not used. */
  readonly problem?: string;
}

/** Node's agents know proxies from 22.21 and 24.5 on. They ignore the variables before. */
const KNOWS_PROXIES = process.allowedNodeEnvironmentFlags.has('--use-env-proxy');

/**
 * Reads HTTP_PROXY or HTTPS_PROXY, and NO_PROXY. A server on this machine is reached without a proxy. A proxy without `http://` is one of HTTP,
 * as for curl.
 */
export const proxyOf = (
  { protocol, hostname }: URL,
  environment: Environment,
  isKnown = KNOWS_PROXIES,
): ProxySettings => {
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const given = (environment[name.toLowerCase()] || environment[name] || '').trim();
  if (given === '' || isLocalHost(hostname)) return {};
  const proxy = given.includes('://') ? given : `http://${given}`;
  const unused = (why: string): ProxySettings => ({ problem: `The proxy of ${name} is not used: ${why}` });
  if (!isKnown) return unused(`Node ${process.versions.node} cannot. Use Node 24.5 or later, or 22.21 or a later 22.`);
  if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol))
    return unused('it is not the address of an HTTP proxy, such as http://proxy.example:3128.');
  const noProxy = environment.no_proxy || environment.NO_PROXY;
  return { proxyEnv: { [name]: proxy, ...(noProxy && { NO_PROXY: noProxy }) } };
};
