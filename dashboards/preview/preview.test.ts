import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inflateSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DashboardJson } from '../src/finish.ts';
import { RECORDED } from '../src/recorded.ts';
import { findChromium } from './src/chromium.ts';
import { startHistory } from './src/history.ts';
import { type DashboardReport, preview, readDashboards } from './src/preview.ts';
import { prometheusAt } from './src/prometheus.ts';
import { PLAYED_MS, played, STORIES } from './src/story.ts';
import { ruleSamples } from './src/story-rules.ts';
import { FLEET, type FleetHistory, HISTORY_MS, SCRAPE_MS, startFleetHistory } from './test-history.ts';

/** CI must have a Chromium. The preview's own error says how to install one. */
const canDraw = findChromium() !== undefined || process.env.CI === 'true';
const WITHOUT = 'This machine has no chromium on PATH to draw the pictures: apt-get install chromium';
const WIDTH = 1600;
/** Starting a browser takes long on two cores that other tests use too. */
const SLOW_MS = 120_000;
const SIGNATURE = '89504e470d0a1a0a';

interface Png {
  readonly signature: string;
  readonly width: number;
  readonly height: number;
  /** The number of different bytes in a picture: one or two if it is blank. */
  readonly variety: number;
}

const readPng = async (file: string): Promise<Png> => {
  const bytes = await readFile(file);
  const data: Buffer[] = [];
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  }
  return {
    signature: bytes.toString('hex', 0, 8),
    width: bytes.readUInt32BE(16),
    height: bytes.readUInt32BE(20),
    variety: new Set(inflateSync(Buffer.concat(data))).size,
  };
};

let history: FleetHistory;
let out: string;
let dashboards: readonly DashboardJson[];
let reports: readonly DashboardReport[];

const draw = (list: readonly DashboardJson[]): Promise<readonly DashboardReport[]> =>
  preview(list, history.url, out, {
    fromMs: history.toMs - HISTORY_MS,
    toMs: history.toMs,
    width: WIDTH,
    scrapeMs: SCRAPE_MS,
    open: true,
  });

test(
  'the types of this folder are correct',
  async () => {
    const tsc = fileURLToPath(import.meta.resolve('typescript/package.json')).replace('package.json', 'bin/tsc');
    const project = fileURLToPath(new URL('tsconfig.json', import.meta.url));
    const failed = await promisify(execFile)(process.execPath, [tsc, '-p', project]).catch(({ stdout }) => stdout);
    expect(failed).toEqual({ stdout: '', stderr: '' });
  },
  SLOW_MS,
);

test(
  'a story has the recorded series that panels read',
  async (context) => {
    if (!canDraw) return context.skip(WITHOUT);
    const toMs = Math.floor(Date.now() / SCRAPE_MS) * SCRAPE_MS;
    const story = await startHistory(played('outage', toMs));
    try {
      const window = { fromMs: toMs - PLAYED_MS, toMs, stepMs: STORIES.outage.scrapeMs };
      const names = (await ruleSamples(prometheusAt(story.url), window)).map((line) => line.split('{')[0]);
      // No agent of a story runs out of its budget, burns it fast, comes and goes, or loses three tools at once.
      const { ranOut, comesAndGoes, burnFast, correlatedToolsHeld } = RECORDED;
      const absent = [ranOut, comesAndGoes, burnFast, correlatedToolsHeld].sort();
      expect(
        Object.values(RECORDED)
          .filter((name) => !names.includes(name))
          .sort(),
      ).toEqual(absent);
    } finally {
      await story.stop();
    }
  },
  SLOW_MS,
);

describe('preview', () => {
  beforeAll(async () => {
    if (!canDraw) {
      // Reporters do not say why a test is skipped.
      process.stderr.write(`preview.test.ts: ${WITHOUT}\n`);
      return;
    }
    out = await mkdtemp(join(tmpdir(), 'breakerbox-pictures-'));
    history = await startFleetHistory();
    dashboards = await readDashboards([]);
    reports = await draw(dashboards);
  }, SLOW_MS);
  afterAll(async () => {
    await history?.stop();
    if (out !== undefined) await rm(out, { recursive: true, force: true });
  });
  beforeEach((context) => {
    if (!canDraw) context.skip(WITHOUT);
  });

  test('every panel of every generated dashboard is drawn, and shows data', () => {
    const poor = reports.flatMap(({ uid, panels }) =>
      panels
        .filter(({ shows }) => shows !== 'data' && shows !== 'text')
        .map(({ title, shows, error }) => `${uid}: ${title}: ${error ?? shows}`),
    );
    expect(poor).toEqual([]);
    expect(reports).toHaveLength(dashboards.length);
    expect(reports.length).toBeGreaterThan(0);
  });

  test('a picture has the right size, and is not blank', async () => {
    for (const { png, uid, width, height } of reports) {
      const picture = await readPng(png);
      expect({ uid, ...picture }).toMatchObject({ uid, signature: SIGNATURE, width: WIDTH, height });
      expect(width).toBe(WIDTH);
      expect(picture.variety, uid).toBeGreaterThan(100);
    }
  });

  test('a picture says that it is a preview, and shows every title, the variables and names from the data', () => {
    for (const { text, title, panels } of reports) {
      expect(text).toContain('Preview drawn with @grafana/ui, not Grafana');
      expect(text).toContain(title);
      for (const panel of panels) expect(text).toContain(panel.title);
      expect(text).toMatch(/Agent\s+All/);
      // Tool detail opens with the first tool.
      const oneTool = /Tool\s+get_weather\s/.test(text);
      for (const [agent, tools] of Object.entries(FLEET)) {
        if (!oneTool || tools.includes('get_weather')) expect(text).toContain(agent);
      }
    }
  });

  test(
    'panels that cannot be drawn, were rejected, or have no data are named in the picture and in the report',
    async () => {
      const grid = (x: number) => ({ x, y: 0, w: 6, h: 6 });
      const target = (expr: string) => [{ refId: 'A', expr, range: true, legendFormat: '{{job}}' }];
      const [report] = await draw([
        {
          uid: 'by-hand',
          title: 'By hand',
          panels: [
            { id: 1, type: 'geomap', title: 'Undrawn', gridPos: grid(0), targets: target('vector(1)') },
            { id: 2, type: 'timeseries', title: 'Refused', gridPos: grid(6), targets: target('sum(') },
            {
              id: 3,
              type: 'timeseries',
              title: 'Empty',
              gridPos: grid(12),
              targets: target('unknown_series'),
              fieldConfig: { defaults: { noValue: 'No agent reports' }, overrides: [] },
            },
            {
              id: 4,
              type: 'stat',
              title: 'A share',
              gridPos: grid(18),
              targets: target('vector(0.4242)'),
              fieldConfig: { defaults: { unit: 'percentunit', decimals: 1 }, overrides: [] },
            },
          ],
        },
      ]);
      expect(report?.panels.map(({ title, shows }) => [title, shows])).toEqual([
        ['Undrawn', 'undrawn'],
        ['Refused', 'error'],
        ['Empty', 'nothing'],
        ['A share', 'data'],
      ]);
      expect(report?.text).toContain("can't draw a panel of type geomap");
      expect(report?.text).toContain('parse error');
      expect(report?.text).toContain('No agent reports');
      expect(report?.text).toMatch(/42\.4\s*%/);
    },
    SLOW_MS,
  );
});
