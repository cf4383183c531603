import { dateTimeFormat, type GrafanaTheme2, type TimeRange } from '@grafana/data';
import { GlobalStyles, Icon, ThemeContext } from '@grafana/ui';
import type { CSSProperties, JSX } from 'react';
import { HEAD, MARGIN } from '../src/layout.ts';
import type { Box, Scene } from '../src/scene.ts';
import { PanelView, type Ready } from './panel.tsx';

const within = ({ x, y, width, height }: Box): CSSProperties => ({
  position: 'absolute',
  left: MARGIN + x,
  top: HEAD + y,
  width,
  height,
});

interface HeadProps {
  readonly scene: Scene;
  readonly theme: GrafanaTheme2;
}

const Head = ({ scene, theme }: HeadProps): JSX.Element => {
  const box: CSSProperties = {
    border: `1px solid ${theme.colors.border.medium}`,
    borderRadius: theme.shape.radius.default,
    padding: '4px 8px',
    background: theme.colors.background.primary,
  };
  const clock = (ms: number): string => dateTimeFormat(ms, { format: 'YYYY-MM-DD HH:mm:ss' });
  const secondary = { color: theme.colors.text.secondary };
  return (
    <div style={{ padding: `12px ${MARGIN}px 0`, height: HEAD, whiteSpace: 'nowrap', overflow: 'hidden' }}>
      <div style={{ display: 'flex', gap: 8, alignItems: 'center', height: 32 }}>
        <span style={{ fontSize: 18, fontWeight: 500, flex: 1 }}>{scene.title}</span>
        <span style={box}>
          <Icon name="clock-nine" /> {clock(scene.fromMs)} to {clock(scene.toMs)}
        </span>
      </div>
      <div style={{ display: 'flex', gap: 8, alignItems: 'center', height: 40 }}>
        {scene.variables.map(({ label, text }) => (
          <span key={label} style={{ ...box, padding: 0, display: 'flex' }}>
            <span style={{ padding: '4px 8px', background: theme.colors.background.secondary, fontWeight: 500 }}>
              {label}
            </span>
            <span style={{ padding: '4px 8px' }}>{text}</span>
          </span>
        ))}
        <span style={{ flex: 1 }} />
        {scene.links.map((title) => (
          <span key={title} style={{ ...box, ...secondary }}>
            <Icon name="external-link-alt" /> {title}
          </span>
        ))}
      </div>
    </div>
  );
};

interface Props {
  readonly scene: Scene;
  readonly panels: readonly Ready[];
  readonly theme: GrafanaTheme2;
  readonly timeRange: TimeRange;
  readonly onError: (panel: number, message: string) => void;
}

/** A whole dashboard. */
export const DashboardView = ({ scene, panels, theme, timeRange, onError }: Props): JSX.Element => (
  <ThemeContext.Provider value={theme}>
    <GlobalStyles />
    <div
      style={{
        position: 'relative',
        width: scene.width,
        height: scene.height,
        background: theme.colors.background.canvas,
      }}
    >
      <Head scene={scene} theme={theme} />
      {scene.rows.map(({ title, closed, box }) => (
        <div key={`${title}-${box.y}`} style={{ ...within(box), display: 'flex', alignItems: 'center', gap: 8 }}>
          <Icon name={closed ? 'angle-right' : 'angle-down'} />
          <span style={{ fontSize: 18, fontWeight: 500 }}>{title}</span>
        </div>
      ))}
      {panels.map((ready) => (
        <div key={ready.panel.id} style={within(ready.box)} data-panel={ready.panel.id}>
          <PanelView
            ready={ready}
            theme={theme}
            timeRange={timeRange}
            marks={scene.marks}
            onError={(message) => onError(ready.panel.id, message)}
          />
        </div>
      ))}
      <div
        style={{
          position: 'absolute',
          bottom: 0,
          left: 0,
          right: 0,
          padding: `8px ${MARGIN}px`,
          background: theme.colors.background.canvas,
          color: theme.colors.text.secondary,
          fontSize: 12,
        }}
      >
        Preview drawn with @grafana/ui, not Grafana
      </div>
    </div>
  </ThemeContext.Provider>
);
