import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DashboardJson } from '../../src/finish.ts';
import { startDrawing } from './browser.ts';
import { collect, type Wish } from './collect.ts';
import { PreviewError } from './errors.ts';
import { prometheusAt } from './prometheus.ts';
import type { PanelReport } from './scene.ts';

const GENERATED = fileURLToPath(new URL('../../generated', import.meta.url));

/** The result of one dashboard. */
export interface DashboardReport {
  readonly uid: string;
  readonly title: string;
  /** The picture's file. */
  readonly png: string;
  readonly width: number;
  readonly height: number;
  /** How many annotations were drawn across its graphs. */
  readonly marks: number;
  readonly panels: readonly PanelReport[];
  /** All text in the picture except that of graphs. */
  readonly text: string;
}

/**
 * The generated dashboards.
 * @param uids which ones; empty: all
 * @throws PreviewError for a uid that does not exist
 */
export const readDashboards = async (uids: readonly string[]): Promise<readonly DashboardJson[]> => {
  const files = (await readdir(GENERATED)).filter((name) => name.endsWith('.json')).sort();
  const all = await Promise.all(
    files.map(async (name) => JSON.parse(await readFile(join(GENERATED, name), 'utf8')) as DashboardJson),
  );
  const missing = uids.find((uid) => !all.some((one) => one.uid === uid));
  if (missing !== undefined) {
    throw new PreviewError(
      `there is no dashboard "${missing}". There are: ${all.map(({ uid }) => String(uid)).join(', ')}.`,
    );
  }
  return uids.length === 0 ? all : all.filter(({ uid }) => uids.includes(String(uid)));
};

/**
 * Draws dashboards to PNG files named after their uids.
 * @throws PreviewError if there is no Prometheus or no Chromium
 */
export const preview = async (
  dashboards: readonly DashboardJson[],
  prometheus: string,
  out: string,
  wish: Wish,
): Promise<readonly DashboardReport[]> => {
  await mkdir(out, { recursive: true });
  const drawing = await startDrawing();
  try {
    const reports: DashboardReport[] = [];
    for (const dashboard of dashboards) {
      const scene = await collect(dashboard, prometheusAt(prometheus), wish);
      const { png, panels, text } = await drawing.draw(scene);
      const file = join(out, `${scene.uid}.png`);
      await writeFile(file, png);
      const { uid, title, width, height, marks } = scene;
      reports.push({ uid, title, png: file, width, height, marks: marks.length, panels, text });
    }
    return reports;
  } finally {
    await drawing.close();
  }
};
