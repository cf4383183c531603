import { safeJson } from '@breakerbox/core/internal';
import { printable } from '../plain-table.ts';
import { type Decisions, type ReplayReport, settingsOf } from './replay-report.ts';
import { replayText } from './replay-text.ts';
import type { CallMark, SessionTimeline } from './session-timelines.ts';

const WIDTH = 960;
const NAMES = 220;
const ROW = 22;
const PAGE_COLUMNS = 140;

/** The report as one HTML file: no scripts, no requests, light and dark. */
export const replayPage = (report: ReplayReport, timelines: readonly SessionTimeline[]): string => {
  const text = replayText(report, PAGE_COLUMNS);
  const sections = [
    INTRODUCTION,
    `<div class="report">${text.trimEnd().split('\n\n').map(blockOf).join('\n')}</div>`,
    ...(report.decisions
      ? [timelinesPart(timelines, report.decisions, report.config.scope === 'process'), configurationPart(report)]
      : []),
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Breakerbox replay</title>
<style>${STYLE}</style>
<h1>What Breakerbox would have decided</h1>
${sections.join('\n')}
</html>
`;
};

/** A table scrolls sideways on a phone, and prose is wrapped. */
const blockOf = (block: string): string => {
  const isTable = block.split('\n').some((line) => line.trim().split('  ').filter(Boolean).length > 2);
  return `<pre${isTable ? ' class="table"' : ''}>${escaped(block)}</pre>`;
};

const INTRODUCTION = `<p>When a tool keeps failing, Breakerbox opens its circuit: calls of the tool are rejected, and the agent is told to use something else, until a trial call (a probe) succeeds. This page shows where that would have happened in a recording. No tool was called for it.</p>
<dl>
<dt>failed</dt><dd>Calls that failed because the tool was not working. Other errors, such as wrong arguments, are ignored.</dd>
<dt>opened</dt><dd>How often the circuit would have opened. &quot;Lost good calls only&quot;: the circuit rejected calls that had succeeded, and no other.</dd>
<dt>failed calls avoided</dt><dd>Rejected calls that had failed: the benefit.</dd>
<dt>good calls lost</dt><dd>Rejected calls that had succeeded: the price. A call is rejected by its circuit, or because the session is paused.</dd>
</dl>`;

const STYLE = `
:root { color-scheme: light dark; --ok: #2e7d32; --failed: #c62828; --other: #757575; --open: #c6282833; --rule: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1200px; padding: 0 1rem; }
pre { white-space: pre-wrap; } pre.table { white-space: pre; }
pre, code { font: 13px/1.5 ui-monospace, monospace; overflow-x: auto; }
.report { border: 1px solid var(--rule); border-radius: 6px; padding: 0 1rem; }
svg { display: block; max-width: 100%; height: auto; font: 12px ui-monospace, monospace; }
svg text { fill: currentColor; }
.success { fill: var(--ok); } .failure { fill: var(--failed); } .ignored, .unknown { fill: var(--other); }
.rejected { fill: none; stroke-width: 2; } .rejected.success { stroke: var(--ok); } .rejected.failure { stroke: var(--failed); }
.rejected.ignored, .rejected.unknown { stroke: var(--other); }
.opening { fill: var(--open); } .rule { stroke: var(--rule); }
summary { cursor: pointer; }
dt { font-weight: 600; } dd { margin: 0 0 0.3rem 1.5rem; }
`;

const escaped = (text: string): string => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

const shown = (name: string, most: number): string => {
  const text = printable(name).replaceAll('\n', ' ');
  return escaped(text.length > most ? `${text.slice(0, most - 1)}…` : text);
};

const timelinesPart = (
  timelines: readonly SessionTimeline[],
  { openings, changedSessions }: Decisions,
  isShared: boolean,
): string => {
  if (timelines.length === 0) return '';
  const legend =
    'A dot is a recorded call: green succeeded, red failed, grey neither. A ring is a call that would have been rejected. A red background shows when the circuit of the tool or its group was open.';
  const parts = timelines.map((timeline, index) => timelinePart(timeline, openings, isShared, index < 5));
  const more =
    changedSessions > timelines.length ? ` The first ${timelines.length} of ${changedSessions} sessions.` : '';
  return `<h2>Sessions with rejected calls</h2>\n<p>${legend}${more}</p>\n${parts.join('\n')}`;
};

const timelinePart = (
  { session, calls, before, more }: SessionTimeline,
  openings: Decisions['openings'],
  isShared: boolean,
  isOpen: boolean,
): string => {
  const [from, to] = [calls[0]?.atMs ?? 0, calls.at(-1)?.atMs ?? 0];
  const x = (ms: number): number =>
    NAMES + ((Math.min(Math.max(ms, from), to) - from) / Math.max(1, to - from)) * (WIDTH - NAMES - 12);
  const tools = [...new Set(calls.map(({ tool }) => tool))];
  const groups = new Map(calls.map(({ tool, group }) => [tool, `group:${group}`]));
  const rows = tools.map((tool, row) => {
    const y = row * ROW + ROW;
    const bands = openings
      .filter(
        (opening) =>
          (isShared || opening.session === session) && (opening.tool === tool || opening.tool === groups.get(tool)),
      )
      .map(({ from: since, to: until }) => {
        const left = x(Date.parse(since));
        const width = Math.max(1, x(until === undefined ? to : Date.parse(until)) - left);
        return `<rect class="opening" x="${left.toFixed(1)}" y="${y - 9}" width="${width.toFixed(1)}" height="18"/>`;
      });
    const dots = calls.filter((call) => call.tool === tool).map((call) => dotOf(call, x(call.atMs), y));
    const line = `<line class="rule" x1="${NAMES}" x2="${WIDTH}" y1="${y}" y2="${y}"/>`;
    return `<text x="0" y="${y + 4}">${shown(tool, 28)}</text>${line}${bands.join('')}${dots.join('')}`;
  });
  const height = tools.length * ROW + ROW;
  const times = `${new Date(from).toISOString()} to ${new Date(to).toISOString()}${before > 0 ? `, after ${before} other calls` : ''}${more > 0 ? `, before ${more} other calls` : ''}`;
  const svg = `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="calls by tool">${rows.join('')}</svg>`;
  return `<details${isOpen ? ' open' : ''}><summary><code>${shown(session, 80)}</code> ${times}</summary>${svg}</details>`;
};

const dotOf = ({ decision, reason, outcome, atMs }: CallMark, x: number, y: number): string => {
  const isRejected = decision === 'skip' || decision === 'pause';
  const title = `${new Date(atMs).toISOString()}: ${decision} (${reason}), recorded: ${outcome}`;
  return `<circle class="${isRejected ? 'rejected ' : ''}${outcome}" cx="${x.toFixed(1)}" cy="${y}" r="4"><title>${title}</title></circle>`;
};

const configurationPart = (report: ReplayReport): string => {
  const settings = settingsOf(report);
  const title = `<h2>${report.grid?.recommended ? 'The recommended settings' : 'The replayed settings'}</h2>`;
  if (Object.keys(settings).length === 0) {
    return `${title}\n<p>The defaults were replayed, so there is nothing to change. <code>--config</code> replays other settings, and <code>--grid</code> looks for better ones.</p>`;
  }
  return `${title}\n<p>Give them to <code>createBreakerbox({ agent, ... })</code>. Settings that are left out have their defaults.</p>\n<pre>${escaped(safeJson(settings, 2))}</pre>`;
};
