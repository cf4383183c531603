/**
 * With `node --import @breakerbox/instrumentation/register agent.js`, every `generateText`, `streamText` and agent of the AI SDK 7 is
 * guarded as by {@link breakerTelemetry}, with no change to the code. A run has the session of `withSession` if there is one,
 * or else a session of its own.
 *
 * | variable | what | default |
 * |---|---|---|
 * | `BREAKERBOX_AGENT` | name of the agent in telemetry | that of the configuration file, else `OTEL_SERVICE_NAME`, else `unknown_agent` |
 * | `BREAKERBOX_CONFIG` | file with the settings of the box, as for `loadConfig`; the box follows it | none |
 * | `BREAKERBOX_CAPABILITIES` | file with the tools' alternatives and fallbacks, as for `loadCapabilities` | none |
 * | `BREAKERBOX_SCOPE` | `session`, `process` or `none`: who shares the circuits | `session` |
 * | `BREAKERBOX_MODE` | mode of all circuits, such as `observe_only`: no call is skipped, every call is counted | `automatic` |
 * | `BREAKERBOX_WARNINGS` | `off`: no warnings of mistakes in the program; read without `--import` too | warnings on |
 *
 * A variable or file that can't work, or an unknown `BREAKERBOX_` variable, ends the process at its start with an error that lists all
 * faults. Use `--import`: Node's `--require` cannot load a module that waits for a file.
 *
 * Only the AI SDK 7 is guarded. It runs tools through integrations on `globalThis`, which its copies share. Integrations of AI SDK 6 can
 * only observe. LangChain's callback handlers could reject a call, but handlers that are registered before the program starts do not
 * reach it, because they belong to the asynchronous context of the code that registered them. OpenAI Agents, Mastra, Google ADK, the
 * Anthropic SDK, the Claude Agent SDK and MCP have no hook for a whole process that could reject a call. Their adapters take one to
 * three lines of code.
 */
import { createBreakerbox } from '@breakerbox/core';
import { breakerTelemetry } from './ai-sdk/breaker-telemetry.ts';
import { registrationOf } from './register-config.ts';

/** The AI SDK's `registerTelemetry` uses this property. Importing that function here could load another copy, or fail. */
const shared = globalThis as { AI_SDK_TELEMETRY_INTEGRATIONS?: object[] };
const { config, follow } = await registrationOf(process.env);
const box = createBreakerbox(config);
follow(box);
const integration = breakerTelemetry(box);
// Before all others, so that Breakerbox's spans are beneath theirs.
shared.AI_SDK_TELEMETRY_INTEGRATIONS = [integration, ...(shared.AI_SDK_TELEMETRY_INTEGRATIONS ?? [])];
