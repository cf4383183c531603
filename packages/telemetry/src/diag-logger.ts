import { DiagConsoleLogger, type DiagLogger } from '@opentelemetry/api';

/** Longer texts are nobody's to read; a backend may have had a hand in them. */
const MOST_CHARACTERS = 2_000;

const hex = (control: string): string => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`;

const plain = (text: string): string => {
  const cut = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would move the cursor, or colour the log.
  return cut.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, hex);
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

/** Of an error the kind, the message and the code: what else it carries may be the answer of a backend, secrets and all. */
const described = (error: object): string => {
  const [name, message, code] = [wordOf(error, 'name'), wordOf(error, 'message'), wordOf(error, 'code')];
  const line = `${name || 'Error'}${message && `: ${message}`}${code && ` (${code})`}`;
  return plain(line).replaceAll('\n', '\\n'); // Nobody writes lines of their own into the log.
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
    return error ? described(error) : plain(value);
  }
  if (isError(value)) return described(value);
  return typeof value === 'object' || typeof value === 'function' ? `[${typeof value}]` : value;
};

/**
 * Writes what OpenTelemetry says of itself to the console, without what others have put into it: a backend that answers with
 * the headers it was asked with would put the password of `OTEL_EXPORTER_OTLP_HEADERS` into the log.
 */
export const diagLogger = (to: DiagLogger = new DiagConsoleLogger()): DiagLogger => {
  const cleaned =
    (level: keyof DiagLogger) =>
    (message: string, ...rest: unknown[]): void =>
      to[level](String(clean(message)), ...rest.map(clean));
  return {
    error: cleaned('error'),
    warn: cleaned('warn'),
    info: cleaned('info'),
    debug: cleaned('debug'),
    verbose: cleaned('verbose'),
  };
};
