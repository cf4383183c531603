import type { BoxContext } from '../box-context.ts';
import type { OperatorAction, OperatorActionEvent } from '../events.ts';
import { sendPending } from '../telemetry/logs.ts';
import { countAction } from '../telemetry/series.ts';
import type { ForcedMode } from './forced-modes.ts';
import type { ReportedAction } from './operator-api.ts';

/** The action that forces a mode. */
export const ACTIONS: Readonly<Record<ForcedMode, OperatorAction>> = {
  forced_open: 'force_open',
  disabled: 'disable',
  observe_only: 'observe',
};

/** A6: counts an action, and sends it to listeners and log. Who acted is in neither: it is the caller's to record. */
export const reportAction = (
  { agent, clock, series, emitter }: BoxContext,
  { action, result, tool, session }: ReportedAction,
): void => {
  countAction(series, action, result);
  const event: OperatorActionEvent = { agent, session, unixMs: clock.unixNow(), action, result, tool };
  sendPending([{ name: 'operator.action', event }], emitter);
};
