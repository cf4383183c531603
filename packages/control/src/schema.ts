import { z } from 'zod';

/** The schemas that the OpenAPI document names. Not Zod's own registry, which other packages fill too. */
export const SCHEMAS = z.registry<{ id: string }>();

const DAY_MS = 86_400_000;
const name = (what: string) => z.string().min(1).max(256).describe(what);

const agent = name('The agent. The action concerns all boxes of this name in the process.');
const session = name('The id of a session.');
const tool = name('The tool, or `group:NAME` for a group.');
const version = z
  .number()
  .int()
  .describe('The `version` that the operator has seen. If it has changed since then, the action is rejected as stale.');

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
      cycle: z.number().int().describe('The budget cycle that the operator has seen.'),
    }),
    z.strictObject({
      action: z.literal('confirm'),
      agent,
      session,
      event: name('The event that the operator has seen.'),
    }),
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
      owner: name('The owner of the mode. Default: the caller.').optional(),
      version: version.optional(),
    }),
  ])
  .register(SCHEMAS, { id: 'Action' });
export type ActionRequest = z.infer<typeof ActionRequest>;

const Circuit = z
  .object({
    tool: z.string(),
    group: z.string().optional(),
    state: z.enum(['closed', 'open', 'half_open', 'forced_open', 'disabled', 'observe_only']),
    generation: z.number(),
    failures: z.number(),
    category: z.string().optional(),
    openForMs: z.number().optional(),
    nextProbe: z.record(z.string(), z.unknown()).optional(),
    openKeys: z.number(),
  })
  .register(SCHEMAS, { id: 'Circuit' });

export const SessionState = z
  .object({
    id: z.string(),
    ageMs: z.number(),
    state: z.enum(['active', 'paused_budget', 'paused_systemic']),
    step: z.number(),
    budget: z.object({ limit: z.number(), remaining: z.number(), cycle: z.number() }),
    event: z
      .object({
        id: z.string(),
        category: z.string().optional(),
        layer: z.string(),
        suspect: z.string().optional(),
        tools: z.array(z.string()),
        sinceUnixMs: z.number().optional().describe('When its first tool failed.'),
      })
      .optional(),
    circuits: z.array(Circuit),
  })
  .register(SCHEMAS, { id: 'Session' });
export type SessionState = z.infer<typeof SessionState>;

export const Mode = z
  .object({
    tool: z.string(),
    mode: z.enum(['forced_open', 'disabled', 'observe_only']),
    owner: z.string(),
    reason: z.string(),
    session: z.string().optional(),
    sinceUnixMs: z.number(),
    untilUnixMs: z.number(),
  })
  .register(SCHEMAS, { id: 'Mode' });

export const BoxState = z
  .object({
    agent: z.string(),
    version: z.number().describe('How often modes of the boxes of this agent have changed.'),
    tools: z.array(z.string()),
    modes: z.array(Mode),
    sessions: z.array(SessionState),
    sessionsLeftOut: z.number().describe('How many live sessions are not listed, because there are too many.'),
    uncounted: z
      .array(z.object({ tool: z.string(), errors: z.number(), calls: z.number() }))
      .optional()
      .describe('Tools most of whose calls came back with an error that is not counted.'),
  })
  .register(SCHEMAS, { id: 'Box' });
export type BoxState = z.infer<typeof BoxState>;

const ms = z.number().describe('Milliseconds.');

/** G8: what the process knows of the circuits and actions that it shares with others. */
export const FleetState = z
  .object({
    process: z.string().describe('The name of this process in the store.'),
    mode: z
      .enum(['starting', 'up', 'degraded'])
      .describe('`degraded`: the store does not answer, and the process decides alone.'),
    why: z.string().optional(),
    ageMs: z.number().optional().describe('Milliseconds since the last answer of the store.'),
    processes: z.number().optional().describe('How many processes share the store now, if it can tell.'),
    circuits: z.array(
      z.object({
        fleet: z.string(),
        name: z.string().describe('The tool, or `group:NAME`.'),
        state: z.enum(['pending', 'open', 'closed']).describe('`pending`: too few processes have seen it open.'),
        category: z.string(),
        ageMs: ms,
        seenBy: z.number().describe('While pending: how many processes have seen it open.'),
        holder: z.string().optional().describe('The process that holds the probe.'),
      }),
    ),
    actions: z.array(
      z.object({
        fleet: z.string(),
        action: z.enum(['force', 'release']),
        tool: z.string(),
        owner: z.string(),
        mode: z.enum(['forced_open', 'disabled', 'observe_only']).optional(),
        reason: z.string().optional(),
        leftMs: ms,
        applied: z
          .number()
          .optional()
          .describe('How many living processes have carried it out, if the store can tell.'),
        processes: z.number().optional().describe('Of how many, if the store can tell.'),
      }),
    ),
  })
  .register(SCHEMAS, { id: 'Fleet' });
export type FleetState = z.infer<typeof FleetState>;

export const ProcessState = z
  .object({
    pid: z.number(),
    startedUnixMs: z.number(),
    role: z.enum(['view', 'operate']),
    fleet: FleetState.optional().describe('Only if `startControl` was given a fleet.'),
    boxes: z.array(BoxState),
  })
  .register(SCHEMAS, { id: 'Process' });
export type ProcessState = z.infer<typeof ProcessState>;

export const ActionResponse = z
  .object({
    result: z.enum(['done', 'stale', 'unknown']),
    message: z.string(),
    boxes: z.array(BoxState).describe('The boxes of the agent after the action.'),
  })
  .register(SCHEMAS, { id: 'ActionResult' });
export type ActionResponse = z.infer<typeof ActionResponse>;

export const Report = z
  .object({
    text: z.string().describe('What is done, what is not and why, and what to do next, in lines of 78 characters.'),
  })
  .register(SCHEMAS, { id: 'Report' });
export type Report = z.infer<typeof Report>;

export const Problem = z
  .object({ error: z.string().describe('What is wrong, and how to fix it.') })
  .register(SCHEMAS, { id: 'Problem' });
