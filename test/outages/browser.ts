/** Playwright's MCP server on Debian's Chromium, with pages on loopback. */
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findChromium } from '../../dashboards/preview/src/chromium.ts';
import { newFolder, type Program, scriptOf } from './clients.ts';
import { serve } from './web.ts';

export const CHROMIUM = findChromium();
export const WITHOUT = 'This machine has no chromium on PATH: apt-get install chromium';

/** The browser resolves the hosts of the tests, and no others. */
const NAMES = '--host-resolver-rules=MAP *.invalid ~NOTFOUND, MAP *.test 127.0.0.1';

/** A server whose browser is the program at `executable` in its folder. That is a link, so that a test can remove it. */
export const browserServer = async (): Promise<{ readonly program: Program; readonly executable: string }> => {
  const folder = await newFolder();
  const executable = join(folder, 'browser');
  if (CHROMIUM === undefined) throw new Error(WITHOUT);
  await symlink(CHROMIUM, executable);
  const config = join(folder, 'config.json');
  const launchOptions = {
    headless: true,
    executablePath: executable,
    // Chromium's sandbox does not work as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [NAMES],
  };
  const browser = { browserName: 'chromium', isolated: true, launchOptions };
  await writeFile(config, JSON.stringify({ browser, outputDir: folder }));
  const args = [scriptOf('@playwright/mcp'), '--config', config];
  const env = { HOME: folder };
  return { program: { command: process.execPath, args, env, cwd: folder }, executable };
};

export const servePages = (): Promise<number> =>
  serve((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<title>Shop</title><p>hello</p>');
  });
