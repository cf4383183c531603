/**
 * `node --import @breakerbox/instrumentation/register agent.js`: every `generateText`, `streamText` and agent of the AI SDK 7 is
 * guarded as {@link breakerTelemetry} does it, with no change to the code. A run has the session of `withSession`, if there is
 * one around it, or else one of its own.
 *
 * | variable | what | default |
 * |---|---|---|
 * | `BREAKERBOX_AGENT` | name of the agent in telemetry | `OTEL_SERVICE_NAME`, else `unknown_agent` |
 * | `BREAKERBOX_CAPABILITIES` | a file with the tools' alternatives and fallbacks, as for `loadCapabilities` | none |
 * | `BREAKERBOX_SCOPE` | `session`, `process` or `none`: whose circuits they are | `session` |
 * | `BREAKERBOX_MODE` | the mode of all circuits, such as `observe_only`: nothing is skipped, all is counted | `automatic` |
 * | `BREAKERBOX_WARNINGS` | `off`: no warnings of mistakes in the program; read without `--import` too | warnings on |
 *
 * A variable or file that can't work, or a `BREAKERBOX_` variable that there is none of, ends the process at its start, with all
 * that is wrong. It has to be `--import`: Node's `--require` takes no module that waits for a file.
 *
 * It is the AI SDK 7 alone: that one runs tools through integrations that stand on `globalThis`, which its copies share. AI SDK 6
 * has integrations that only watch. LangChain's callback handlers could refuse a call, but those that are registered before the
 * program don't reach it: they belong to the asynchronous context of whoever did it. OpenAI Agents, Mastra, Google ADK, the
 * Anthropic SDK, the Claude Agent SDK and MCP have nothing for a whole process that could refuse a call. Their adapters take one to
 * three lines of code.
 */
import { createBreakerbox } from '@breakerbox/core';
import { breakerTelemetry } from './ai-sdk-telemetry.ts';
import { boxConfigOf } from './register-config.ts';

/** Where the AI SDK's own `registerTelemetry` puts them: importing it here might load another copy, or one that isn't there. */
const shared = globalThis as { AI_SDK_TELEMETRY_INTEGRATIONS?: object[] };
const integration = breakerTelemetry(createBreakerbox(await boxConfigOf(process.env)));
// Before all others, so that our spans are beneath theirs.
shared.AI_SDK_TELEMETRY_INTEGRATIONS = [integration, ...(shared.AI_SDK_TELEMETRY_INTEGRATIONS ?? [])];
