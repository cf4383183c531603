/** What the scripted model does when a call fails. Each figure is from a study that the page links, or an assumption that it varies. */
export interface Habit {
  readonly id: string;
  readonly text: string;
  /** Chance that a failed call is made again, each time. */
  readonly repeats: number;
  /** Most calls of one tool for one step of a task. */
  readonly mostCalls: number;
  /** Chance that the model finds the alternative by itself, once it stops repeating. */
  readonly findsAlternative: number;
  /** Chance that it follows a message that says what to do. */
  readonly follows: number;
  /** Whether it does not repeat a call that a breaker has rejected, whatever its message. */
  readonly knowsBreakers: boolean;
  /** Chance that a step begins with a wrong argument. The tool is healthy, and the model corrects itself. */
  readonly mistakes: number;
  /** Whether it leaves a step out if it finds no alternative. If not, it gives the task up. */
  readonly goesOn: boolean;
  /** Time for one turn of the model. */
  readonly turnMs: number;
}

const USUAL: Habit = {
  id: 'usual',
  text: 'as in the tables above',
  repeats: 0.6,
  mostCalls: 10,
  findsAlternative: 0.38,
  follows: 0.9,
  knowsBreakers: false,
  mistakes: 0.03,
  goesOn: false,
  turnMs: 4_000,
};

export const HABITS: readonly Habit[] = [
  USUAL,
  { ...USUAL, id: 'never-repeats', text: 'repeats no call', repeats: 0 },
  { ...USUAL, id: 'stubborn', text: 'repeats a failed call with 90 %', repeats: 0.9 },
  {
    ...{ ...USUAL, id: 'endless', text: 'repeats a failed call with 90 %, at most 30 calls for one step' },
    ...{ repeats: 0.9, mostCalls: 30 },
  },
  { ...USUAL, id: 'patient', text: 'at most 30 calls for one step', mostCalls: 30 },
  { ...USUAL, id: 'impatient', text: 'at most 3 calls for one step', mostCalls: 3 },
  { ...USUAL, id: 'never-finds', text: 'finds no alternative by itself', findsAlternative: 0 },
  { ...USUAL, id: 'always-finds', text: 'always finds the alternative by itself', findsAlternative: 1 },
  { ...USUAL, id: 'half-follows', text: 'follows half of the messages that say what to do', follows: 0.5 },
  { ...USUAL, id: 'ignores', text: 'follows no message that says what to do', follows: 0 },
  { ...USUAL, id: 'knows-breakers', text: 'never repeats a call that any breaker rejected', knowsBreakers: true },
  { ...USUAL, id: 'faultless', text: 'never begins with a wrong argument', mistakes: 0 },
  { ...USUAL, id: 'careless', text: 'begins 10 % of its steps with a wrong argument', mistakes: 0.1 },
  { ...USUAL, id: 'goes-on', text: 'goes on with the next step if it finds no alternative', goesOn: true },
  { ...USUAL, id: 'fast', text: 'takes a turn in 1 s', turnMs: 1_000 },
  { ...USUAL, id: 'slow', text: 'takes a turn in 15 s', turnMs: 15_000 },
];
export const USUAL_HABIT = USUAL;
