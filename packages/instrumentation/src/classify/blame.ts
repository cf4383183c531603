import { type Meaning, read } from '@breakerbox/core/internal';
import type { Call } from './call.ts';
import { isElsewhere, namesHost } from './error-text.ts';
import { isOutage } from './text.ts';
import type { Verdict } from './verdict.ts';

type Evidence = Pick<Meaning, 'category' | 'code' | 'host'>;

/** C14, O2: what a failure blames, by the URL, the host or the file that the call chose. */
export const blamed = (verdict: Verdict, evidence: Evidence, text: string, call: Call): Verdict => {
  const { category, why } = verdict;
  const { code, host } = evidence;
  const isFailure = isOutage(category);
  const answer = (reason: string): Verdict => ({ ...verdict, category: 'tool_error', why: reason });
  const ofKey = (what: string): Verdict => ({
    ...verdict,
    blames: call.isEmpty ? 'tool' : 'key',
    why: call.isEmpty ? why : `${why}, of the ${what} that the call chose`,
  });
  if (call.isUnserved && isFailure && category !== 'resource') return answer('a URL that is not fetched');
  const isTarget = isFailure && isAboutTarget(evidence, text, call);
  if (call.asksForHost && isTarget) return answer('whether the host can be reached was the question');
  if (call.asksForAccess && category === 'permission' && (code ?? 'class') === 'class' && CREDENTIALS.test(text))
    return answer('whether the credentials are right was the question');
  if (call.target) {
    const isPage = ['http:404', 'http:410', 'http:451'].includes(`${code}`) && !isOfService(text, call);
    if (isPage) return answer(`${why}, of the page that the call chose`);
    return isTarget ? ofKey('host') : verdict;
  }
  if (isDeniedFile(evidence, text, call)) return ofKey('file');
  if (host === undefined || !isHostOfText(evidence, text, call)) return verdict;
  // Which host it was is not known. That it does not exist is an answer.
  return { ...ofKey('host'), ...(host === 'missing' && { category: 'tool_error' }) };
};

/** Not the key of the tool's own service. */
const CREDENTIALS = /^(?!.*api.?key).*(?:token|jwt|credential|password|signature|code|authentication|login)/is;

/** The machine has no network, or the connection to the tool's own server or proxy failed. */
const OWN_NETWORK =
  /\b(?:ENETUNREACH|ENETDOWN|ERR_INTERNET|ERR_NETWORK_CHANGED|ERR_PROXY|ERR_TUNNEL|NS_ERROR_OFFLINE|NOT_CONNECTED|CONNECTION_CLOSED|SEND_FAILED)|rpc:-32000|http:407|network is unreachable|-32000: connection closed|endpoint of MCP/i;
/** Words that show what else a connection was to. */
const OTHER_PEER =
  /\b(?:databases?|redis|postgres\w*|mysql|mongo\w*|queue|broker|browser|chrom\w+|playwright|daemon|proxy|cache|pool|docker)\b/i;

const isNamed = (text: string, { target }: Call): boolean =>
  target !== undefined && text.toLowerCase().includes(target.hostname);
/** Whether a status comes from the tool's own service, which only got the URL. */
const isOfService = (text: string, call: Call): boolean => call.passesOn && !call.asksForHost && !isNamed(text, call);

/** O2: a connection, a time-out, a 429 or a 5xx of a call that chose a URL or a host is about it, unless the text names something else. */
const isAboutTarget = ({ category, code }: Evidence, text: string, call: Call): boolean => {
  const { target, opens, asksForHost } = call;
  if (OWN_NETWORK.test(`${code} ${text}`) || (target && isElsewhere(text, target))) return false;
  const named = isNamed(text, call);
  if (code?.startsWith('http:'))
    return (
      !isOfService(text, call) &&
      (['timeout', 'server', 'rate_limit'].includes(category) || named || opens || asksForHost)
    );
  const isConnection = category === 'network' || category === 'timeout';
  return isConnection && (named || !OTHER_PEER.test(text));
};

/** Whether a call without a URL in its input chose the host: it opens pages. 'connect ECONNREFUSED 127.0.0.1:9222' is about the browser itself. */
const isHostOfText = ({ host }: Evidence, text: string, { opens, context }: Call): boolean =>
  opens && (read(context, 'input') === undefined || host !== 'refused' || namesHost(text));

/** Rights to one file that the call chose. */
const isDeniedFile = ({ category, code }: Evidence, text: string, { quoted }: Call): boolean =>
  category === 'permission' &&
  !code?.startsWith('http:') &&
  quoted.some((value) => /[\\/]/.test(value) && text.includes(value));
