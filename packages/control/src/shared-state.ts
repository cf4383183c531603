import { type Boxes, boxStates } from './state.ts';
import { boxesText } from './state-room.ts';

/** Milliseconds for which readers get the same text. A page per operator, each asking every second, costs what four cost. */
const SHARED_MS = 250;

/** The state of the boxes as JSON. 200 sessions of 20 tools take 10 ms, so that readers share it for a moment. */
export interface SharedState {
  text(): string;
  /** Something was done: the next reader gets the state after it. */
  forget(): void;
}

export const shareState = (boxes: Boxes, now = () => performance.now()): SharedState => {
  let shared: { readonly text: string; readonly untilMs: number } | undefined;
  return {
    text: () => {
      if (shared === undefined || now() >= shared.untilMs)
        shared = { text: boxesText(boxStates(boxes)), untilMs: now() + SHARED_MS };
      return shared.text;
    },
    forget: () => {
      shared = undefined;
    },
  };
};
