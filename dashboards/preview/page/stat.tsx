import {
  type FieldDisplay,
  getDisplayValueAlignmentFactors,
  getFieldDisplayValues,
  VizOrientation,
} from '@grafana/data';
import type { BarGaugeNamePlacement, BarGaugeValueMode, SingleStatBaseOptions } from '@grafana/schema';
import {
  BarGauge,
  type BarGaugeDisplayMode,
  BigValue,
  type BigValueColorMode,
  BigValueGraphMode,
  type BigValueJustifyMode,
  BigValueTextMode,
  VizRepeater,
} from '@grafana/ui';
import type { JSX } from 'react';
import { optionsOf, type VizProps } from './kinds.ts';

const valuesOf = (props: VizProps, sparkline: boolean): FieldDisplay[] => {
  const { reduceOptions = { calcs: ['lastNotNull'] } } = optionsOf<SingleStatBaseOptions>(props.panel);
  return getFieldDisplayValues({
    data: props.frames,
    fieldConfig: props.fieldConfig,
    reduceOptions: { ...reduceOptions, calcs: reduceOptions.calcs ?? ['lastNotNull'] },
    replaceVariables: (text) => text,
    sparkline,
    theme: props.theme,
    timeZone: 'browser',
  });
};

interface StatOptions extends SingleStatBaseOptions {
  readonly colorMode: BigValueColorMode;
  readonly graphMode: BigValueGraphMode;
  readonly justifyMode: BigValueJustifyMode;
  readonly textMode: BigValueTextMode;
  readonly wideLayout: boolean;
}

/** One or several big numbers. */
export const StatView = (props: VizProps): JSX.Element => {
  const { panel, width, height, theme, timeRange, fieldConfig } = props;
  const options = optionsOf<StatOptions>(panel);
  const { textMode = BigValueTextMode.Auto, graphMode = BigValueGraphMode.None } = options;
  const named = textMode === BigValueTextMode.Auto && (fieldConfig.defaults.displayName !== undefined || !panel.title);
  return (
    <VizRepeater
      width={width}
      height={height}
      source={props.frames}
      renderCounter={0}
      itemSpacing={3}
      autoGrid
      orientation={(options.orientation as VizOrientation | undefined) ?? VizOrientation.Auto}
      getValues={() => valuesOf(props, graphMode !== BigValueGraphMode.None)}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={({ value, alignmentFactors, count, ...size }) => (
        <BigValue
          {...size}
          value={value.display}
          count={count}
          {...(value.sparkline && { sparkline: { ...value.sparkline, timeRange } })}
          {...(options.text && { text: options.text })}
          {...(options.justifyMode && { justifyMode: options.justifyMode })}
          colorMode={options.colorMode ?? ('value' as BigValueColorMode)}
          graphMode={graphMode}
          textMode={named ? BigValueTextMode.ValueAndName : textMode}
          alignmentFactors={alignmentFactors}
          disableWideLayout={options.wideLayout === false}
          theme={theme}
        />
      )}
    />
  );
};

interface BarGaugeOptions extends SingleStatBaseOptions {
  readonly displayMode: BarGaugeDisplayMode;
  readonly valueMode: BarGaugeValueMode;
  readonly namePlacement: BarGaugeNamePlacement;
  readonly showUnfilled: boolean;
  readonly minVizWidth: number;
  readonly minVizHeight: number;
  readonly maxVizHeight: number;
}

/** Numbers as bars. */
export const BarGaugeView = (props: VizProps): JSX.Element => {
  const { panel, width, height, theme } = props;
  const options = optionsOf<BarGaugeOptions>(panel);
  const orientation = (options.orientation as VizOrientation | undefined) ?? VizOrientation.Auto;
  return (
    <VizRepeater
      width={width}
      height={height}
      source={props.frames}
      renderCounter={0}
      itemSpacing={8}
      orientation={orientation}
      {...(options.minVizWidth !== undefined && { minVizWidth: options.minVizWidth })}
      {...(options.minVizHeight !== undefined && { minVizHeight: options.minVizHeight })}
      {...(options.maxVizHeight !== undefined && { maxVizHeight: options.maxVizHeight })}
      getValues={() => valuesOf(props, false)}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={({ value, alignmentFactors, orientation: drawn, ...size }) => (
        <BarGauge
          width={size.width}
          height={size.height}
          value={value.display}
          field={value.field}
          {...(value.view?.getFieldDisplayProcessor(value.colIndex ?? 0) && {
            display: value.view.getFieldDisplayProcessor(value.colIndex ?? 0),
          })}
          orientation={drawn}
          {...(options.text && { text: options.text })}
          alignmentFactors={alignmentFactors}
          displayMode={(options.displayMode ?? 'gradient') as BarGaugeDisplayMode}
          showUnfilled={options.showUnfilled ?? true}
          {...(options.valueMode && { valueDisplayMode: options.valueMode })}
          namePlacement={(options.namePlacement ?? 'auto') as BarGaugeNamePlacement}
          theme={theme}
        />
      )}
    />
  );
};
