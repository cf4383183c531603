import { renderMarkdown } from '@grafana/data';
import { RenderUserContentAsHTML } from '@grafana/ui';
import type { JSX } from 'react';
import { optionsOf, type VizProps } from './kinds.ts';

/** Text: Markdown as Grafana renders it. */
export const TextView = ({ panel }: VizProps): JSX.Element => {
  const { content = '', mode = 'markdown' } = optionsOf<{ content: string; mode: string }>(panel);
  return mode === 'markdown' ? (
    <RenderUserContentAsHTML className="markdown-html" content={renderMarkdown(content)} />
  ) : (
    <pre>{content}</pre>
  );
};
