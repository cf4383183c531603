import { STATUS_CODES } from 'node:http';
import { DiagConsoleLogger, type DiagLogger } from '@opentelemetry/api';
import { withoutSecrets } from './known-secrets.ts';

/** Longer texts are nobody's to read; a backend may have had a hand in them. */
const MOST_CHARACTERS = 2_000;

/** They would begin lines of somebody else's, move the cursor, colour the log or turn it round. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about.
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (control: string): string => {
  const code = control.charCodeAt(0).toString(16);
  if (control === '\n') return '\\n';
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
};

/** What a failed export is called by when the words are not the backend's. */
const NOT_OF_BACKEND = new Set([
  ...Object.values(STATUS_CODES),
  'Export failed with retryable status',
  'Export failed with unknown error',
]);

/** The reason behind an HTTP status and the details behind a gRPC status are the backend's words, to the end of the text. */
const STATUS = /(OTLPExporterError|Error: (?:[-+.e\d]+|NaN|Infinity) (?:[A-Z_]+|undefined)): (.*)$/s;

const withoutBackend = (text: string): string =>
  text.replace(STATUS, (all, status: string, words: string) =>
    NOT_OF_BACKEND.has(words.replace(/\)$/, '')) ? all : `${status}…`,
  );

/** Behind this one stand the backend's words alone, though it has taken the export. */
const PARTIAL = 'Received Partial Success response';

/** On one line: nobody writes lines of their own into the log. */
const plain = (text: string): string => {
  const own = withoutSecrets(text); // Before it is cut: of half a secret nobody knows that it is one.
  const cut = own.length > MOST_CHARACTERS ? `${own.slice(0, MOST_CHARACTERS)}…` : own;
  return cut.replaceAll(CONTROLS, escaped);
};

/** Texts and numbers alone: a getter may throw, and an object may refuse to become a text. */
const wordOf = (error: object, name: 'name' | 'message' | 'code'): string => {
  try {
    const word: unknown = Reflect.get(error, name);
    return typeof word === 'string' || typeof word === 'number' ? String(word) : '';
  } catch {
    return '';
  }
};

/** A proxy may throw at being asked. */
const isError = (value: unknown): value is Error => {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
};

/**
 * Of an error the kind, the message and the code: what else it carries may be the answer of a backend, secrets and all. And
 * of the message, what the backend had no hand in.
 */
const described = (error: object): string => {
  const [name, message, code] = [wordOf(error, 'name'), wordOf(error, 'message'), wordOf(error, 'code')];
  const line = `${withoutBackend(`${name || 'Error'}${message && `: ${message}`}`)}${code && ` (${code})`}`;
  return plain(line);
};

/** OpenTelemetry's global error handler tells errors as JSON, with all that they carry. */
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
 * Writes what OpenTelemetry says of itself to the console, without what others have put into it: a backend that answers with
 * the headers it was asked with would put the password of `OTEL_EXPORTER_OTLP_HEADERS` into the log. Nor does that password
 * come in by another way, such as a complaint about a header: what was learned as a secret becomes stars.
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
