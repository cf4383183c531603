import { hashOfText } from '@breakerbox/core/internal';
import type { Call } from './call.ts';
import type { Verdict } from './verdict.ts';
import { ANSWERS, OUTAGES, REFUSED } from './words.ts';

/** What belongs to the tool and not to the request: its program, its peers, its settings, its account. */
const OWN =
  /\b(?:tools?|executable|interpreter|web ?driver|browser|plugin|extension|configured|configuration|environment|env var|credentials|event loop|modules?|\w+\.so|(?:not |un)installed|(?:not |un)initiali[sz]ed|not (?:yet )?(?:implemented|defined)|not (?:logged|signed) in|(?:auth|gcloud|az) login|(?:api|access|secret|auth) ?-?(?:key|token)|subscription|license|free trial|your (?:current |active )*(?:plan|account))\b|\w(?:api_key|_(?:token|secret|home))\b/i;
/** The tool looked for something, and did not find it. */
const NOT_FOUND =
  /\b(?:(?:not|never|hasn't|haven't) (?:be |been |returned )?(?:found|any)|nothing|none|(?:no|zero|0) (?:\S+ ){0,3}(?:found|results?|rows|data|available|for|between|in|on|with)\b|no (?:such\b|\w+\s*$)|(?:does|do|did)(?: not|n't) (?:exist|contain|have)|(?:could(?: not|n't)|can(?:not|'t)|unable to|failed to) (?:be )?(?:find|found|locate|identify|resolve)|missing|empty|unknown (?!error|exception|failure|issue|problem|reason))/i;

const IS_REFUSED = new RegExp(REFUSED, 'i');

/** The server has no such tool, or calls no tools at all. */
const NO_METHOD = /(?:MCP error|JSON-RPC code) -32601\b/;

/** Letters and frequent words of languages in which 'not found' and 'already paid' cannot be read. */
const FOREIGN =
  /[^\P{L}a-z]|\b(?:nicht|kein\w*|bereits|der|das|geen|niet|aucun\w*|pas|une|del|para|existe|nessun\w*|disponib\w+)\b/iu;

/** What differs from call to call: quotations, paths, addresses, numbers and ids. */
const withoutLiterals = (text: string): string =>
  text
    .toLowerCase()
    .replace(/(?<!\w)(["'`])[^"'`\n]{1,200}\1(?!\w)/g, '…')
    .replace(/\S*[/\\@]\S*/g, '…')
    .replace(/\b\w*\d\w*\b/g, '0')
    .replace(/\s+/g, ' ')
    .trim();

/** Never changes: the digests of one process are compared with each other. */
const SEED = 8;

/**
 * O8: the digest of an error that nothing could judge. Undefined if its text says that something was not found, rejects the request, names
 * a literal of the arguments without words of an outage, or is in another language, and for the output of a user's program. Words such as "not" may be about the
 * request: then the error is `ofTool` only if it names something that belongs to the tool.
 */
export const unexplainedIn = (
  { category, judgedBy, why }: Pick<Verdict, 'category' | 'judgedBy' | 'why'>,
  text: string,
  { kind, hasProgram, quoted }: Pick<Call, 'kind' | 'hasProgram' | 'quoted'>,
): Verdict['unexplained'] => {
  const isUnserved = NO_METHOD.test(`${why} ${text}`);
  const isJudged =
    (judgedBy === 'evidence' && !isUnserved) || !['tool_error', 'unknown', 'invalid_input'].includes(category);
  if (isJudged || kind === 'runner' || hasProgram || FOREIGN.test(text)) return undefined;
  const lower = text.toLowerCase();
  const rest = quoted
    .filter((value) => value.length > 3)
    .reduce((left, value) => left.replaceAll(value.toLowerCase(), '…'), lower);
  const words = rest.replaceAll('_', ' ');
  if (rest !== lower && OUTAGES.find(({ pattern }) => pattern.test(words))?.category !== 'server') return undefined;
  const isBug = ANSWERS[0]?.pattern.test(words);
  const isOwn = isBug || isUnserved || OWN.test(rest) || OWN.test(words);
  const isRefused = !isBug && !isUnserved && IS_REFUSED.test(words);
  if (!isOwn && (isRefused || NOT_FOUND.test(words))) return undefined;
  const ofTool = (isOwn || judgedBy === 'nothing') && !isRefused;
  return { digest: hashOfText(withoutLiterals(rest), SEED), ofTool };
};
