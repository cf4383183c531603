import { wrap } from '../../cli/src/plain-table.ts';

/** A message as Alertmanager sent it, in Slack's format, from the templates of `stack/alertmanager/`. */
export interface Message {
  /** How bad it is, what it is and which agent; or that it is over. Without markup, but `&`, `<` and `>` are escaped for Slack. */
  readonly title: string;
  /** Slack's markup. */
  readonly text: string;
  /** The link to look at first. */
  readonly link: string;
  /** The colour of the message's edge, such as `#D55E00`. */
  readonly color: string;
}

interface Attachment {
  readonly title?: unknown;
  readonly text?: unknown;
  readonly title_link?: unknown;
  readonly color?: unknown;
}

/**
 * The message in the body of a request to a Slack webhook.
 *
 * @throws Error if the body is not a message.
 */
export const parseMessage = (body: string): Message => {
  const [attachment] = (JSON.parse(body) as { readonly attachments?: readonly Attachment[] } | null)?.attachments ?? [];
  const { title, text, title_link: link, color } = attachment ?? {};
  if (typeof title !== 'string' || typeof text !== 'string') {
    throw new Error('this is not a message of Alertmanager. It needs an attachment with a title and a text');
  }
  return { title, text, link: typeof link === 'string' ? link : '', color: typeof color === 'string' ? color : '' };
};

/** `<https://…|Dashboard>`. */
const LINK = /<([^<>|]+)\|([^<>]+)>/g;
/** A word in bold or italics, between spaces or the ends of a line. */
const EMPHASIS = /(^|\s)([*_])(\S(?:.*?\S)?)\2(?=\s|$)/gm;

const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/**
 * Slack's markup as plain text for a terminal: links in words, and no marks.
 *
 * @example plainMarkup('*late* · <https://a.example/?x=1&amp;y=2|Dashboard>') // 'late · Dashboard https://a.example/?x=1&y=2'
 */
export const plainMarkup = (text: string): string => unescaped(text.replace(LINK, '$2 $1').replace(EMPHASIS, '$1$3'));

const INDENT = '  ';

/** A message for a terminal: the title, and below it the text, on lines of at most `columns` columns if the words fit. */
export const formatMessage = ({ title, text }: Message, columns: number): string => {
  const lines = plainMarkup(text)
    .split('\n')
    .flatMap((line) => {
      const [, lead = '', rest = ''] = /^(\s*(?:• )?)(.*)$/.exec(line) ?? [];
      // Most terminals can open a link that has a line of its own and is not broken.
      const [first = '', ...links] = rest.split(' · ');
      const under = INDENT + ' '.repeat(lead.length);
      return [...wrap(first, columns, INDENT + lead, under), ...links.map((link) => under + link)];
    });
  return [...wrap(unescaped(title), columns, '', INDENT), ...lines].join('\n');
};
