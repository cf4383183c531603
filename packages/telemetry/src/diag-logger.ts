import { STATUS_CODES } from 'node:http';
import { DiagConsoleLogger, type DiagLogger } from '@opentelemetry/api';
import { withoutSecrets } from './known-secrets.ts';

/** Longer texts are too long to read in a log, and a backend may have written them. */
const MOST_CHARACTERS = 2_000;

/** Characters that would begin a new line in the log, move the cursor, change colours or reverse the text direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression has to match control characters.
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (control: string): string => {
  const code = control.charCodeAt(0).toString(16);
  if (control === '\n') return '\\n';
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
};

/** Messages of a failed export that the exporter writes itself. All other messages may come from the backend. */
const NOT_OF_BACKEND = new Set([
  ...Object.values(STATUS_CODES),
  'Export failed with retryable status',
  'Export failed with unknown error',
]);

/** The backend writes the reason after an HTTP status and the details after a gRPC status, up to the end of the text. */
const STATUS = /(OTLPExporterError|Error: (?:[-+.e\d]+|NaN|Infinity) (?:[A-Z_]+|undefined)): (.*)$/s;

const withoutBackend = (text: string): string =>
  text.replace(STATUS, (all, status: string, words: string) =>
    NOT_OF_BACKEND.has(words.replace(/\)$/, '')) ? all : `${status}…`,
  );

/** After this message only the backend's text follows, although the backend has accepted the export. */
const PARTIAL = 'Received Partial Success response';

/** The text on one line, so that it cannot add lines to the log. */
const plain = (text: string): string => {
  const own = withoutSecrets(text); // Before the text is cut: half a secret would not be recognized.
  const cut = own.length > MOST_CHARACTERS ? `${own.slice(0, MOST_CHARACTERS)}…` : own;
  return cut.replaceAll(CONTROLS, escaped);
};

/** The property if it is a string or a number. A getter may throw, and an object may have no string form. */
const wordOf = (error: object, name: 'name' | 'message' | 'code'): string => {
  try {
    const word: unknown = Reflect.get(error, name);
    return typeof word === 'string' || typeof word === 'number' ? String(word) : '';
  } catch {
    return '';
  }
};

/** `instanceof` throws for some proxies. */
const isError = (value: unknown): value is Error => {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
};

/**
 * The name, the message and the code of an error, and nothing else: other properties may hold the answer of a backend with
 * secrets in it. The backend's words are taken out of the message too.
 */
const described = (error: object): string => {
  const [name, message, code] = [wordOf(error, 'name'), wordOf(error, 'message'), wordOf(error, 'code')];
  const line = `${withoutBackend(`${name || 'Error'}${message && `: ${message}`}`)}${code && ` (${code})`}`;
  return plain(line);
};

/** The error inside a JSON text. OpenTelemetry's global error handler logs errors as JSON with all their properties. */
const errorIn = (text: string): object | undefined => {
  if (!text.startsWith('{')) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && 'stack' in parsed ? parsed : undefined;
  } catch {
    return undefined;
  }
};

const clean = (value: unknown): unknown => {
  if (typeof value === 'string') {
    const error = errorIn(value);
    return error ? described(error) : plain(withoutBackend(value));
  }
  if (isError(value)) return described(value);
  return typeof value === 'object' || typeof value === 'function' ? `[${typeof value}]` : value;
};

const cleanAll = (words: readonly unknown[]): unknown[] => {
  const partial = words.findIndex((word) => typeof word === 'string' && word.startsWith(PARTIAL));
  return (partial < 0 ? words : [...words.slice(0, partial), PARTIAL]).map(clean);
};

/**
 * A logger that writes OpenTelemetry's own messages to the console, without text from others. A backend that repeats the
 * request headers would otherwise put the password of `OTEL_EXPORTER_OTLP_HEADERS` into the log. Known secrets become `***`
 * in every message, such as a complaint about a header.
 */
export const diagLogger = (to: DiagLogger = new DiagConsoleLogger()): DiagLogger => {
  const cleaned =
    (level: keyof DiagLogger) =>
    (...words: unknown[]): void => {
      const [message, ...rest] = cleanAll(words);
      to[level](String(message), ...rest);
    };
  return {
    error: cleaned('error'),
    warn: cleaned('warn'),
    info: cleaned('info'),
    debug: cleaned('debug'),
    verbose: cleaned('verbose'),
  };
};
