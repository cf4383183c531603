import { type Attributes, SpanStatusCode, trace } from '@opentelemetry/api';
import { safely } from '../safely.ts';
import { currentTracer } from './otel-binding.ts';
import { ATTR, OPERATION } from './semconv.ts';
import { endSpan, outcomeOfRun, type SessionSpan, sessionContext } from './spans.ts';

/** A run, as its span shows it. */
export interface SpannedRun {
  readonly id: string;
  readonly name: string | undefined;
  readonly parent?: SpannedRun | undefined;
  readonly used: { readonly calls: number; readonly tokens: number; readonly cost: number };
}

/** The attributes of a sub-agent: its own id, and that of the session above it. The conversation is that of the root (D7). */
export const childAttributes = ({ id, parent }: SpannedRun): Attributes =>
  parent === undefined ? {} : { [ATTR.child]: id, [ATTR.parent]: parent.id };

/** The spans of the sub-agents of a session whose own span was requested (D7). */
export class ChildSpans {
  readonly #root: SessionSpan;
  readonly #attributes: Attributes;
  /** Of those that have ended too: later decisions stay beneath them. */
  readonly #spans = new WeakMap<SpannedRun, SessionSpan>();
  readonly #open = new Set<SpannedRun>();

  constructor(root: SessionSpan, agent: string, session: string) {
    this.#root = root;
    this.#attributes = {
      [ATTR.operation]: OPERATION.session,
      [ATTR.agent]: agent,
      [ATTR.conversation]: session,
    };
  }

  /** The span of a run: its own, or that of the session. */
  of(run: SpannedRun): SessionSpan {
    return this.#spans.get(run) ?? this.#root;
  }

  /** A sub-agent begins: its span is a child of the tool call that it runs in, or of the span above it. */
  begin(run: SpannedRun): void {
    const { parent: above = run, name = run.id } = run;
    safely('the tracer', () => {
      const outer = this.of(above);
      const parent = sessionContext(outer);
      const attributes = { ...this.#attributes, ...childAttributes(run) };
      const span = currentTracer()?.startSpan(`${OPERATION.session} ${name}`, { attributes }, parent);
      if (span === undefined) return;
      this.#spans.set(run, { span, around: trace.getSpan(parent), above: outer, isOpen: true });
      this.#open.add(run);
    });
  }

  /** A sub-agent ends. `isOver`: while a limit pauses it. `isToldOver`: the caller ended it. */
  end(run: SpannedRun, isOver: boolean, isToldOver = true): void {
    if (!this.#open.delete(run)) return;
    const own = this.of(run);
    own.isOpen = false;
    const { calls, tokens, cost } = run.used;
    safely('the span', () => {
      own.span.setAttributes({
        [ATTR.calls]: calls,
        ...(tokens > 0 && { [ATTR.tokens]: tokens }),
        ...(cost > 0 && { [ATTR.cost]: cost }),
        [ATTR.sessionState]: isOver ? 'paused_limit' : 'active',
        ...outcomeOfRun(isOver, isToldOver),
      });
      if (isOver) own.span.setStatus({ code: SpanStatusCode.ERROR, message: REACHED });
    });
    endSpan(own.span);
  }

  /** The session ends, or is idle. */
  endAll(): void {
    for (const run of this.#open) this.end(run, false, false);
  }
}

const REACHED = 'The sub-agent ended while it was paused: a limit was reached.';
