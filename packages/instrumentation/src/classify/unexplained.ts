import { hashOfText } from '@breakerbox/core/internal';
import type { Call } from './call.ts';
import type { Verdict } from './verdict.ts';

/** The tool looked for something, and did not find it. */
const NOT_FOUND =
  /\b(?:not (?:be |been )?found|no (?:\w+ ){1,3}(?:found|available|for\b|between)|no (?:such|data\b)|(?:does|do|did)(?: not|n't) exist|(?:could(?: not|n't)|can(?:not|'t)|unable to|failed to) (?:find|locate)|missing)/i;
/** Something of the tool itself. */
const OWN =
  /\b(?:tool|executable|interpreter|webdriver|browser|plugin|extension|configuration|environment|env var)|(?:api|access|secret)_key|\w_(?:token|secret|home)\b/i;
/** What else only a broken tool speaks of: its keys, its settings, its peers, its own code. Or the text says nothing at all. */
const BROKEN =
  /^[^\p{L}\p{N}]*$|\b(?:(?:api|access|secret|auth|license|subscription) (?:key|token)|credentials|config|(?:not |un)installed|dependenc|backend|(?:not |un)initiali[sz]ed|not (?:yet )?(?:implemented|defined)|not (?:logged|signed) in|auth login|please (?:log|sign) ?in\b|undefined|nonetype|cannot read propert|is not a function|unknown (?:error|exception|failure|issue|problem|reason))/iu;
/** All words of a text that gives no reason, such as 'An error occurred while executing the request'. */
const NO_REASON =
  /^(?:an?|the|it|to|of|in|with|is|was|has|been|your|this|while|during|occurred|happened|please|try|again|later|something|went|wrong|error|exception|fail(?:ed|ure)?|unhandled|unexpected|internal|execut\w+|call(?:ing)?|request\w*|operation|process\w*|search\w*|query\w*|fetch\w*|null|object)$/i;

/** The tool works, and rejects this request: a rule, a limit, or a state of the object. */
const REFUSED =
  /\b(?:already|allowed|permitted|must|only|should|(?:cannot|can't|may not) be|insufficient|enough|maximum|minimum|at (?:least|most)|too|denied|refused|expired|closed|busy|locked|pending|full|(?:not |un)available|in use|duplicate|different|first|before|until|unless|invalid|incorrect|wrong|malformed|unsupported|not supported|forbidden|archived|not in|sold out)\b|exceed|limit|conflict|violat|polic|match|belong/i;

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
 * O8: the digest of an error that nothing could judge, if its text is about the tool, or gives no reason. Undefined for all others, those
 * in other languages included, for what was refused or not found, and for the output of a user's program.
 */
export const unexplainedIn = (
  { category, judgedBy }: Pick<Verdict, 'category' | 'judgedBy'>,
  text: string,
  { kind, quoted }: Pick<Call, 'kind' | 'quoted'>,
): Verdict['unexplained'] => {
  const isJudged = judgedBy === 'evidence' || (category !== 'tool_error' && category !== 'unknown');
  if (isJudged || kind === 'runner') return undefined;
  const words = text.replaceAll('_', ' ');
  const isOwn = OWN.test(text) || OWN.test(words);
  const ofTool = isOwn || BROKEN.test(words);
  if (!ofTool && !words.match(/[\p{L}\p{N}]+/gu)?.every((word) => NO_REASON.test(word))) return undefined;
  const lower = text.toLowerCase();
  const isNamed = quoted.some((value) => value.length > 3 && lower.includes(value.toLowerCase()));
  if (isNamed || (ofTool && REFUSED.test(words)) || (NOT_FOUND.test(words) && !isOwn)) return undefined;
  return { digest: hashOfText(withoutLiterals(text), SEED), ofTool };
};
