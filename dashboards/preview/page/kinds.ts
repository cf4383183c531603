import type { DataFrame, FieldConfigSource, GrafanaTheme2, TimeRange } from '@grafana/data';
import type { JSX } from 'react';
import type { Mark, PanelJson } from '../src/scene.ts';

/** The input of every kind of panel. */
export interface VizProps {
  readonly panel: PanelJson;
  readonly fieldConfig: FieldConfigSource;
  readonly frames: DataFrame[];
  readonly width: number;
  readonly height: number;
  readonly theme: GrafanaTheme2;
  readonly timeRange: TimeRange;
  readonly marks: readonly Mark[];
}

/** A kind of panel. */
export interface Kind {
  readonly drawnBy: '@grafana/ui' | 'preview';
  readonly View: (props: VizProps) => JSX.Element;
  /** Draws its own text if no query has data. Default: the panel says so. */
  readonly drawsNothing?: boolean;
  /** Has no queries. */
  readonly isText?: boolean;
}

/** The options of a panel, with the type of the component that draws it. */
export const optionsOf = <T>(panel: PanelJson): Partial<T> => (panel.options ?? {}) as Partial<T>;
