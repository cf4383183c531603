import { z } from 'zod';
import { ActionRequest, ActionResponse, Problem, ProcessState, Report, SCHEMAS } from './schema.ts';

const refOf = (id: string): string => `#/components/schemas/${id}`;

/** Every schema by its id. They name one another by {@link refOf}. */
const components = () => {
  const { schemas } = z.toJSONSchema(SCHEMAS, { uri: refOf, io: 'input' });
  return Object.fromEntries(Object.entries(schemas).map(([id, { $id, $schema, ...schema }]) => [id, schema]));
};

const json = (schema: z.ZodType) => ({
  'application/json': { schema: { $ref: refOf(SCHEMAS.get(schema)?.id ?? '') } },
});
const problem = (description: string) => ({ description, content: json(Problem) });

/** Of every request. */
const REFUSED = {
  401: problem('No valid token'),
  403: problem('Another host or page, or a token that may only view'),
  500: problem(
    'The file of tokens cannot be read, or an action cannot be recorded in the audit file. Nothing was done',
  ),
};

/** The OpenAPI document of the control API, from the schemas that check its requests. */
export const openApi = () => ({
  openapi: '3.1.0',
  info: { title: 'Breakerbox control', version: '1' },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } }, schemas: components() },
  security: [{ token: [] }],
  paths: {
    '/v1/state': {
      get: {
        summary: 'What the process does now',
        parameters: [
          { name: 'session', in: 'query', description: 'Only the sessions with this id', schema: { type: 'string' } },
        ],
        responses: { 200: { description: 'The state', content: json(ProcessState) }, ...REFUSED },
      },
    },
    '/v1/report': {
      get: {
        summary: 'The report of a session, as text',
        parameters: ['agent', 'session'].map((name) => ({
          name,
          in: 'query',
          required: true,
          schema: { type: 'string' },
        })),
        responses: {
          200: { description: 'The report', content: json(Report) },
          404: problem('No such session'),
          ...REFUSED,
        },
      },
    },
    '/v1/changes': {
      get: {
        summary: 'Server-sent events: the recent changes, then each new one',
        responses: {
          200: { description: 'A stream', content: { 'text/event-stream': { schema: { type: 'string' } } } },
          ...REFUSED,
        },
      },
    },
    '/v1/actions': {
      post: {
        summary: 'Acts on a session or a tool',
        requestBody: { required: true, content: json(ActionRequest) },
        responses: {
          200: { description: 'Done', content: json(ActionResponse) },
          404: { description: 'No such session, tool or mode', content: json(ActionResponse) },
          409: { description: 'Stale: nothing was done', content: json(ActionResponse) },
          400: problem('Not an action'),
          413: problem('Too large'),
          ...REFUSED,
        },
      },
    },
  },
});
