/** A search field above a list; arrow keys lead from one row to the next, and from the field into the list. */
import type { InputHTMLAttributes, ReactNode } from 'react';

import { moveFocus } from './move_focus';

interface FinderProps extends Pick<InputHTMLAttributes<HTMLInputElement>, 'onBlur' | 'onKeyDown'> {
  hook: string;
  /** What the field searches in. */
  label: string;
  query: string;
  search: (query: string) => void;
  /** Which elements are rows. */
  rows?: string;
  children: ReactNode;
}

export function Finder(props: FinderProps): JSX.Element {
  const { hook, label, query, search, rows = '.onyx-Row', children, ...field } = props;
  return (
    <div className="onyx-Finder" onKeyDown={event => moveFocus(event, rows)}>
      <input
        type="search"
        className="onyx-Input"
        data-onyx={hook}
        placeholder={label}
        aria-label={label}
        value={query}
        onChange={event => search(event.target.value)}
        {...field}
      />
      {children}
    </div>
  );
}
