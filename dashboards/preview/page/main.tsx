import { createTheme, dateTime, type TimeRange } from '@grafana/data';
import { createRoot } from 'react-dom/client';
import type { PanelReport, PanelScene, Scene } from '../src/scene.ts';
import { prepared, registerTransformers } from './config.ts';
import { DashboardView } from './dashboard.tsx';
import { framesOf } from './frames.ts';
import { idle } from './idle.ts';
import { type Ready, reportOf } from './panel.tsx';

declare global {
  /** Set when everything is drawn. The command waits for it. */
  var previewReport: readonly PanelReport[] | undefined;
}

const theme = createTheme({ colors: { mode: 'dark' } });

const ready = async (one: PanelScene): Promise<Ready> => {
  try {
    return { ...one, frames: await prepared(one.panel, framesOf(one.answers), theme) };
  } catch (error) {
    return { ...one, frames: [], error: error instanceof Error ? error.message : String(error) };
  }
};

/** Text on a canvas does not change when its font arrives, so the fonts must load first. */
const fontsLoaded = (): Promise<unknown> =>
  Promise.all([400, 500].map((weight) => document.fonts.load(`${weight} 12px Inter`)));

const scene = (await (await fetch('/scene.json')).json()) as Scene;
registerTransformers();
await fontsLoaded();
const panels = await Promise.all(scene.panels.map(ready));
const range = { from: dateTime(scene.fromMs), to: dateTime(scene.toMs) };
const timeRange: TimeRange = { ...range, raw: range };
const failures = new Map<number, string>();
const root = document.getElementById('root');
if (root === null) throw new Error('preview: the page has no element with the id root');
createRoot(root).render(
  <DashboardView
    scene={scene}
    panels={panels}
    theme={theme}
    timeRange={timeRange}
    onError={(panel, message) => failures.set(panel, message)}
  />,
);
await idle();
globalThis.previewReport = panels.map((one) => reportOf(one, failures.get(one.panel.id)));
