import type { DashboardJson } from '../../src/finish.ts';
import { PreviewError } from './errors.ts';
import { FOOT, HEAD, heightOf, MARGIN, type Placed, placed } from './layout.ts';
import { ANNOTATION_POINTS, ANNOTATION_STEP_MS, type AnnotationJson, marksOf } from './marks.ts';
import type { Prometheus } from './prometheus.ts';
import type { Answer, Mark, PanelJson, PanelScene, Scene, TargetJson } from './scene.ts';
import { parseDuration, stepMs } from './steps.ts';
import { type Choice, type Chosen, choices, interpolated, readable } from './variables.ts';

/** The input of a picture. */
export interface Wish {
  readonly fromMs: number;
  readonly toMs: number;
  /** Width in pixels. */
  readonly width: number;
  /** Height in pixels; the rest is cut. Default: the whole dashboard. */
  readonly height?: number | undefined;
  /** The scrape interval. Default: that of Prometheus' targets, or else Grafana's 15 s. */
  readonly scrapeMs?: number | undefined;
  readonly chosen?: Chosen;
  /** Opens rows that are closed at first. Default: they stay closed, as in Grafana. */
  readonly open?: boolean;
}

const GRAFANA_SCRAPE_MS = 15_000;

interface Around {
  readonly prometheus: Prometheus;
  readonly wish: Wish;
  readonly scrapeMs: number;
  readonly choices: readonly Choice[];
}

/**
 * Queries Prometheus for everything on a dashboard.
 * @throws PreviewError if Prometheus does not answer. The error of a single query is in the answer to that query.
 */
export const collect = async (dashboard: DashboardJson, prometheus: Prometheus, wish: Wish): Promise<Scene> => {
  const scrapeMs = wish.scrapeMs ?? (await prometheus.scrapeMs()) ?? GRAFANA_SCRAPE_MS;
  const made = await choices(dashboard, wish.chosen ?? {}, prometheus, wish);
  const around: Around = { prometheus, wish, scrapeMs, choices: made };
  const all = placed(
    (dashboard.panels ?? []) as unknown as readonly PanelJson[],
    wish.width - 2 * MARGIN,
    wish.open ?? false,
  );
  const panels: PanelScene[] = [];
  for (const one of all.filter(({ panel }) => panel.type !== 'row')) panels.push(await answered(one, around));
  return {
    uid: String(dashboard.uid),
    title: String(dashboard.title),
    width: wish.width,
    height: wish.height ?? HEAD + heightOf(all) + FOOT,
    fromMs: wish.fromMs,
    toMs: wish.toMs,
    variables: made.filter(({ hidden }) => !hidden).map(({ label, text }) => ({ label, text })),
    links: ((dashboard.links ?? []) as readonly { title?: string }[]).map(({ title = '' }) => title),
    rows: all
      .filter(({ panel }) => panel.type === 'row')
      .map(({ panel, row, box }) => ({
        title: readable(row, made),
        closed: panel.collapsed === true && wish.open !== true,
        box,
      })),
    panels,
    marks: await marks(dashboard, around),
  };
};

const answered = async ({ panel, row, box }: Placed, around: Around): Promise<PanelScene> => {
  const targets = (panel.targets ?? []).filter(({ hide }) => hide !== true);
  return {
    panel: { ...panel, title: readable(panel.title ?? '', around.choices) },
    row,
    box,
    answers: await Promise.all(targets.map((target) => answer(target, panel, box.width, around))),
  };
};

const answer = async (target: TargetJson, panel: PanelJson, width: number, around: Around): Promise<Answer> => {
  const { prometheus, wish, scrapeMs } = around;
  const { fromMs, toMs } = wish;
  const step = stepMs({
    rangeMs: toMs - fromMs,
    points: panel.maxDataPoints ?? width,
    scrapeMs,
    leastMs: parseDuration(target.interval ?? panel.interval ?? ''),
  });
  try {
    const expr = interpolated(target.expr, around.choices, { fromMs, toMs, stepMs: step, scrapeMs });
    const series =
      target.instant === true
        ? await prometheus.instant(expr, toMs)
        : await prometheus.range(expr, { fromMs, toMs, stepMs: step });
    return { target, stepMs: step, series };
  } catch (error) {
    return { target, stepMs: step, series: [], error: error instanceof Error ? error.message : String(error) };
  }
};

const marks = async (dashboard: DashboardJson, around: Around): Promise<readonly Mark[]> => {
  const { fromMs, toMs } = around.wish;
  const list = (dashboard.annotations as { list?: readonly AnnotationJson[] } | undefined)?.list ?? [];
  const wanted = list.filter(({ enable, builtIn, expr }) => enable !== false && builtIn !== 1 && expr !== undefined);
  const found = await Promise.all(
    wanted.map(async (annotation) => {
      const step = stepMs({
        rangeMs: toMs - fromMs,
        points: ANNOTATION_POINTS,
        scrapeMs: around.scrapeMs,
        leastMs: parseDuration(annotation.step ?? '') ?? ANNOTATION_STEP_MS,
      });
      const expr = interpolated(annotation.expr ?? '', around.choices, {
        fromMs,
        toMs,
        stepMs: step,
        scrapeMs: around.scrapeMs,
      });
      const series = await around.prometheus.range(expr, { fromMs, toMs, stepMs: step }).catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        throw new PreviewError(
          `the annotation "${annotation.name}" of ${String(dashboard.uid)} cannot be queried: ${why}`,
        );
      });
      return marksOf(annotation, series, step);
    }),
  );
  return found.flat().filter(({ fromMs: from, toMs: to }) => to >= fromMs && from <= toMs);
};
