import type { Box, GridPos, PanelJson } from './scene.ts';

// Grafana's own sizes.
const COLUMNS = 24;
const CELL = 30;
const GAP = 8;

// The page around the panels, in pixels.
/** Left and right of the panels. */
export const MARGIN = 16;
/** Above the panels: title and variables. */
export const HEAD = 88;
/** Below them: the note that this is a preview. */
export const FOOT = 40;

/** A panel, or the title of a row, with its position. */
export interface Placed {
  readonly panel: PanelJson;
  /** Title of its row; empty above the first. */
  readonly row: string;
  readonly box: Box;
}

/** Pixels of a grid position, in a grid of this width. */
export const boxOf = ({ x, y, w, h }: GridPos, width: number): Box => {
  const column = (width - GAP * (COLUMNS - 1)) / COLUMNS;
  return {
    x: Math.round(x * (column + GAP)),
    y: y * (CELL + GAP),
    width: Math.round(w * column + (w - 1) * GAP),
    height: h * CELL + (h - 1) * GAP,
  };
};

const bottom = (panels: readonly PanelJson[]): number =>
  Math.max(0, ...panels.map(({ gridPos }) => gridPos.y + gridPos.h));

/** Opens all rows: the panels of a collapsed row are placed, and later panels move down. */
const opened = (panels: readonly PanelJson[]): readonly PanelJson[] => {
  let down = 0;
  return [...panels]
    .sort((a, b) => a.gridPos.y - b.gridPos.y || a.gridPos.x - b.gridPos.x)
    .flatMap((panel) => {
      const moved = lowered(panel, down);
      const inside = panel.panels ?? [];
      if (panel.type !== 'row' || inside.length === 0) return [moved];
      const first = Math.min(...inside.map(({ gridPos }) => gridPos.y));
      const shift = moved.gridPos.y + 1 - first;
      down += bottom(inside) - first;
      return [moved, ...inside.map((one) => lowered(one, shift))];
    });
};

const lowered = (panel: PanelJson, by: number): PanelJson => ({
  ...panel,
  gridPos: { ...panel.gridPos, y: panel.gridPos.y + by },
});

/** Positions of everything from top to bottom. `open`: with all rows opened; otherwise as Grafana shows the dashboard at first. */
export const placed = (panels: readonly PanelJson[], width: number, open: boolean): readonly Placed[] => {
  let row = '';
  return (open ? opened(panels) : panels).map((panel) => {
    if (panel.type === 'row') row = panel.title ?? '';
    return { panel, row, box: boxOf(panel.gridPos, width) };
  });
};

/** Pixels from the top of the first to the bottom of the last. */
export const heightOf = (all: readonly Placed[]): number => Math.max(0, ...all.map(({ box }) => box.y + box.height));
