import { z } from 'zod';
import { ActionRequest, ActionResponse, Problem, ProcessState, Report } from './schema.ts';

const json = (schema: z.ZodType) => ({ 'application/json': { schema: z.toJSONSchema(schema, { io: 'input' }) } });
const problem = (description: string) => ({ description, content: json(Problem) });

/** The OpenAPI document of the control API, from the schemas that check its requests. */
export const openApi = () => ({
  openapi: '3.1.0',
  info: { title: 'Breakerbox control', version: '1' },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  security: [{ token: [] }],
  paths: {
    '/v1/state': {
      get: {
        summary: 'What the process does now',
        responses: { 200: { description: 'The state', content: json(ProcessState) }, 401: problem('No valid token') },
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
          401: problem('No valid token'),
          404: problem('No such session'),
        },
      },
    },
    '/v1/changes': {
      get: {
        summary: 'Server-sent events: the recent changes, then each new one',
        responses: {
          200: { description: 'A stream', content: { 'text/event-stream': { schema: { type: 'string' } } } },
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
          401: problem('No valid token'),
          403: problem('Another host or page, or a token that may only view'),
          413: problem('Too large'),
          500: problem('Not recorded in the audit file, so not done'),
        },
      },
    },
  },
});
