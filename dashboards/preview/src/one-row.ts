import type { DashboardJson } from '../../src/finish.ts';
import { PreviewError } from './errors.ts';
import type { PanelJson } from './scene.ts';

/**
 * The dashboards that have the row, with nothing but its panels.
 * @throws PreviewError if none has it
 */
export const onlyRow = (dashboards: readonly DashboardJson[], title: string): readonly DashboardJson[] => {
  const of = (one: DashboardJson): readonly PanelJson[] => one.panels as unknown as readonly PanelJson[];
  const rows = dashboards.flatMap(of).filter(({ type }) => type === 'row');
  if (!rows.some((row) => row.title === title))
    throw new PreviewError(`there is no row "${title}". There are: ${rows.map((row) => row.title).join(', ')}.`);
  return dashboards.flatMap((one) => {
    const begin = of(one).findIndex((panel) => panel.type === 'row' && panel.title === title);
    if (begin < 0) return [];
    const end = of(one).findIndex((panel, index) => index > begin && panel.type === 'row');
    const top = of(one)[begin]?.gridPos.y ?? 0;
    const panels = of(one)
      .slice(begin, end < 0 ? undefined : end)
      .map((panel) => ({ ...panel, gridPos: { ...panel.gridPos, y: panel.gridPos.y - top } }));
    return [{ ...one, panels: panels as unknown as DashboardJson['panels'] }];
  });
};
