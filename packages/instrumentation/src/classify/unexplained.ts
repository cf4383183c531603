import { hashOfText } from '@breakerbox/core/internal';
import type { Call } from './call.ts';
import type { Verdict } from './verdict.ts';

/** The tool looked for something, and did not find it. */
const NOT_FOUND =
  /\b(?:not (?:be |been )?found|nothing|none|no (?:\w+ ){1,3}(?:found|match|available|for\b|between)|no (?:such|match|result|record|row|entr|document|data\b|item|hit)|(?:does|do|did)(?: not|n't) (?:exist|match)|(?:could(?: not|n't)|can(?:not|'t)) (?:find|locate)|(?:unable|failed) to (?:find|locate|identify)|(?:0|zero) \w|empty|missing|unknown (?!error|exception|failure|issue|problem|reason))|nicht gefunden|kein(?:e|en)? (?:ergebnis|treffer)|no (?:se )?encontr|aucun(?:e)? r[ée]sultat|introuvable|non trovat|não encontrad|не найден|見つかりません|未找到|找不到|찾을 수 없/i;
/** Something of the tool itself. */
const OWN =
  /\b(?:tool|executable|binary|interpreter|driver|browser|display|plugin|extension|configuration|environment|env var)/i;
/** What else only a broken tool speaks of: its keys, its settings, its peers, its own code. Or the text says nothing at all. */
const BROKEN =
  /^\W*$|\b(?:keys?\b|secret|credential|token|config|setting|install|module|librar|dependenc|runtime|server|backend|service|database|(?:not |dis)connected|(?:not |un)initiali[sz]ed|not (?:yet )?(?:implemented|defined|enabled|running|ready|loaded|started)|internal|exception|undefined|nonetype|cannot read propert|unknown (?:error|exception|failure|issue|problem|reason))/i;

/** The tool works, and rejects this request: a rule, a limit, a state of the object, or advice about the arguments. */
const REFUSED =
  /\b(?:(?:already|allowed|eligible|permitted|authorized for|must|only|should|(?:cannot|can't|may not) be|insufficient|enough|maximum|minimum|at (?:least|most)|(?:more|less|fewer|later|earlier) than|too|declined|rejected|denied|refused|expired|closed|completed|sold out|booked|taken|occupied|busy|locked|pending|full|(?:not |un)available|in use|duplicate|ambiguous|different|same|first|before|until|not (?:a )?part of|(?:does not|doesn't) cover|unless|invalid|incorrect|wrong|malformed|unsupported (?:type|format|value)|division by zero|syntax|forbidden|archived|conditional|not in|out of stock|(?:(?:test|suite|build|assertion)s?|compilation|type ?check|lint) failed|sign in|log ?in|unpaid|please (?:provide|specify|select|choose|enter|use|give|pick|check the))\b|exceed|limit|cancel|refund|conflict|violat|polic|match|mismatch|belong|pars[ei]|try another)/i;

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
 * O8: the digest of an error that nothing could judge; undefined for an error that speaks about the request, and for the output of a
 * user's program.
 */
export const unexplainedIn = (
  { category, judgedBy }: Pick<Verdict, 'category' | 'judgedBy'>,
  text: string,
  { kind, quoted }: Pick<Call, 'kind' | 'quoted'>,
): Verdict['unexplained'] => {
  const isJudged = judgedBy === 'evidence' || (category !== 'tool_error' && category !== 'unknown');
  if (isJudged || kind === 'runner') return undefined;
  const words = text.replaceAll('_', ' ');
  const lower = text.toLowerCase();
  const isNamed = quoted.some((value) => value.length > 3 && lower.includes(value.toLowerCase()));
  if (isNamed || REFUSED.test(words) || (NOT_FOUND.test(words) && !OWN.test(words))) return undefined;
  return { digest: hashOfText(withoutLiterals(text), SEED), ofTool: OWN.test(words) || BROKEN.test(words) };
};
