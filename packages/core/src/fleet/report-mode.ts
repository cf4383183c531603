import type { BoxContext } from '../box-context.ts';
import type { FleetEvent } from '../events.ts';
import { sendPending } from '../telemetry/logs.ts';
import { seriesOf } from '../telemetry/series.ts';

type Mode = 'up' | 'degraded';

/** G7: exports whether the fleet's store answers. A change is an event and a log record too. */
export const modeReporter = ({ agent, clock, series, emitter }: BoxContext): ((mode: Mode, why?: string) => void) => {
  let known: Mode = 'up';
  return (mode, why) => {
    seriesOf(series, 'fleetUp').value = mode === 'up' ? 1 : 0;
    if (mode === known) return;
    known = mode;
    const event: FleetEvent = {
      agent,
      session: undefined,
      unixMs: clock.unixNow(),
      why: mode === 'up' ? undefined : (why ?? 'unknown'),
    };
    sendPending([{ name: mode === 'up' ? 'fleet.restored' : 'fleet.degraded', event }], emitter);
  };
};

/** The store has answered now. */
export const reportHeard = ({ clock, series }: BoxContext): void => {
  seriesOf(series, 'fleetReadTime').value = clock.unixNow() / 1000;
};

/** Records of the store that do not fit. */
export const reportIgnored = ({ series }: BoxContext, records: number): void => {
  seriesOf(series, 'fleetIgnored').value += records;
};
