/** Arrow keys move through the rows of a list, and from its search field into it. */
import type { KeyboardEvent } from 'react';

/** For the element around the rows, including the search field if arrow keys lead from it into the list. */
export function moveFocus(event: KeyboardEvent<HTMLElement>, rowSelector: string): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const field = event.currentTarget.querySelector<HTMLElement>('input[type=search]');
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>(rowSelector)];
  const stops = field ? [field, ...rows] : rows;
  const at = stops.indexOf(document.activeElement as HTMLElement);
  if (step !== undefined && at >= 0) {
    event.preventDefault();
    stops[at + step]?.focus();
  }
}
