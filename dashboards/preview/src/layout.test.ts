import { expect, test } from 'vitest';
import { boxOf, heightOf, placed } from './layout.ts';
import type { PanelJson } from './scene.ts';

const panel = (id: number, y: number, more: Partial<PanelJson> = {}): PanelJson => ({
  id,
  type: 'stat',
  gridPos: { x: 0, y, w: 24, h: 2 },
  ...more,
});
const row = (id: number, y: number, title: string, panels?: readonly PanelJson[]): PanelJson =>
  panel(id, y, { type: 'row', title, gridPos: { x: 0, y, w: 24, h: 1 }, ...(panels && { collapsed: true, panels }) });

test('a panel has the same size as in Grafana', () => {
  expect(boxOf({ x: 0, y: 0, w: 24, h: 1 }, 1568)).toEqual({ x: 0, y: 0, width: 1568, height: 30 });
  expect(boxOf({ x: 12, y: 1, w: 12, h: 8 }, 1568)).toEqual({ x: 788, y: 38, width: 780, height: 296 });
});

test('neighbouring panels are eight pixels apart', () => {
  const left = boxOf({ x: 0, y: 0, w: 7, h: 4 }, 1568);
  const right = boxOf({ x: 7, y: 0, w: 17, h: 4 }, 1568);
  expect(right.x - left.x - left.width).toBeCloseTo(8, 0);
  expect(right.x + right.width).toBeCloseTo(1568, 0);
});

test('each panel knows its row', () => {
  const all = placed([panel(1, 0), row(2, 2, 'Now'), panel(3, 3), row(4, 5, 'Later'), panel(5, 6)], 1000, false);
  expect(all.map(({ panel: { id }, row: title }) => [id, title])).toEqual([
    [1, ''],
    [2, 'Now'],
    [3, 'Now'],
    [4, 'Later'],
    [5, 'Later'],
  ]);
  expect(heightOf(all)).toBe(7 * 38 + 30);
});

test('a collapsed row stays closed, as in Grafana, or is opened, and later panels move down', () => {
  const panels = [row(1, 0, 'Closed', [panel(2, 1), panel(3, 3)]), row(4, 1, 'Next'), panel(5, 2)];
  const at = (open: boolean) => placed(panels, 1000, open).map(({ panel: { id, gridPos } }) => [id, gridPos.y]);
  expect(at(false)).toEqual([
    [1, 0],
    [4, 1],
    [5, 2],
  ]);
  expect(at(true)).toEqual([
    [1, 0],
    [2, 1],
    [3, 3],
    [4, 5],
    [5, 6],
  ]);
});
