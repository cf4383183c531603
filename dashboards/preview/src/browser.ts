import { chromium, type Page } from 'playwright-core';
import { bundle } from './bundle.ts';
import { findChromium, PROGRAMS } from './chromium.ts';
import { PreviewError } from './errors.ts';
import type { PanelReport, Scene } from './scene.ts';

/** A drawn dashboard. */
export interface Drawn {
  readonly png: Buffer;
  readonly panels: readonly PanelReport[];
  /** All words on the page, for tests. */
  readonly text: string;
}

/** Draws dashboards, one after the other. */
export interface Drawing {
  draw(scene: Scene): Promise<Drawn>;
  close(): Promise<void>;
}

/** A host name without a server: this process answers every request, and rejects unknown ones. */
const ORIGIN = 'http://preview.invalid';
const PATIENCE_MS = 60_000;

/**
 * Starts a headless Chromium with the page in it.
 * @throws PreviewError if there is no Chromium, or it does not start
 */
export const startDrawing = async (): Promise<Drawing> => {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    throw new PreviewError(
      `none of ${PROGRAMS.join(', ')} is on PATH, but a browser must draw the pictures. On Debian: apt-get install chromium`,
    );
  }
  const assets = await bundle();
  const browser = await chromium
    // Chromium's sandbox does not start as root, and CI runs as root. The page is our own and has no network.
    .launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
    .catch((error: unknown) => {
      throw new PreviewError(
        `${executablePath} did not start: ${error instanceof Error ? error.message : String(error)}`,
      );
    });

  const draw = async (scene: Scene): Promise<Drawn> => {
    const page = await browser.newPage({
      viewport: { width: scene.width, height: scene.height },
      reducedMotion: 'reduce',
      colorScheme: 'dark',
    });
    try {
      const errors = await serve(page, scene, assets);
      await page.goto(ORIGIN);
      const panels = await reportOf(page, errors);
      const png = await page.screenshot({ type: 'png' });
      return { png, panels, text: await page.evaluate('document.body.innerText') };
    } finally {
      await page.close();
    }
  };
  return { draw, close: () => browser.close() };
};

const serve = async (page: Page, scene: Scene, assets: Awaited<ReturnType<typeof bundle>>): Promise<string[]> => {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.route('**/*', async (route) => {
    const { origin, pathname } = new URL(route.request().url());
    if (origin !== ORIGIN) return route.abort();
    if (pathname === '/scene.json') return route.fulfill({ json: scene });
    const asset = await assets(pathname);
    return asset === undefined
      ? route.fulfill({ status: 404, body: '' })
      : route.fulfill({ contentType: asset.type, body: asset.body });
  });
  return errors;
};

const reportOf = async (page: Page, errors: readonly string[]): Promise<readonly PanelReport[]> => {
  // The page sets it when everything is drawn.
  await page
    .waitForFunction('globalThis.previewReport !== undefined', undefined, { timeout: PATIENCE_MS })
    .catch(() => {
      throw new PreviewError(
        `the page was not drawn within ${PATIENCE_MS / 1000} s: ${errors.join('; ') || 'it reported no error'}`,
      );
    });
  return page.evaluate('globalThis.previewReport');
};
