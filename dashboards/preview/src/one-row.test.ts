import { expect, test } from 'vitest';
import type { DashboardJson } from '../../src/finish.ts';
import { PreviewError } from './errors.ts';
import { onlyRow } from './one-row.ts';
import type { PanelJson } from './scene.ts';

const panel = (id: number, y: number): PanelJson => ({ id, type: 'stat', gridPos: { x: 0, y, w: 24, h: 2 } });
const row = (id: number, y: number, title: string, panels: readonly PanelJson[] = []): PanelJson => ({
  ...panel(id, y),
  type: 'row',
  title,
  panels,
});
const dashboard = (uid: string, ...panels: readonly PanelJson[]) => ({ uid, panels }) as unknown as DashboardJson;

const ALL = [
  dashboard('one', panel(1, 0), row(2, 2, 'Now'), panel(3, 3), panel(4, 5), row(5, 7, 'Closed', [panel(6, 8)])),
  dashboard('other', row(7, 0, 'Later'), panel(8, 1)),
];

const shown = (title: string) =>
  onlyRow(ALL, title).map(({ uid, panels }) => [
    uid,
    (panels as unknown as readonly PanelJson[]).map(({ id, gridPos }) => [id, gridPos.y]),
  ]);

test('a row has its panels and no others, from the top, and dashboards without it are left out', () => {
  expect(shown('Now')).toEqual([
    [
      'one',
      [
        [2, 0],
        [3, 1],
        [4, 3],
      ],
    ],
  ]);
  expect(shown('Later')).toEqual([
    [
      'other',
      [
        [7, 0],
        [8, 1],
      ],
    ],
  ]);
});

test('a closed row keeps the panels inside it', () => {
  expect(shown('Closed')).toEqual([['one', [[5, 0]]]]);
  expect(onlyRow(ALL, 'Closed')[0]?.panels).toMatchObject([{ panels: [{ id: 6 }] }]);
});

test('a row that no dashboard has is an error that lists the rows', () => {
  expect(() => onlyRow(ALL, 'Nothing')).toThrow(PreviewError);
  expect(() => onlyRow(ALL, 'Nothing')).toThrow('there is no row "Nothing". There are: Now, Closed, Later.');
});
