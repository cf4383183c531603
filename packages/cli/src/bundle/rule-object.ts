import { metadataIssues, type OperatorMetadata } from '@breakerbox/alerts';
import type { ConfigIssue } from '@breakerbox/core';

/** The metadata of the `PrometheusRule`, or what is wrong with it. */
export interface ReadMetadata {
  readonly ruleObject: OperatorMetadata;
  readonly issues: readonly ConfigIssue[];
}

/** Reads `--namespace` and each `--rule-label name=value`. */
export const readMetadata = (namespace: string | undefined, written: readonly string[]): ReadMetadata => {
  const pairs = written.map((text) => /^([^=]*)=(.*)$/s.exec(text) ?? [text]);
  const labels = Object.fromEntries(
    pairs.flatMap(([, name, value]) =>
      name === undefined || value === undefined ? [] : [[name.trim(), value.trim()]],
    ),
  );
  const ruleObject = {
    ...(namespace !== undefined && { namespace }),
    ...(Object.keys(labels).length > 0 && { labels }),
  };
  const withoutValue = pairs
    .filter((pair) => pair.length === 1)
    .map(([text = '']) => ({
      path: `--rule-label ${text}`,
      message: 'has no =. Write a name and a value, as in --rule-label release=monitoring',
    }));
  const rejected = metadataIssues(ruleObject).map(({ path, message }) => ({
    path: path === 'namespace' ? '--namespace' : `--rule-label ${path.replace('labels.', '')}`,
    message: message.replace(/\.$/, ''),
  }));
  return { ruleObject, issues: [...withoutValue, ...rejected] };
};
