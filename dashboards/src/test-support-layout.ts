/**
 * Faults of a dashboard's JSON that no schema knows: Grafana accepts them and draws the panel badly. The sizes are those of Grafana 12.4,
 * measured in a window of 1600 px with its docked menu, which leaves 1268 px for the grid.
 */

interface Override {
  readonly matcher: { readonly id: string; readonly options?: unknown };
  readonly properties: readonly { readonly id: string; readonly value?: unknown }[];
}

/** The parts of a panel that decide how much room it needs. */
export interface LintedPanel {
  readonly type: string;
  readonly title?: string;
  readonly description?: string;
  readonly gridPos: { readonly w: number; readonly h: number };
  readonly links?: readonly unknown[];
  readonly targets?: readonly { readonly expr?: string; readonly legendFormat?: string }[];
  readonly transformations?: readonly {
    readonly id: string;
    readonly options?: { readonly renameByName?: Readonly<Record<string, string>> };
  }[];
  readonly options?: {
    readonly mergeValues?: boolean;
    readonly perPage?: number;
    readonly legend?: { readonly showLegend?: boolean };
    readonly footer?: { readonly enablePagination?: boolean };
  };
  readonly fieldConfig?: {
    readonly defaults?: {
      readonly color?: { readonly mode?: string };
      readonly custom?: { readonly minWidth?: number };
    };
    readonly overrides?: readonly Override[];
  };
}

// All in pixels.
const GRID = 1268;
const GAP = 8;
const GRID_ROW = 30;
/** Beside a title: padding, the icon of the description and the room that Grafana keeps for the menu. */
const TITLE_FRAME = 98;
const TITLE_LINK = 24;
/** Left and right of a table. */
const TABLE_FRAME = 18;
const TABLE_COLUMN = 150;
/** Above and below the bands of a timeline: title, time axis, legend. */
const BANDS_FRAME = 96;
const BAND = 16;

/** Widths of letters of a title: Inter, 14 px, medium. */
const LETTERS: readonly (readonly [letters: string, width: number])[] = [
  ['ijlI ', 3.7],
  ['t.:,()', 4.9],
  ['fr-', 5.5],
  ['ksvxyzcL7', 8],
  ['abdeghnopquEFJ', 8.6],
  ['ABPRSTXYZ0123456889', 9.4],
  ['CDGHKNOQUV', 10.4],
];
const WIDEST = 13;

const widthOf = (text: string): number =>
  [...text].reduce((sum, letter) => sum + (LETTERS.find(([letters]) => letters.includes(letter))?.[1] ?? WIDEST), 0);

const width = ({ gridPos }: LintedPanel): number => ((GRID + GAP) / 24) * gridPos.w - GAP;
const height = ({ gridPos }: LintedPanel): number => gridPos.h * (GRID_ROW + GAP) - GAP;

const title = (panel: LintedPanel): readonly string[] => {
  const needed = widthOf(panel.title ?? '');
  const room = width(panel) - TITLE_FRAME - ((panel.links ?? []).length > 0 ? TITLE_LINK : 0);
  return needed <= room
    ? []
    : [`the title needs ${Math.ceil(needed)} px and has ${Math.floor(room)}: widen the panel or shorten the title`];
};

const timeline = (panel: LintedPanel): readonly string[] => {
  const { options = {}, fieldConfig, targets = [] } = panel;
  const mode = fieldConfig?.defaults?.color?.mode;
  const most = Math.max(
    0,
    ...targets.flatMap(({ expr = '' }) => [...expr.matchAll(/topk\((\d+),/g)].map(([, n]) => Number(n))),
  );
  const room = Math.floor((height(panel) - BANDS_FRAME) / BAND);
  return [
    ...(options.mergeValues !== false && mode === 'thresholds'
      ? ['the mode thresholds with mergeValues drops the value mappings, and draws black bands: use the mode fixed']
      : []),
    ...(targets.some(({ legendFormat = '' }) => legendFormat.includes('{{job}}'))
      ? ['the job in each label leaves no room for the bands: name the agent and the tool']
      : []),
    ...(most === 0 ? ['the number of bands has no limit: use topk'] : []),
    ...(most > room
      ? [`${most} bands have room for ${room}, so their labels overlap: fewer bands or more height`]
      : []),
  ];
};

const isOn = (property: string, { properties }: Override): boolean =>
  properties.some(({ id, value }) => id === property && value === true);
const isOff = (property: string, { properties }: Override): boolean =>
  properties.some(({ id, value }) => id === property && value === false);

const columns = (panel: LintedPanel): readonly string[] => {
  const { fieldConfig, transformations = [] } = panel;
  // The columns of a matrix are known only with the data.
  if (transformations.some(({ id }) => id === 'groupingToMatrix')) return [];
  const { overrides = [], defaults } = fieldConfig ?? {};
  const names = Object.values(transformations.find(({ id }) => id === 'organize')?.options?.renameByName ?? {});
  const needed = names
    .map((name) => overrides.filter(({ matcher }) => matcher.id === 'byName' && matcher.options === name))
    .filter((own) => !own.some((override) => isOn('custom.hidden', override)))
    .map((own) => own.flatMap(({ properties }) => properties).find(({ id }) => id === 'custom.width')?.value)
    .map((fixed) => (typeof fixed === 'number' ? fixed : (defaults?.custom?.minWidth ?? TABLE_COLUMN)))
    .reduce((sum, one) => sum + one, 0);
  const room = Math.floor(width(panel) - TABLE_FRAME);
  return needed <= room ? [] : [`the columns need ${needed} px and have ${room}: fewer or narrower columns`];
};

const table = (panel: LintedPanel): readonly string[] => {
  const overrides = panel.fieldConfig?.overrides ?? [];
  const linked = overrides.filter(({ properties }) => properties.some(({ id }) => id === 'links'));
  // Prometheus' labels are filterable, and only an override changes what the data source sets.
  const covered = linked.filter(
    (one) => !overrides.some((other) => (other === one || other.matcher.id === 'byType') && isOff('filterable', other)),
  );
  return [
    ...columns(panel),
    ...covered.map(({ matcher }) => `filter buttons cover the links of ${matcher.options}: set filterable to false`),
  ];
};

const pager = ({ options = {}, type }: LintedPanel): readonly string[] =>
  (type === 'state-timeline' && options.perPage !== 0) || options.footer?.enablePagination === true
    ? ['a pager is drawn even for one page: set perPage to 0']
    : [];

const ofType = (panel: LintedPanel): readonly string[] => {
  if (panel.type === 'state-timeline') return timeline(panel);
  if (panel.type === 'table') return table(panel);
  if (panel.type === 'bargauge' && panel.options?.legend?.showLegend === true)
    return ['a legend repeats the names beside the bars'];
  return [];
};

/** Grafana's variable for the time that the dashboard shows. */
const RANGE = '[$__range';
/** Of these, a reader sees a number and no axis of time. */
const NUMBERS: readonly string[] = ['stat', 'table', 'bargauge'];

/** A number without a window reads as one of now. The heading of a row names it for all panels below. */
const inWindow = ({ type, title = '', targets = [] }: LintedPanel, heading: string): readonly string[] =>
  NUMBERS.includes(type) && targets.some(({ expr = '' }) => expr.includes(RANGE)) && !/range/.test(title + heading)
    ? ['it counts over the time range, and neither its title nor that of its row says so']
    : [];

/** What Grafana would draw badly, one sentence for each fault; rows have none. */
export const drawnBadly = (panels: readonly LintedPanel[]): readonly string[] => {
  let heading = '';
  return panels.flatMap((panel) => {
    if (panel.type === 'row') heading = panel.title ?? '';
    if (panel.type === 'row') return [];
    const faults = [...title(panel), ...pager(panel), ...inWindow(panel, heading), ...ofType(panel)];
    return faults.map((fault) => `${panel.title}: ${fault}`);
  });
};
