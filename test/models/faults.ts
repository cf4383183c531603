import {
  type Behaviour,
  cutGzip,
  hangs,
  JSON_TYPE,
  type ProviderCall,
  refuses,
  resets,
  SSE,
  sends,
} from './loopback-provider.ts';
import { EVENTS, errorBody, errorEvent, failedResponse, HEAD, PIECES, WHOLE, type WireFormat } from './recordings.ts';

/** A way in which a provider fails. */
export interface Fault {
  readonly name: string;
  /** Formats that have it. Default: all. */
  readonly only?: readonly WireFormat[];
  /** Whether it is about calls without a stream, with one, or both. Default: both. */
  readonly of?: 'stream' | 'whole';
  /** `next`: another model answers. `error`: the caller has an error, because something was visible, or because of the request. */
  readonly ends: 'next' | 'error';
  /** The model is silent until a limit stops the call. */
  readonly isSilent?: boolean;
  /** Whether the circuit of the model counts it. Default true. */
  readonly counts?: boolean;
  readonly behaviour: Behaviour;
}

const byFormat =
  (make: (format: WireFormat) => Behaviour): Behaviour =>
  (call: ProviderCall) =>
    make(call.format)(call);

const status = (code: number, types: Record<WireFormat, string>, text = 'No.', headers?: Record<string, string>) =>
  byFormat((format) => refuses(code, errorBody(format, code, types[format], text), headers));

const same = (type: string): Record<WireFormat, string> => ({
  chat: type,
  responses: type,
  messages: type,
  gemini: type,
});
const types = (openai: string, anthropic: string, google: string): Record<WireFormat, string> => ({
  chat: openai,
  responses: openai,
  messages: anthropic,
  gemini: google,
});

/** The events before the first visible one, and the first visible ones. */
const head = (format: WireFormat): string => EVENTS[format].slice(0, HEAD[format]).join('');
const some = (format: WireFormat): string => EVENTS[format].slice(0, HEAD[format] + 2).join('');
/** Everything but the last events, which say that the answer is complete. */
const unfinished = (format: WireFormat): string => EVENTS[format].slice(0, HEAD[format] + PIECES.length - 1).join('');

const stream = (
  name: string,
  ends: Fault['ends'],
  make: (format: WireFormat) => Behaviour,
  more: Partial<Fault> = {},
): Fault => ({ name, of: 'stream', ends, behaviour: byFormat(make), ...more });

const OPENAI: readonly WireFormat[] = ['chat', 'responses'];

const STATUSES: readonly Fault[] = [
  { name: '500', ends: 'next', behaviour: status(500, types('server_error', 'api_error', 'INTERNAL')) },
  { name: '502', ends: 'next', behaviour: status(502, same('bad_gateway')) },
  {
    name: '502, a page',
    ends: 'next',
    behaviour: refuses(502, '<html><h1>Bad Gateway</h1></html>', { 'content-type': 'text/html' }),
  },
  { name: '503', ends: 'next', behaviour: status(503, types('service_unavailable', 'api_error', 'UNAVAILABLE')) },
  { name: '503, empty', ends: 'next', behaviour: refuses(503, '') },
  { name: '503, garbage', ends: 'next', behaviour: refuses(503, '\u0000\u0001{{{') },
  { name: '504', ends: 'next', behaviour: status(504, types('timeout', 'timeout_error', 'DEADLINE_EXCEEDED')) },
  { name: '520 of a proxy', ends: 'next', behaviour: refuses(520, 'error code: 520') },
  { name: '529', ends: 'next', behaviour: status(529, same('overloaded_error'), 'Overloaded') },
  { name: '408', ends: 'next', behaviour: status(408, same('timeout')) },
  {
    name: '429',
    ends: 'next',
    behaviour: status(429, types('rate_limit_exceeded', 'rate_limit_error', 'RESOURCE_EXHAUSTED')),
  },
  {
    name: '429 with Retry-After',
    ends: 'next',
    behaviour: status(429, same('rate_limit_error'), 'Slow down', { 'retry-after': '30' }),
  },
  { name: '429 insufficient_quota', only: OPENAI, ends: 'next', behaviour: status(429, same('insufficient_quota')) },
  { name: '402', ends: 'next', behaviour: status(402, same('billing_error'), 'Insufficient credits') },
  {
    name: '400, credit balance',
    only: ['messages'],
    ends: 'next',
    behaviour: status(400, same('invalid_request_error'), 'Your credit balance is too low to access the API.'),
  },
  {
    name: '401',
    ends: 'next',
    behaviour: status(401, types('invalid_api_key', 'authentication_error', 'UNAUTHENTICATED')),
  },
  {
    name: '400 API_KEY_INVALID',
    only: ['gemini'],
    ends: 'next',
    behaviour: refuses(
      400,
      errorBody('gemini', 400, 'INVALID_ARGUMENT', 'API key not valid.', [{ reason: 'API_KEY_INVALID' }]),
    ),
  },
  { name: '403', ends: 'next', behaviour: status(403, types('forbidden', 'permission_error', 'PERMISSION_DENIED')) },
  {
    name: '404, no such model',
    ends: 'next',
    behaviour: status(404, types('model_not_found', 'not_found_error', 'NOT_FOUND'), 'model: primary'),
  },
  { name: '410', ends: 'next', behaviour: refuses(410, 'This model was retired.') },
  {
    name: '400',
    ends: 'error',
    counts: false,
    behaviour: status(
      400,
      types('invalid_value', 'invalid_request_error', 'INVALID_ARGUMENT'),
      'temperature: too high',
    ),
  },
  { name: '413', ends: 'error', counts: false, behaviour: status(413, same('request_too_large'), 'Request too large') },
  {
    name: 'prompt too long',
    ends: 'error',
    counts: false,
    behaviour: status(
      400,
      types('context_length_exceeded', 'invalid_request_error', 'INVALID_ARGUMENT'),
      'prompt is too long: 300000 tokens',
    ),
  },
  {
    name: 'content filter',
    only: OPENAI,
    ends: 'error',
    counts: false,
    behaviour: status(400, same('content_filter'), 'Filtered.'),
  },
  { name: '422', ends: 'error', counts: false, behaviour: status(422, same('unprocessable'), 'No.') },
];

const CONNECTIONS: readonly Fault[] = [
  { name: 'reset before headers', ends: 'next', behaviour: resets },
  { name: 'no answer at all', isSilent: true, ends: 'next', behaviour: hangs },
  { name: 'no body', ends: 'next', behaviour: refuses(200, '') },
  {
    name: 'a page with 200',
    ends: 'next',
    behaviour: refuses(200, '<html>Login</html>', { 'content-type': 'text/html' }),
  },
  {
    name: 'JSON cut short',
    of: 'whole',
    ends: 'next',
    behaviour: byFormat((format) => refuses(200, JSON.stringify(WHOLE[format]).slice(0, 60))),
  },
  { name: 'JSON of another shape', of: 'whole', ends: 'next', behaviour: refuses(200, { hello: 'world' }) },
  { name: 'JSON that is a list', of: 'whole', ends: 'next', behaviour: refuses(200, []) },
  {
    name: 'an error with 200',
    of: 'whole',
    ends: 'next',
    behaviour: byFormat((format) => refuses(200, errorBody(format, 503, 'server_error', 'Broken'))),
  },
  { name: 'garbage', of: 'whole', ends: 'next', behaviour: refuses(200, '\u0000\u0001\u0002') },
  {
    name: 'body reset',
    of: 'whole',
    ends: 'next',
    behaviour: byFormat((format) => sends(JSON.stringify(WHOLE[format]).slice(0, 40), 'reset', JSON_TYPE)),
  },
  {
    name: 'body hangs',
    of: 'whole',
    isSilent: true,
    ends: 'next',
    behaviour: byFormat((format) => sends(JSON.stringify(WHOLE[format]).slice(0, 40), 'hang', JSON_TYPE)),
  },
];

const BEFORE: readonly Fault[] = [
  stream('headers, then reset', 'next', () => sends(': hi\n\n', 'reset')),
  stream('headers, then end', 'next', () => sends(': hi\n\n', 'end')),
  stream('headers, then silence', 'next', () => sends(': hi\n\n', 'hang'), { isSilent: true }),
  stream('head, then reset', 'next', (format) => sends(head(format) || ': hi\n\n', 'reset')),
  stream('head, then end', 'next', (format) => sends(head(format) || ': hi\n\n', 'end')),
  stream('head, then silence', 'next', (format) => sends(head(format) || ': hi\n\n', 'hang'), { isSilent: true }),
  stream('head, then error event', 'next', (format) =>
    sends(head(format) + errorEvent(format, 'overloaded_error', 'Overloaded'), 'end'),
  ),
  stream('head, then garbage', 'next', (format) => sends(`${head(format)}data: {"nonsense\n\n`, 'end')),
  stream('garbage', 'next', () => sends('data: \u0000\u0001\n\n', 'end')),
  stream('compressed, cut short', 'next', (format) => cutGzip(head(format) || ': hi\n\n')),
  stream('compressed header, plain body', 'next', (format) =>
    sends(EVENTS[format].join(''), 'end', { ...SSE, 'content-encoding': 'gzip' }),
  ),
  stream('response.failed', 'next', (format) => sends(head(format) + failedResponse('server_error'), 'end'), {
    only: ['responses'],
  }),
  stream('half of the first event', 'next', (format) => sends((EVENTS[format][0] as string).slice(0, 20), 'end')),
];

const AFTER: readonly Fault[] = [
  stream('visible, then reset', 'error', (format) => sends(some(format), 'reset')),
  stream('visible, then end', 'error', (format) => sends(some(format), 'end')),
  stream('visible, then compressed bytes are missing', 'error', (format) => cutGzip(some(format))),
  stream('visible, then silence', 'error', (format) => sends(some(format), 'hang'), { isSilent: true }),
  stream('visible, then error event', 'error', (format) =>
    sends(some(format) + errorEvent(format, 'overloaded_error', 'Overloaded'), 'end'),
  ),
  stream('visible, then garbage', 'error', (format) => sends(`${some(format)}data: {"nonsense\n\n`, 'end')),
  stream(
    'visible, then response.failed',
    'error',
    (format) => sends(some(format) + failedResponse('server_error'), 'end'),
    { only: ['responses'] },
  ),
  stream('all but the end', 'error', (format) => sends(unfinished(format), 'end')),
  stream('all but the end, reset', 'error', (format) => sends(unfinished(format), 'reset')),
];

/** All ways, for a format. */
export const faultsOf = (format: WireFormat): readonly Fault[] =>
  [...STATUSES, ...CONNECTIONS, ...BEFORE, ...AFTER].filter(({ only }) => only === undefined || only.includes(format));
