/** Real programs for the tests of the stack: an Alertmanager with any configuration, and receivers for its messages. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'yaml';
import { freePort } from '../packages/demo/src/child.ts';
import { type AlertmanagerConfig, TEMPLATES } from './files.ts';
import { ALERTMANAGER, requireProgram } from './tools.ts';

/** An alert in the format of Alertmanager's API. */
export interface PostedAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** RFC 3339. Default: now. */
  readonly startsAt?: string;
  /** RFC 3339. In the past: the alert is resolved. Default: it fires. */
  readonly endsAt?: string;
}

/** A running Alertmanager. */
export interface RunningAlertmanager {
  readonly url: string;
  /** Its log so far. */
  readonly log: string;
  /** Sends it alerts. @throws Error if it rejects them. */
  post(alerts: readonly PostedAlert[]): Promise<void>;
  stop(): Promise<void>;
}

/** Polls until the answer is available; vitest's timeout is the limit. */
export async function until<T>(ask: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await wait(50);
  }
}

/**
 * Starts Alertmanager on loopback, with the repository's templates.
 *
 * @throws Error if it is not on PATH, or ends before it is ready; the message contains its log.
 */
export async function startAlertmanager(config: AlertmanagerConfig): Promise<RunningAlertmanager> {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-alertmanager-'));
  const file = join(folder, 'alertmanager.yml');
  writeFileSync(file, stringify({ ...config, templates: [TEMPLATES] }));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(requireProgram(ALERTMANAGER), [
    `--config.file=${file}`,
    `--storage.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    // Part of the messages, so it must not name this machine.
    '--web.external-url=http://alertmanager.example',
    '--web.route-prefix=/',
    '--cluster.listen-address=',
  ]);
  let log = '';
  child.stderr?.on('data', (part) => {
    log += part;
  });
  const failed = once(child, 'error').then(([error]) => {
    throw new Error(`Alertmanager could not be started: ${error}`, { cause: error });
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`Alertmanager ended with ${code} before it was ready:\n${log}`);
  });
  const ready = until(async () => {
    const response = await fetch(`${url}/-/ready`).catch(() => undefined);
    return response?.ok === true ? true : undefined;
  });
  await Promise.race([ready, failed, ended]);
  // Both watch for the life of the process. The end in stop() is not an error.
  failed.catch(() => undefined);
  ended.catch(() => undefined);

  return {
    url,
    get log() {
      return log;
    },
    post: async (alerts) => {
      const response = await fetch(`${url}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(alerts),
      });
      if (!response.ok) throw new Error(`Alertmanager rejected the alerts: ${await response.text()}`);
    },
    stop: async () => {
      if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A receiver on loopback that accepts JSON. */
export interface Receiver<Body> {
  readonly url: string;
  /** The received bodies, in order. */
  readonly bodies: readonly Body[];
  close(): Promise<void>;
}

/** Starts a receiver that answers 200 to any JSON, and stores it. */
export async function startReceiver<Body>(): Promise<Receiver<Body>> {
  const bodies: Body[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      bodies.push(JSON.parse(text));
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
