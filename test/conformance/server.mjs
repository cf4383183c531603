/** The MCP server that the conformance suite asks for, over stdio and in both protocol eras, made with SDK 2. */
import { setTimeout as after } from 'node:timers/promises';
import { inputRequired, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const SOUND = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
};

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };
const embedded = (uri, mimeType, value) => ({ type: 'resource', resource: { uri, mimeType, text: value } });
const form = (message, properties, required) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties, ...(required && { required }) } },
});
const sample = (prompt) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 100 },
});
const askName = form('What is your name?', { name: { type: 'string' } }, ['name']);
const askContext = form('What context should the prompt use?', { context: { type: 'string' } }, ['context']);
const confirm = form('Please confirm', { ok: { type: 'boolean' } }, ['ok']);
const roots = { method: 'roots/list', params: {} };

const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};
const titled = ['First', 'Second', 'Third'].map((name, n) => ({ const: `value${n + 1}`, title: `${name} Option` }));
const options = ['option1', 'option2', 'option3'];
const ENUMS = {
  untitledSingle: { type: 'string', enum: options },
  titledSingle: { type: 'string', oneOf: titled },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
  titledMulti: { type: 'array', items: { anyOf: titled } },
};

const elicit = async ({ mcpReq }, { params }) => {
  const { action, content } = await mcpReq.elicitInput({ mode: 'form', ...params });
  return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
};

/** A call of several rounds (2026-07-28): asks again until a round is answered. The client sends the answers of the last round only. */
const rounds =
  (...asked) =>
  (_, { mcpReq }) => {
    const given = mcpReq.inputResponses ?? {};
    const round = Number(/^round-(\d)$/.exec(mcpReq.requestState() ?? '')?.[1] ?? 0);
    const isAnswered = Object.keys(asked[round] ?? {}).every((key) => given[key] !== undefined);
    const next = isAnswered ? round + 1 : round;
    if (asked[next] === undefined) return text(`Got ${JSON.stringify(given)}`);
    return inputRequired({ inputRequests: asked[next], requestState: `round-${next}` });
  };

const TOOLS = {
  test_simple_text: () => text('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: SOUND, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }),
  test_tool_with_logging: async (_, { mcpReq }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', data);
      await after(50);
    }
    return text('Done.');
  },
  test_error_handling: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  test_tool_with_progress: async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100 };
      if (progressToken !== undefined) await mcpReq.notify({ method: 'notifications/progress', params });
      await after(50);
    }
    return text('Done.');
  },
  test_sampling: async ({ prompt }, { mcpReq }) => {
    const { content } = await mcpReq.requestSampling(sample(prompt).params);
    return text(`LLM response: ${content.text}`);
  },
  test_elicitation: async ({ message }, ctx) => {
    const asked = { username: { type: 'string' }, email: { type: 'string' } };
    return await elicit(ctx, form(message, asked, Object.keys(asked)));
  },
  test_elicitation_sep1034_defaults: (_, ctx) => elicit(ctx, form('Please review', DEFAULTS)),
  test_elicitation_sep1330_enums: (_, ctx) => elicit(ctx, form('Please choose', ENUMS)),
  json_schema_2020_12_tool: () => text('ok'),
  test_input_required_result_elicitation: rounds({ user_name: askName }),
  test_input_required_result_sampling: rounds({ capital_question: sample('What is the capital of France?') }),
  test_input_required_result_list_roots: rounds({ client_roots: roots }),
  test_input_required_result_request_state: rounds({ confirm }),
  test_input_required_result_multiple_inputs: rounds({
    user_name: askName,
    greeting: sample('Generate a greeting'),
    client_roots: roots,
  }),
  test_input_required_result_multi_round: rounds(
    { step1: form('Step 1: What is your name?', { name: { type: 'string' } }, ['name']) },
    { step2: form('Step 2: What is your favorite color?', { color: { type: 'string' } }, ['color']) },
  ),
};

const said = (...contents) => ({ messages: contents.map((content) => ({ role: 'user', content })) });
const words = (value) => ({ type: 'text', text: value });
const PROMPTS = {
  test_simple_prompt: () => said(words('This is a simple prompt for testing.')),
  test_prompt_with_arguments: ({ arg1, arg2 }) => said(words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  test_prompt_with_embedded_resource: ({ resourceUri }) =>
    said(
      embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      words('Please process the embedded resource above.'),
    ),
  test_prompt_with_image: () => said(image, words('Please analyze the image above.')),
  test_input_required_result_prompt: (_, { mcpReq: { inputResponses } }) =>
    inputResponses?.user_context === undefined
      ? inputRequired({ inputRequests: { user_context: askContext } })
      : said(words(JSON.stringify(inputResponses.user_context))),
};
const ARGUMENTS = { test_prompt_with_arguments: ['arg1', 'arg2'], test_prompt_with_embedded_resource: ['resourceUri'] };

const RESOURCES = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PIXEL },
  'test://watched-resource': { mimeType: 'text/plain', text: 'Watched.' },
};
const contentOf = (uri) => {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  const data = { id, templateTest: true, data: `Data for ID: ${id}` };
  if (id !== undefined) return { mimeType: 'application/json', text: JSON.stringify(data) };
  if (RESOURCES[uri] === undefined)
    throw Object.assign(new Error(`Resource ${uri} not found`), { code: -32_602, data: { uri } });
  return RESOURCES[uri];
};

serveStdio(() => {
  const capabilities = {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    logging: {},
    completions: {},
  };
  const server = new Server({ name: 'conformance', version: '0.0.0' }, { capabilities });
  const handlers = {
    'tools/list': () => ({
      tools: Object.keys(TOOLS).map((name) => ({
        name,
        description: `Tool ${name}`,
        inputSchema: name.startsWith('json_schema') ? SCHEMA : { type: 'object' },
      })),
    }),
    'tools/call': ({ params }, ctx) => {
      const tool = TOOLS[params.name];
      if (tool === undefined) throw Object.assign(new Error(`Unknown tool ${params.name}`), { code: -32_602 });
      return tool(params.arguments ?? {}, ctx);
    },
    'prompts/list': () => ({
      prompts: Object.keys(PROMPTS).map((name) => ({
        name,
        description: `Prompt ${name}`,
        arguments: (ARGUMENTS[name] ?? []).map((one) => ({ name: one, description: one, required: true })),
      })),
    }),
    'prompts/get': ({ params }, ctx) => PROMPTS[params.name](params.arguments ?? {}, ctx),
    'resources/list': () => ({
      resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({ uri, name: uri, mimeType })),
    }),
    'resources/templates/list': () => ({
      resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'data', mimeType: 'application/json' }],
    }),
    'resources/read': ({ params: { uri } }) => ({ contents: [{ uri, ...contentOf(uri) }] }),
    'resources/subscribe': () => ({}),
    'resources/unsubscribe': () => ({}),
    'completion/complete': () => ({ completion: { values: ['paris', 'park'], total: 2, hasMore: false } }),
    'logging/setLevel': () => ({}),
  };
  for (const [method, handler] of Object.entries(handlers)) server.setRequestHandler(method, handler);
  return server;
});
