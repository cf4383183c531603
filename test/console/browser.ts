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
import type { Breakerbox, Session } from '@breakerbox/core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { onTestFinished } from 'vitest';
import { findChromium } from '../../dashboards/preview/src/chromium.ts';

export const WITHOUT = 'This machine has no chromium on PATH: apt-get install chromium';
/** CI must have Chromium. */
export const canRun = findChromium() !== undefined || process.env.CI === 'true';

const fileAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-console-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

/** Builds the page. */
export const builtPage = async (): Promise<string> => {
  const outDir = await mkdtemp(join(tmpdir(), 'breakerbox-page-'));
  const configFile = fileAt('../../packages/control/console/vite.config.ts');
  await build({ configFile, logLevel: 'error', build: { outDir, emptyOutDir: true } });
  return outDir;
};

export const startBrowser = (): Promise<Browser> => {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(WITHOUT);
  // Chromium's sandbox does not start as root. The page is our own, and has no network but the console.
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
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

export interface OpenedPage {
  readonly page: Page;
  readonly url: string;
  /** What the browser complained about: scripts that failed, and what the content security policy stopped. */
  readonly complaints: readonly string[];
}

/** A signed-in browser on a console over some agents. `hash` is added to the link. */
export const openConsole = async (
  browser: Browser,
  folder: string,
  targets: readonly Target[],
  { hash = '', ...options }: BrowserContextOptions & { readonly hash?: string } = {},
): Promise<OpenedPage> => {
  const { url, close } = await startConsole({ targets, page: folder });
  onTestFinished(close);
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
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
