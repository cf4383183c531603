import type { DataFrame, GrafanaTheme2, TimeRange } from '@grafana/data';
import { PanelChrome } from '@grafana/ui';
import { Component, type JSX, type ReactNode } from 'react';
import type { Mark, PanelReport, PanelScene } from '../src/scene.ts';
import { fieldConfigOf } from './config.ts';
import { GraphView } from './graph.tsx';
import { HeatmapView } from './heatmap.tsx';
import type { Kind } from './kinds.ts';
import { BarGaugeView, StatView } from './stat.tsx';
import { StateTimelineView, StatusHistoryView } from './state-timeline.tsx';
import { TableView } from './table.tsx';
import { TextView } from './text.tsx';

/** The kinds of panels that can be drawn. */
const KINDS: Readonly<Record<string, Kind>> = {
  stat: { drawnBy: '@grafana/ui', View: StatView, drawsNothing: true },
  bargauge: { drawnBy: '@grafana/ui', View: BarGaugeView, drawsNothing: true },
  timeseries: { drawnBy: '@grafana/ui', View: GraphView },
  table: { drawnBy: '@grafana/ui', View: TableView },
  text: { drawnBy: '@grafana/ui', View: TextView, isText: true },
  'state-timeline': { drawnBy: 'preview', View: StateTimelineView },
  'status-history': { drawnBy: 'preview', View: StatusHistoryView },
  heatmap: { drawnBy: 'preview', View: HeatmapView },
};

/** A panel with the frames that it receives. */
export interface Ready extends PanelScene {
  readonly frames: DataFrame[];
  /** An error before drawing. */
  readonly error?: string;
}

const NUMBERS = ['number', 'enum'];
const VALUES = [...NUMBERS, 'string', 'boolean'];

const has = (value: unknown): boolean => value !== null && value !== undefined && value !== '';

/** The visible content of a panel. */
export const reportOf = ({ panel, row, frames, answers, error }: Ready, failure?: string): PanelReport => {
  const kind = KINDS[panel.type];
  const fields = frames.flatMap((frame) => frame.fields.filter(({ type }) => VALUES.includes(type)));
  const filled = fields.filter(({ values }) => values.some(has));
  const words = failure ?? error ?? answers.find((one) => one.error !== undefined)?.error;
  const shows = (): PanelReport['shows'] => {
    if (kind === undefined) return 'undrawn';
    if (words !== undefined) return 'error';
    if (kind.isText === true) return 'text';
    return filled.length > 0 ? 'data' : 'nothing';
  };
  return {
    id: panel.id,
    title: panel.title ?? '',
    type: panel.type,
    row,
    shows: shows(),
    drawnBy: kind?.drawnBy ?? 'preview',
    series: filled.length,
    nonZero: filled.some(
      ({ type, values }) => NUMBERS.includes(type) && values.some((value: unknown) => has(value) && value !== 0),
    ),
    ...(words !== undefined && { error: words }),
  };
};

interface CatchProps {
  readonly children: ReactNode;
  readonly onError: (message: string) => void;
}

/** Keeps the failure of one panel from affecting the others. */
class Catch extends Component<CatchProps, { readonly message?: string }> {
  override state: { readonly message?: string } = {};
  static getDerivedStateFromError(error: unknown): { readonly message: string } {
    return { message: error instanceof Error ? error.message : String(error) };
  }
  override componentDidCatch(error: unknown): void {
    this.props.onError(error instanceof Error ? error.message : String(error));
  }
  override render(): ReactNode {
    return this.state.message === undefined ? this.props.children : <Words text={this.state.message} />;
  }
}

const Words = ({ text }: { readonly text: string }): JSX.Element => (
  <div
    style={{
      display: 'flex',
      height: '100%',
      alignItems: 'center',
      justifyContent: 'center',
      fontSize: 18,
      opacity: 0.7,
      textAlign: 'center',
    }}
  >
    {text}
  </div>
);

interface Props {
  readonly ready: Ready;
  readonly theme: GrafanaTheme2;
  readonly timeRange: TimeRange;
  readonly marks: readonly Mark[];
  readonly onError: (message: string) => void;
}

/** A panel with its border. */
export const PanelView = ({ ready, theme, timeRange, marks, onError }: Props): JSX.Element => {
  const { panel, box, frames } = ready;
  const kind = KINDS[panel.type];
  const report = reportOf(ready);
  const fieldConfig = fieldConfigOf(panel);
  const content = (width: number, height: number): ReactNode => {
    if (kind === undefined) return <Words text={`The preview can't draw a panel of type ${panel.type}.`} />;
    if (report.error !== undefined) return <Words text={report.error} />;
    if (report.shows === 'nothing' && kind.drawsNothing !== true) {
      return <Words text={fieldConfig.defaults.noValue ?? 'No data'} />;
    }
    const { View } = kind;
    return (
      <Catch onError={onError}>
        <View {...{ panel, fieldConfig, frames, width, height, theme, timeRange, marks }} />
      </Catch>
    );
  };
  return (
    <PanelChrome
      width={box.width}
      height={box.height}
      title={panel.title ?? ''}
      displayMode={panel.transparent === true ? 'transparent' : 'default'}
      padding={panel.type === 'table' ? 'none' : 'md'}
      {...(panel.description !== undefined && { description: panel.description })}
    >
      {content}
    </PanelChrome>
  );
};
