import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

interface FoldedProps {
  readonly title: string;
  /** Until the operator opens or closes it. */
  readonly isOpen: boolean;
  /** Called only while it is open: 200 sessions that are folded cost nothing. */
  children(): ComponentChildren;
}

/** A list that is only its title until it is opened. */
export const Folded = ({ title, isOpen, children }: FoldedProps) => {
  const [chosen, setChosen] = useState<boolean>();
  const shown = chosen ?? isOpen;
  return (
    <details open={shown} onToggle={({ currentTarget: { open } }) => open !== shown && setChosen(open)}>
      <summary>{title}</summary>
      {shown && children()}
    </details>
  );
};
