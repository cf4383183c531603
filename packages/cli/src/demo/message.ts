import { wrap } from './paint.ts';

/** A message as Alertmanager sent it, in Slack's form and by the templates of `stack/alertmanager/`. */
export interface Message {
  /** How bad, what, who; or that it is over. Without markup, but `&`, `<` and `>` are written as Slack wants them. */
  readonly title: string;
  /** Slack's markup. */
  readonly text: string;
  /** Where to look first. */
  readonly link: string;
  /** Of the edge, such as `#D55E00`. */
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
 * @throws Error for what is none.
 */
export const parseMessage = (body: string): Message => {
  const [attachment] = (JSON.parse(body) as { readonly attachments?: readonly Attachment[] } | null)?.attachments ?? [];
  const { title, text, title_link: link, color } = attachment ?? {};
  if (typeof title !== 'string' || typeof text !== 'string') {
    throw new Error('this is no message of Alertmanager: it has no attachment with a title and a text');
  }
  return { title, text, link: typeof link === 'string' ? link : '', color: typeof color === 'string' ? color : '' };
};

/** `<https://…|Dashboard>`. */
const LINK = /<([^<>|]+)\|([^<>]+)>/g;
/** A word in bold or italics, from the start of a line or a blank to the end of one or a blank. */
const EMPHASIS = /(^|\s)([*_])(\S(?:.*?\S)?)\2(?=\s|$)/gm;

const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/**
 * Slack's markup as it reads on a terminal: links in words, and no marks.
 *
 * @example plainMarkup('*late* · <https://a.example/?x=1&amp;y=2|Dashboard>') // 'late · Dashboard https://a.example/?x=1&y=2'
 */
export const plainMarkup = (text: string): string => unescaped(text.replace(LINK, '$2 $1').replace(EMPHASIS, '$1$3'));

const INDENT = '  ';

/** A message for a terminal: the title, and beneath it the text, on lines of at most `columns` columns as far as words allow. */
export const formatMessage = ({ title, text }: Message, columns: number): string => {
  const lines = plainMarkup(text)
    .split('\n')
    .flatMap((line) => {
      const [, lead = '', rest = ''] = /^(\s*(?:• )?)(.*)$/.exec(line) ?? [];
      // A link on a line of its own, and not broken, can be clicked in most terminals.
      const [first = '', ...links] = rest.split(' · ');
      const under = INDENT + ' '.repeat(lead.length);
      return [...wrap(first, columns, INDENT + lead, under), ...links.map((link) => under + link)];
    });
  return [...wrap(unescaped(title), columns, '', INDENT), ...lines].join('\n');
};
