import type { ConfigIssue, RecoveryPolicy } from '@breakerbox/core';
import { milliseconds, type OptionCheck, show } from '../options.ts';
import { isRecord } from './functions-in-file.ts';

type HealthCheck = NonNullable<RecoveryPolicy['healthCheck']>;

/** Milliseconds that the address has to answer. */
const TIMEOUT_MS = 3_000;

const PATH = 'systemic.recovery.healthCheck';

const url: OptionCheck = (value) => {
  const address = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol))
    return 'is not a web address. Write it in full, such as https://gateway.example/health.';
  return address.username + address.password === '' ? undefined : 'has a user name or a password. Leave both out.';
};

const SETTINGS: Readonly<Record<string, OptionCheck>> = { url, timeoutMs: milliseconds };

/** What is wrong with the health check of a file (S5). A file cannot contain a function, so it gives an address. */
export const healthCheckIssues = (file: unknown): readonly ConfigIssue[] => {
  const check = checkIn(file);
  if (check === undefined) return [];
  if (!isRecord(check) || !('url' in check)) {
    const given = isRecord(check) ? 'has no url' : `is ${show(check)}`;
    const message = `${given}. In a file, give an address such as { url: 'https://gateway.example/health' }. A function is for code.`;
    return [{ path: PATH, message }];
  }
  return Object.entries(check).flatMap(([key, value]) => {
    const message = Object.hasOwn(SETTINGS, key)
      ? SETTINGS[key]?.(value)
      : `is not a setting. Correct its name or remove it. The settings are ${Object.keys(SETTINGS).join(' and ')}.`;
    return message === undefined ? [] : [{ path: `${PATH}.${key}`, message }];
  });
};

/** The same settings with the health check as a function. */
export const withHealthCheck = (file: unknown): unknown => {
  const check = checkIn(file);
  if (check === undefined) return file;
  const settings = file as { readonly systemic: { readonly recovery: object } };
  const { systemic } = settings;
  return {
    ...settings,
    systemic: { ...systemic, recovery: { ...systemic.recovery, healthCheck: healthCheckOf(check as Address) } },
  };
};

const checkIn = (file: unknown): unknown => {
  const systemic = isRecord(file) && file.systemic;
  const recovery = isRecord(systemic) && systemic.recovery;
  return isRecord(recovery) ? recovery.healthCheck : undefined;
};

interface Address {
  readonly url: string;
  readonly timeoutMs?: number;
}

/** By address and limit: a file that is read again has the same function, because a changed one would need a restart. */
const known = new Map<string, HealthCheck>();

const healthCheckOf = ({ url, timeoutMs = TIMEOUT_MS }: Address): HealthCheck => {
  const key = `${timeoutMs} ${url}`;
  const check = known.get(key) ?? (() => isHealthy(new URL(url), timeoutMs));
  known.set(key, check);
  return check;
};

/** Whether a GET is answered with a status from 200 to 299. A redirect is not followed. A request under way does not keep the process alive. */
const isHealthy = async (url: URL, timeoutMs: number): Promise<boolean> => {
  const { get } = await import(url.protocol === 'https:' ? 'node:https' : 'node:http');
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(Math.ceil(timeoutMs)); // Takes whole numbers only.
    const request = (get as typeof import('node:http').get)(url, { signal }, ({ statusCode = 0 }) => {
      resolve(statusCode >= 200 && statusCode < 300);
      request.destroy();
    });
    request.on('socket', (socket) => socket.unref());
    request.on('error', () => resolve(false));
  });
};
