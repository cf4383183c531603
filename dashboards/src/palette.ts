import type {
  Availability,
  Decision,
  Degradation,
  ErrorCategory,
  FreshnessKind,
  Outcome,
  Reason,
  ReportedState,
  Route,
  SessionState,
} from '@breakerbox/core';
import type { Disposition } from './names.ts';

/**
 * The palette of Okabe and Ito, whose colours people with any kind of colour vision can distinguish. Vermilion, its red, is only for states
 * that need a person, such as a session that is paused until you resume it. If two such states are shown together, the second (paused as
 * systemic) has `rust`, a dark vermilion outside the palette. In the same way, `plum` (key_open) goes with purple (group_open).
 */
export const COLOUR = {
  orange: '#E69F00',
  sky: '#56B4E9',
  green: '#009E73',
  yellow: '#F0E442',
  blue: '#0072B2',
  vermilion: '#D55E00',
  rust: '#8C2D04',
  purple: '#CC79A7',
  plum: '#7A3E6B',
  grey: '#999999',
} as const;

/** No colour: nothing needs attention. */
export const CALM = 'transparent';

export const DECISION_COLOURS: Readonly<Record<Decision, string>> = {
  call: COLOUR.green,
  probe: COLOUR.sky,
  skip: COLOUR.orange,
  pause: COLOUR.vermilion,
};

/** Reasons for which a call is made. A new reason is a type error until it is here or has a colour. */
type ReasonToCall =
  | 'closed'
  | 'undeclared'
  | 'no_circuit'
  | 'disabled'
  | 'would_skip'
  | 'would_pause'
  | 'probe_due'
  | 'group_probe_due'
  | 'key_probe_due';

/** Colours of calls that did not run. Orange and blue: the circuit handles it. Vermilion: a person must act. */
export const REASON_COLOURS = {
  open: COLOUR.orange,
  group_open: COLOUR.purple,
  key_open: COLOUR.plum,
  probe_in_flight: COLOUR.sky,
  forced_open: COLOUR.blue,
  not_allowed: COLOUR.grey,
  unavailable: COLOUR.yellow,
  busy: COLOUR.grey,
  limit_reserved: COLOUR.grey,
  repeat: COLOUR.green,
  budget_exhausted: COLOUR.vermilion,
  systemic: COLOUR.rust,
  limit_reached: COLOUR.vermilion,
} satisfies Record<Exclude<Reason, ReasonToCall>, string>;

export const STATE_COLOURS: Readonly<Record<ReportedState, string>> = {
  closed: COLOUR.green,
  open: COLOUR.orange,
  half_open: COLOUR.sky,
  forced_open: COLOUR.blue,
  disabled: COLOUR.purple,
  observe_only: COLOUR.grey,
};

export const OUTCOME_COLOURS: Readonly<Record<Outcome, string>> = {
  success: COLOUR.green,
  failure: COLOUR.orange,
  ignored: COLOUR.grey,
};

export const SESSION_COLOURS: Readonly<Record<SessionState, string>> = {
  active: COLOUR.green,
  paused_budget: COLOUR.vermilion,
  paused_systemic: COLOUR.rust,
  paused_limit: COLOUR.orange,
};

// None of these needs a person at once: no vermilion.

export const ROUTE_COLOURS: Readonly<Record<Route['kind'], string>> = {
  alternative: COLOUR.green,
  manual: COLOUR.sky,
  stale: COLOUR.purple,
  defer: COLOUR.orange,
};

export const DEGRADATION_COLOURS: Readonly<Record<Degradation, string>> = {
  low: COLOUR.green,
  high: COLOUR.orange,
  unknown: COLOUR.yellow,
};

export const DISPOSITION_COLOURS: Readonly<Record<Disposition, string>> = {
  achievable: COLOUR.green,
  deferred: COLOUR.orange,
};

export const FRESHNESS_COLOURS: Readonly<Record<FreshnessKind, string>> = {
  stale: COLOUR.purple,
  cached: COLOUR.sky,
  unverified: COLOUR.yellow,
  freshness_unknown: COLOUR.orange,
};

export const AVAILABILITY_COLOURS: Readonly<Record<Availability, string>> = {
  available: COLOUR.green,
  degraded: COLOUR.yellow,
  unavailable: COLOUR.orange,
};

/**
 * Colours of error categories, by the values of `error.type`. Categories that are ignored by default are shades of grey: the model or the
 * user caused them, and they are not outages.
 */
export const CATEGORY_COLOURS: Readonly<Record<ErrorCategory | '_MIXED', string>> = {
  network: COLOUR.blue,
  timeout: COLOUR.orange,
  rate_limit: COLOUR.yellow,
  permission: COLOUR.purple,
  filesystem: COLOUR.green,
  server: COLOUR.sky,
  resource: '#8C6D31',
  unknown: '#BBBBBB',
  unusable: '#882255',
  invalid_input: '#888888',
  denied: '#777777',
  cancelled: '#666666',
  tool_error: '#999999',
  _MIXED: '#44AA99',
};
