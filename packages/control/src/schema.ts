import { LIMIT_KINDS } from '@breakerbox/core/control';
import { z } from 'zod';

/** The schemas that the OpenAPI document names. Not Zod's own registry, which other packages fill too. */
export const SCHEMAS = z.registry<{ id: string }>();

const DAY_MS = 86_400_000;
const name = (what: string) => z.string().min(1).max(256).describe(what);

const agent = name('The agent. The action concerns all boxes of this name in the process.');
/** Ids are longer than names. Requests and answers have the same bounds: what an operator sees can be acted on. */
const id = z.string().min(1).max(1_024);
const session = id.describe('The id of a session.');
/** The ids of sessions above a sub-agent, and its own. */
export const MOST_PATH = 8_192;
const tool = name('The tool, or `group:NAME` for a group.');
const cycle = z.number().int();
const version = z
  .number()
  .int()
  .describe('The `version` that the operator has seen. If it has changed since then, the action is rejected as stale.');

const limit = z.enum(LIMIT_KINDS);
/** Core allows no larger limit. */
const MOST_LIMIT = 2 ** 40;

/** D2: a limit of a run, made larger. */
const extend = z
  .strictObject({
    action: z.literal('extend'),
    agent,
    session: z
      .string()
      .min(1)
      .max(MOST_PATH)
      .describe(
        'The id of a session, or of a sub-agent in its tree: then the limits above it grow too. Its path, such as run-7/planner/researcher, names it exactly.',
      ),
    limit: limit.describe('Which limit.'),
    by: z
      .number()
      .positive()
      .max(MOST_LIMIT)
      .describe('How much larger: calls, steps, tokens, money in the currency of the limit, or milliseconds.'),
    size: z
      .number()
      .positive()
      .max(MOST_LIMIT)
      .describe('The size of the limit that the operator has seen. If it has changed since then, the action is stale.'),
  })
  .refine((one) => one.limit === 'cost' || Number.isInteger(one.by), {
    path: ['by'],
    message: 'Give a whole number. Only the limit cost may have a fraction.',
  });

/** A4: what an operator forces on a tool. */
const force = (action: 'force_open' | 'disable' | 'observe') =>
  z.strictObject({
    action: z.literal(action),
    agent,
    tool,
    session: session.optional().describe('Only this session. Default: all sessions, including later ones.'),
    reason: z.string().trim().min(1).max(500).describe('Why, for other operators.'),
    expiresInMs: z
      .number()
      .int()
      .positive()
      .max(7 * DAY_MS)
      .default(DAY_MS / 24)
      .describe('Milliseconds until the mode ends by itself: one hour by default, at most 7 days.'),
    version: version.optional(),
  });

/** What an operator asks for (A3). */
export const ActionRequest = z
  .discriminatedUnion('action', [
    z.strictObject({
      action: z.literal('resume'),
      agent,
      session,
      cycle: cycle.describe('The budget cycle that the operator has seen.'),
    }),
    z.strictObject({
      action: z.literal('confirm'),
      agent,
      session,
      event: id.describe('The event that the operator has seen.'),
    }),
    extend,
    force('force_open'),
    force('disable'),
    force('observe'),
    z.strictObject({
      action: z.literal('release'),
      agent,
      tool,
      session: session
        .optional()
        .describe(
          'The session, if the mode was forced for one session. Without it, only a mode for all sessions is released.',
        ),
      owner: name('The owner of the mode. Default: the caller.')
        .regex(/\S/, 'Give a name that is not empty.')
        .optional(),
      allOwners: z
        .literal(true)
        .optional()
        .describe('The modes of all owners, such as those that another program wrote into the store of a fleet.'),
      version: version.optional(),
    }),
  ])
  .register(SCHEMAS, { id: 'Action' });
export type ActionRequest = z.infer<typeof ActionRequest>;

/*
 * What an endpoint answers is read by consoles and commands of other versions, and an attacker may write it. So it has bounds: a time is one
 * that a clock can show.
 */
const LAST_UNIX_MS = 8.64e15;
const unixMs = z.number().min(0).max(LAST_UNIX_MS);
const milliseconds = z.number().min(-LAST_UNIX_MS).max(LAST_UNIX_MS);
const count = z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);
/** Names, ids and reasons: core cuts names to 256 characters. */
const word = z.string().max(1_024);
const MOST_TEXT = 1_000_000;
/** Live sessions of a box that are listed: paused ones first. */
export const MOST_SESSIONS = 500;
/** Elements of all other lists. Bytes limit an answer first. */
const MOST_LISTED = 10_000;
const list = <Element extends z.ZodType>(element: Element, most = MOST_LISTED) => z.array(element).max(most);

const Circuit = z
  .object({
    tool: word,
    group: word.optional(),
    state: z.enum(['closed', 'open', 'half_open', 'forced_open', 'disabled', 'observe_only']),
    generation: count,
    failures: count,
    category: word.optional(),
    openForMs: milliseconds.optional(),
    nextProbe: z
      .object({
        steps: count.optional().describe('Steps left, if the schedule counts steps.'),
        ms: milliseconds.optional().describe('Milliseconds left.'),
        notBeforeMs: milliseconds.optional().describe('Milliseconds left of a Retry-After; 0 for none.'),
      })
      .optional(),
    openKeys: count,
    failedKeys: count.optional(),
  })
  .register(SCHEMAS, { id: 'Circuit' });

const amount = z.number().min(0).max(Number.MAX_SAFE_INTEGER);

const Limit = z
  .object({
    limit,
    session: id.describe('The session or sub-agent that has the limit.'),
    size: amount.describe('What may be used. Of `durationMs`: without the time that is kept for the final answer.'),
    used: amount.describe('With the estimates of calls under way.'),
    underWay: amount.describe('The part of `used` that calls under way are expected to use.'),
    estimated: amount.describe('The part of `used` that failed calls were expected to use.'),
    reserved: amount.describe('What sub-agents have reserved, and not used.'),
    kept: amount.optional().describe('The part of `reserved` that is kept for the last answers of sub-agents.'),
    mode: z.enum(['observe', 'advise', 'pause']),
    level: z.enum(['advised', 'reached']).optional().describe('`advised` from 80 % on, `reached` at 100 %.'),
    currency: word.optional(),
  })
  .register(SCHEMAS, { id: 'Limit' });

const Used = z.object({ calls: amount, steps: amount, tokens: amount, cost: amount }).register(SCHEMAS, { id: 'Used' });

/** Sub-agents of a session. Core lists no more. */
const MOST_CHILDREN = 100;
/** Kinds of failures that have used a budget. Core lists no more. */
const MOST_CHARGES = 20;

const Child = z
  .object({
    id,
    name: word.optional(),
    parent: id.describe('The session or sub-agent above it.'),
    path: z
      .string()
      .max(MOST_PATH)
      .describe('Its exact name: the ids of all above it and its own, with / between them.'),
    depth: count.describe('Levels beneath the session, from 1.'),
    ended: z.boolean(),
    used: Used.describe('What it and its own sub-agents have used.'),
    limits: list(Limit, LIMIT_KINDS.length).describe('Its own limits.'),
  })
  .register(SCHEMAS, { id: 'Child' });

export const SessionState = z
  .object({
    id,
    ageMs: milliseconds,
    state: z.enum(['active', 'paused_budget', 'paused_systemic', 'paused_limit']),
    step: count,
    budget: z.object({
      limit: count,
      remaining: count,
      cycle,
      charges: list(z.object({ tool: word, category: word, failures: count }), MOST_CHARGES)
        .optional()
        .describe('Which failures have used the budget. Left out unless it pauses the session.'),
    }),
    event: z
      .object({
        id,
        category: word.optional(),
        layer: word,
        suspect: word.optional(),
        tools: list(word),
        sinceUnixMs: unixMs.optional().describe('When its first tool failed.'),
      })
      .optional(),
    circuits: list(Circuit),
    limits: list(Limit, LIMIT_KINDS.length).optional().describe('Left out without limits and without sub-agents.'),
    used: Used.optional().describe(
      'What it and its sub-agents have used. Left out without limits and without sub-agents.',
    ),
    children: list(Child, MOST_CHILDREN).optional().describe('Its sub-agents, each after the one above it.'),
    childrenLeftOut: count.optional().describe('How many sub-agents are not listed, because there are too many.'),
  })
  .register(SCHEMAS, { id: 'Session' });
export type SessionState = z.infer<typeof SessionState>;
export type LimitState = z.infer<typeof Limit>;
export type ChildState = z.infer<typeof Child>;

export const Mode = z
  .object({
    tool: word,
    mode: z.enum(['forced_open', 'disabled', 'observe_only']),
    owner: word,
    reason: word,
    session: word.optional(),
    sinceUnixMs: unixMs,
    untilUnixMs: unixMs,
  })
  .register(SCHEMAS, { id: 'Mode' });

export const BoxState = z
  .object({
    agent: name('The agent.'),
    version: version.describe('How often modes of the boxes of this agent have changed.'),
    tools: list(word),
    modes: list(Mode),
    sessions: list(SessionState, MOST_SESSIONS),
    sessionsLeftOut: count.describe('How many live sessions are not listed, because there are too many.'),
    uncounted: list(z.object({ tool: word, errors: count, calls: count }))
      .optional()
      .describe('Tools most of whose calls came back with an error that is not counted.'),
  })
  .register(SCHEMAS, { id: 'Box' });
export type BoxState = z.infer<typeof BoxState>;

const ms = milliseconds.describe('Milliseconds.');

/** G8: what the process knows of the circuits and actions that it shares with others. */
export const FleetState = z
  .object({
    process: word.describe('The name of this process in the store.'),
    mode: z
      .enum(['starting', 'up', 'degraded'])
      .describe('`degraded`: the store does not answer, and the process decides alone.'),
    why: word.optional(),
    ageMs: milliseconds.optional().describe('Milliseconds since the last answer of the store.'),
    processes: count.optional().describe('How many processes share the store now, if it can tell.'),
    circuits: list(
      z.object({
        fleet: word,
        name: word.describe('The tool, or `group:NAME`.'),
        state: z.enum(['pending', 'open', 'closed']).describe('`pending`: too few processes have seen it open.'),
        category: word,
        ageMs: ms,
        seenBy: count.describe('While pending: how many processes have seen it open.'),
        holder: word.optional().describe('The process that holds the probe.'),
      }),
    ),
    actions: list(
      z.object({
        fleet: word,
        action: z.enum(['force', 'release']),
        tool: word,
        owner: word,
        mode: z.enum(['forced_open', 'disabled', 'observe_only']).optional(),
        reason: word.optional(),
        leftMs: ms,
        applied: count.optional().describe('How many living processes have carried it out, if the store can tell.'),
        processes: count.optional().describe('Of how many, if the store can tell.'),
      }),
    ),
  })
  .register(SCHEMAS, { id: 'Fleet' });
export type FleetState = z.infer<typeof FleetState>;

export const ProcessState = z
  .object({
    pid: count,
    startedUnixMs: unixMs,
    role: z.enum(['view', 'operate']),
    fleet: FleetState.optional().describe('Only if `startControl` was given a fleet.'),
    boxes: list(BoxState),
  })
  .register(SCHEMAS, { id: 'Process' });
export type ProcessState = z.infer<typeof ProcessState>;

export const ActionResponse = z
  .object({
    result: z.enum(['done', 'stale', 'unknown']),
    message: z.string().max(MOST_TEXT),
    boxes: list(BoxState).describe('The boxes of the agent after the action.'),
  })
  .register(SCHEMAS, { id: 'ActionResult' });
export type ActionResponse = z.infer<typeof ActionResponse>;

export const Report = z
  .object({
    text: z
      .string()
      .max(MOST_TEXT)
      .describe('What is done, what is not and why, and what to do next, in lines of 78 characters.'),
  })
  .register(SCHEMAS, { id: 'Report' });
export type Report = z.infer<typeof Report>;

export const Problem = z
  .object({ error: z.string().max(20_000).describe('What is wrong, and how to fix it.') })
  .register(SCHEMAS, { id: 'Problem' });
