/** A real Chromium on the console, with agents of this process and of others. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startControl } from '@breakerbox/control';
import type { Target } from '@breakerbox/control/client';
import { startConsole } from '@breakerbox/control/console';
import { type Breakerbox, createBreakerbox, type Session } from '@breakerbox/core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { findChromium } from '../../dashboards/preview/src/chromium.ts';

const WITHOUT = 'This machine has no chromium on PATH: apt-get install chromium';
/** CI must have Chromium. */
const canRun = findChromium() !== undefined || process.env.CI === 'true';

const fileAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-console-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

/** Builds the page. */
const builtPage = async (): Promise<string> => {
  const outDir = await mkdtemp(join(tmpdir(), 'breakerbox-page-'));
  const configFile = fileAt('../../packages/control/console/vite.config.ts');
  await build({ configFile, logLevel: 'error', build: { outDir, emptyOutDir: true } });
  return outDir;
};

const startBrowser = (): Promise<Browser> => {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(WITHOUT);
  // Chromium's sandbox does not start as root. The page is our own, and has no network but the console.
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
};

let browser: Browser;
let folder: string;

/** Builds the page and starts Chromium for the tests of a file. */
export const inChromium = (file: string): void => {
  beforeAll(async () => {
    // Reporters do not show why a test is skipped.
    if (!canRun) return void process.stderr.write(`${file}: ${WITHOUT}\n`);
    [browser, folder] = await Promise.all([startBrowser(), builtPage()]);
  });
  afterAll(async () => {
    await browser?.close();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });
  beforeEach((context) => {
    if (!canRun) context.skip(WITHOUT);
  });
};

/** A process of an agent: this one. */
export const agentHere = async (folder: string, ...boxes: readonly Breakerbox[]): Promise<Target> => {
  const socket = join(folder, 'here.sock');
  const control = await startControl({ boxes, listen: { socket } });
  onTestFinished(() => control.close());
  return { url: control.url, user: 'ada' };
};

/** An agent `research` in another process. */
export const agentProcess = async (folder: string, name: string) => {
  const socket = join(folder, `${name}.sock`);
  const args = ['--conditions=breakerbox-source', fileAt('agent-process.ts'), socket];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  onTestFinished(async () => {
    const exit = once(child, 'exit');
    child.kill('SIGCONT');
    child.stdin.end();
    await exit;
  });
  return { target: { url: `unix:${socket}`, user: 'ada' }, pid: child.pid, signal: child.kill.bind(child) };
};

/** A browser without cookies. */
export const newContext = async (options: BrowserContextOptions = {}): Promise<BrowserContext> => {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  return context;
};

export interface OpenedPage {
  readonly page: Page;
  readonly url: string;
  /** What the browser complained about: scripts that failed, and what the content security policy stopped. */
  readonly complaints: readonly string[];
}

/** A signed-in browser on a console over some agents. `hash` is added to the link. */
export const openConsole = async (
  targets: readonly Target[],
  { hash = '', port = 0, ...options }: BrowserContextOptions & { readonly hash?: string; readonly port?: number } = {},
): Promise<OpenedPage> => {
  const { url, close } = await startConsole({ targets, port, page: folder });
  onTestFinished(close);
  const context = await newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(`${url}${hash}`);
  return { page, url, complaints };
};

/** Sessions that a program has dropped are not listed, so the tests hold theirs. */
const held: Session[] = [];

export const hold = (session: Session): Session => {
  held.push(session);
  return session;
};

/** An agent `research` in this process, with a session that has a budget of two failures. */
export const research = async () => {
  const box = createBreakerbox({ agent: 'research', tools: { search: {}, fetch: {}, mail: {} } });
  const session = hold(box.session({ id: 'run-1', budget: { failures: 2 } }));
  return { box, session, target: await agentHere(await newFolder(), box) };
};

export const seen = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();
export const dialogOf = (page: Page): Locator => page.getByRole('dialog');
export const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

/** Every tool fails three times, so that their circuits open together. */
export const failTogether = (session: Session, ...tools: readonly string[]): void => {
  for (let call = 0; call < 3; call += 1)
    for (const tool of tools) session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
};

/** Two tools fail, but not together: each works again before the other fails. Such failures use up a budget of two. */
export const useUpBudget = (session: Session): void => {
  for (const tool of ['search', 'mail']) {
    session.acquire(tool).settle({ outcome: 'failure', category: 'server' });
    session.acquire(tool).settle({ outcome: 'success' });
  }
};
