/** The names in a PromQL expression, parsed with the grammar of Prometheus' own web interface. */
import { parser } from '@prometheus-io/lezer-promql';

/** Names that an expression mentions. */
export interface PromqlNames {
  readonly metrics: ReadonlySet<string>;
  /** In matchers and in `by`, `on` and similar clauses. */
  readonly labels: ReadonlySet<string>;
}

/** A selector as the expression contains it. */
export interface PromqlSelector {
  readonly metric: string;
  /** With its braces. */
  readonly text: string;
}

/**
 * Parses an expression and collects its names.
 *
 * @throws Error if the expression has a syntax error, with its position.
 */
export function namesIn(expression: string): PromqlNames {
  const metrics = new Set<string>();
  const labels = new Set<string>();
  parser.parse(expression).iterate({
    enter: (node) => {
      if (node.type.isError) throw new Error(`PromQL syntax error at character ${node.from} of: ${expression}`);
      const text = expression.slice(node.from, node.to);
      if (node.name === 'Identifier') metrics.add(text);
      if (node.name === 'LabelName') labels.add(text);
    },
  });
  return { metrics, labels };
}

/** Every selector of an expression. */
export function selectorsIn(expression: string): PromqlSelector[] {
  const found: PromqlSelector[] = [];
  parser.parse(expression).iterate({
    enter: (node) => {
      if (node.name !== 'VectorSelector') return;
      const text = expression.slice(node.from, node.to);
      found.push({ metric: /^[\w:]+/.exec(text)?.[0] ?? '', text });
    },
  });
  return found;
}
