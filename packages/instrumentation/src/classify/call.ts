import type { ClassifyContext } from '@breakerbox/core';
import { isObject, read, readKeys, readText, TEXT_LIMIT } from '@breakerbox/core/internal';
import { textOf } from './error-text.ts';
import { kindOf, spaced, type ToolKind } from './kind.ts';
import { isOutageWord } from './words.ts';

/** Context of a call, beside its error or result. */
export interface ReadContext extends ClassifyContext {
  /** The name of the tool. */
  readonly tool?: string;
  /** What kind of tool it is; `false`: none of them. Default: by its name and its input. */
  readonly kind?: ToolKind | false | undefined;
  /** The arguments of the call. */
  readonly input?: unknown;
  /** The error is from a recording: a text which says that a guard skipped the call is believed (R3). Default `false`. */
  readonly recorded?: boolean;
}

/** The strings in the arguments of a call: 3 levels deep, at most 32 keys of each object and 32 strings. */
const stringsIn = (input: unknown, depth = 3, found: string[] = []): readonly string[] => {
  if (typeof input === 'number' && String(input).length > 3) found.push(String(input));
  if (typeof input === 'string' && input.length > 2 && input.length < TEXT_LIMIT) found.push(input);
  const keys = isObject(input) && depth > 0 ? readKeys(input).slice(0, 32) : [];
  for (const key of keys) if (found.length < 32) stringsIn(read(input, key), depth - 1, found);
  return found;
};

/** The URL that a call chose, or the host as a URL; undefined if its input names none. */
export const targetIn = (input: unknown, values = stringsIn(input)): URL | undefined => {
  for (const text of values) if (WEB.test(text) && URL.canParse(text)) return new URL(text);
  for (const key of [...URL_KEYS, ...HOST_KEYS]) {
    const given = readText(input, key, TEXT_LIMIT) ?? '';
    const host = URL_KEYS.includes(key) ? (/^[^/?#]*/.exec(given)?.[0] ?? '') : given;
    if (host.length < 255 && HOST.test(host) && URL.canParse(`tcp://${given}`)) return new URL(`tcp://${given}`);
  }
  return undefined;
};
/** Browsers and many tools add a scheme to a URL without one. */
const URL_KEYS = ['url', 'uri', 'website'];
const HOST_KEYS = ['host', 'hostname', 'domain', 'server', 'ip'];
const WEB = /^(?:https?|wss?):\/\//i;
const HOST = /^(?:(?:[\w-]+\.)+[a-z\d-]{1,63}|localhost)(?::\d{1,5})?$/i;

/** Keys and names of tools that only pass a URL on, or look a domain up in an index. */
const PASSED_ON = /web[_ ]?hook|call[_ ]?back|redirect|bookmark|shorten|subscri/i;

/** The keys of a check whose question is whether a host can be reached. Other tools have further keys. */
const CHECKED =
  /^(?:host|hostname|domain|ip|address|url|target|ports?|count|timeout(?:_?ms)?|protocol|record_?type|type)$/i;
const HOST_KEY = /host|domain|ip|address/i;
const CHECKS =
  /\b(?:ping|dns|nslookup|dig|whois|trace ?route|reachab\w+|uptime|health ?check|(?:check|scan|test|probe|open) (?:\w+ )?ports?|ports? (?:check|scan)\w*|(?:check|test|probe|monitor|is) (?:the )?(?:(?:host|url|site|website|domain|link|endpoint|certificate)s?|connect\w+|ssl|up|online)|resolve (?:host|domain|name)\w*)\b/;
/** Names of checks, where a host is all that is given. */
const PROBES =
  /^(?:ssl|tls|cert\w*)\b|\b(?:check\w*|test|scan\w*|status|probe|monitor|verify|connect|get (?:ssl|tls|cert\w*))\b/;
const asksForHost = (name: string, keys: readonly string[]): boolean =>
  CHECKS.test(name) ||
  (keys.every((key) => CHECKED.test(key)) &&
    (PROBES.test(name) || keys.length > 1) &&
    keys.some((key) => HOST_KEY.test(key) || (key === 'url' && PROBES.test(name))));

/** Tools that return content of a file or a message, which may be an error message. */
const FILES =
  /^(?:\w+_)?(?:path|file|file_?name|text|(?:message|mail|email|comment|review|note|post|thread|document)_?id)$|^(?:file|source|full)Path$/i;
const READ_BY_NAME =
  /\b(?:(?:(?:error|exception|log|mail|email|message|review|comment|note|post)s?|inbox|read|cat|grep|tail)\b|translat|transcri|summari)/;
/** Tools whose result is how something else is, such as a host, a build or a terminal: their answer may be the line of a library. */
const REPORT_BY_NAME =
  /\b(?:http|uptime|health|monitor\w*|outages?|incidents?|alerts?|diagnos\w*|check\w*|probe|ping|trace|debug|why|explain|describe|fail\w*|jobs?|builds?|pods?|containers?|deploy\w*|pipelines?|workflows?|outputs?|console|terminal|last|responses?|codes?|answers?|(?:site|page|host|server|service|endpoint|api|device|network|connection|system) stat(?:us|e)|status (?:page|code|text))\b/;
/** Tools that handle code, and do not run it. The result is code, a link to it, or words about it. */
const CODE_BY_NAME =
  /^(?:format(?:ter)?|prettier|prettify|beautify|minify|lint(?:er)?|refactor)$|\b(?:gist|snippet|paste ?bin)s?\b|\b(?:format|prettify|beautify|minify|lint|explain|review|analy[sz]e|document|refactor|generate|write|save|share|publish|upload|search|highlight|get|read|convert) (?:\w+ )?(?:code|source|script|program)s?\b/;
/** A search or a statement. The answers are rows, and never an object that says that it is an error. */
const ASKS = /^(?:\w+_)?(?:query|sql|q|topic)$/i;

/** URLs that a fetch tool or a browser can open. Any tool may have a URL of a database, but no tool fetches `file:`. */
const isUnserved = (value: string, opens: boolean): boolean =>
  /^file:(?=\/\/|\w)\S*$/i.test(value) || (opens && !WEB.test(value) && /^[a-z][a-z\d+.-]{1,15}:\/\/\S*$/i.test(value));

/** A program begins with a known command, or has the syntax of one: options, paths, operators, calls, assignments, ends of statements. */
const PROGRAM =
  /^\s*(?:\S*\/)?(?:python[\d.]*|node|deno|bun|ruby|perl|php|javac?|(?:ba|z|fi)?sh|pwsh|p?npm|npx|yarn|pip3?|uvx?|pytest|vitest|tsc|git|docker|kubectl|helm|terraform|ansible[\w-]*|aws|gcloud|cargo|gcc|cmake|mvn|dotnet|psql|mysql|sqlite3|ls|pwd|cd|echo|env|e?grep|sed|awk|jq|tar|curl|wget|ssh|scp|rsync|systemctl|mkdir|chmod|rm|cp|mv|sudo|apt(?:-get)?|(?:cat|find|head|tail)(?=\s+\S*[./]))(?:\s|$)|^\s*\S+\s+--?[a-z]|(?:^|\s)(?:\.{1,2}|~)\/[\w.]|&&|\|\||\s\|\s|\$[({A-Za-z]|\b[a-z_][\w.]*\((?!e?s\))|=>|\w\s*=\s*["'\w[{(]|[;{}]\s*$|^\s*(?:import [\w.]+(?:\s*$| as )|from [\w.]+ import\s|class \w+[:(])/m;
const SQL = /^\s*(?:select|insert|update|delete|create|alter|drop|explain)\b/i;
/** Tools that run commands, by their name. */
const SHELL = /\b(?:shell|bash|terminal|console|ssh|exec(?:ute)?|(?:start|run|spawn|create) process)\b/;
const STORE = /\b(?:redis|valkey|mongo\w*)\b/;
/** What a runner says of the program that it ran. Other tools say it of a server or a process. */
const EXIT =
  /(?:^|["'<([{,]|^[\w :-]{0,40}\b(?:command|script|program)\b.{0,200} |^process )\s*(?:exit(?:ed)?(?: with)?(?: a)?(?: non-?zero)?[ _]?(?:code|status)|return_?code)\b/im;
/** Tools that run the program in their input, by their name. Others may check, render or deploy it. */
const RUNS = /\b(?:run\w{0,4}|exec\w*|eval\w*|interpret\w*|repl|sandbox|python)\b/;
/** What a program prints: several lines, the class of an error, or the name of a command. A service says one line. */
const PRINTED = /\n\s*\S|^\w[\w.]*(?:Error|Exception)\b|^(?!error:)[a-z][\w.-]*: /;
const hasExit = (said: unknown, program: string): boolean =>
  read(said, 'cmd') === program || // Of `child_process`.
  ['exitCode', 'exit_code', 'returncode'].some((key) => typeof read(said, key) === 'number') ||
  EXIT.test(textOf(said));
/**
 * Whether the input holds a program, and whether the tool has run it. Words in `command` may be said to an assistant, and `code`, `script`
 * and `source` may be data. So the name, the exit code or the output has to show that it ran.
 */
const programIn = (input: unknown, name: string, said: unknown): 'run' | 'data' | undefined => {
  const found = ['command', 'cmd', 'script', 'code', 'source'].map((key, at) => {
    const value = read(input, key);
    const text = Array.isArray(value) ? value.slice(0, 16).join(' ') : value;
    if (typeof text !== 'string' || SQL.test(text)) return undefined;
    const start = text.slice(0, TEXT_LIMIT);
    const isProgram = PROGRAM.test(start);
    const hasRun = () => SHELL.test(name) || hasExit(said, text);
    if (at < 2) return isProgram || (/\S/.test(start) && !STORE.test(name) && hasRun()) ? 'run' : undefined;
    return isProgram ? (RUNS.test(name) || hasRun() || PRINTED.test(textOf(said)) ? 'run' : 'data') : undefined;
  });
  return found.includes('run') ? 'run' : found.find(Boolean);
};

/** Whether credentials are right is the question. */
const ACCESS =
  /\b(?:log ?in|sign ?in|authenticate|(?:verify|validate|check|try|test) (?:\w+ ){0,2}(?:otp|token|jwt|signature|pass\w+|pin|code|credential|session|login|user|identity))/;

/** Words of the arguments by which a text speaks about them: of 4 characters or more, not of an outage, and not the tool's name. */
const literalsOf = (values: readonly string[], name: string): readonly string[] => {
  const words = values.flatMap((value) => {
    const parts = value.split(/[\s,;]+/, 7);
    return [value, ...(parts.length > 6 ? [] : parts.filter((part) => /[A-Z]|.[\d@/_-]/.test(part)))];
  });
  return words.filter((word) => {
    const lower = word.toLowerCase();
    return word.length > 3 && word.length < 256 && !name.split(' ').includes(lower) && !isOutageWord(lower);
  });
};

/** Whether a text says what the tool does, as in 'Error searching libraries' of `search_libraries`: then the tool speaks, not its content. */
export const isOfTool = (text: string, { name }: Call): boolean => {
  const stems = name.split(' ').map((word) => word.replace(/(?:ies|es|s|e|y)$/, ''));
  return stems.length > 1 && stems.every((stem) => stem.length > 2 && text.toLowerCase().includes(stem));
};

/** A text without the thing in a tool's name: 'The service is not available' of `book_service` is about what the call asked for. */
export const withoutThing = (text: string, { name }: Call): string =>
  ASKED.test(name) ? text.replace(THING, (thing) => (name.includes(` ${thing.toLowerCase()}`) ? '…' : thing)) : text;
const ASKED =
  /^(?:get|find|list|show|view|watch|track|book|order|reserve|buy|rent|hire|cancel|create|add|update|edit|delete|remove|revoke|share|post|close|join|leave|pause|resume|assign) /;
const THING =
  /(?<=^|[.:;] |\b(?:the|this|that|no|your) )(?:(?:service|model)(?!s? (?:(?:is|currently|temporarily) )*(?:unavailable|overloaded))|store|pool|channel|stream|link|tunnel|grant|token|engine|broker)(?=s?\b)/gi;

/** What the classifier knows about a call. */
export type Call = ReturnType<typeof callOf>;

/** @param said The error or the result, which may show what kind of tool it is. */
export const callOf = (context: ReadContext | undefined, said?: unknown) => {
  const tool = readText(context, 'tool', 200) ?? '';
  const input = read(context, 'input');
  const given = read(context, 'kind') as ToolKind | false | undefined;
  const name = spaced(tool);
  const handlesCode = CODE_BY_NAME.test(name);
  const program = handlesCode ? undefined : programIn(input, name, said);
  const kind = (given ?? kindOf(tool) ?? (program === 'run' ? 'runner' : undefined)) || undefined;
  const opens = kind === 'fetch' || kind === 'browser';
  const values = stringsIn(input);
  const target = targetIn(input, values);
  const keys = readKeys(input);
  const isData = program === 'data' && kind === undefined;
  const readsFile = handlesCode || isData || READ_BY_NAME.test(name) || keys.some((key) => FILES.test(key));
  return {
    context,
    kind,
    /** Its input holds a program. */
    hasProgram: program !== undefined,
    /** It has no arguments, so it chose no host and no file. */
    isEmpty: isObject(input) && keys.length === 0,
    /** It opens the page of its URL. */
    opens,
    /** The strings in its arguments, and the parts of its URL, which an error may quote. */
    quoted: target ? [...values, target.pathname, target.pathname.slice(1)] : values,
    /** Asked of few errors. */
    get literals() {
      return literalsOf(values, name);
    },
    target,
    /** Its URL is for another program to open: a status is the answer of the tool's own service. */
    passesOn: !opens && (PASSED_ON.test(name) || keys.some((key) => PASSED_ON.test(key) || /link|domain/i.test(key))),
    /** Its URL cannot be fetched: that is the fault of the argument. */
    isUnserved: values.some((value) => isUnserved(value, opens)),
    /** Whether a host can be reached is the question. */
    asksForHost: asksForHost(name, keys),
    asksForAccess: ACCESS.test(name),
    /** Its list of errors is what it found. */
    finds: /\b(?:validat|verif|lint|(?:error|exception|problem|alert|log)s?\b)/.test(name),
    /** Its result is the content of a file or a table. */
    reads: readsFile || keys.some((key) => ASKS.test(key)),
    /** Its result is how something else is: whether a host can be reached, or how a job ended. */
    reports: asksForHost(name, keys) || REPORT_BY_NAME.test(name),
    /** The content may have any form, as that of a file. */
    readsFile,
    /** The tool's name in words. */
    name,
  };
};
