/** The parts of the job form: a labelled field, and a choice. */
import type { ReactNode } from 'react';

interface FieldProps {
  /** The id of the element that the label belongs to. */
  id: string;
  label: string;
  /** Below the element. */
  help?: ReactNode;
  children: ReactNode;
}

export function Field({ id, label, help, children }: FieldProps): JSX.Element {
  return (
    <div className="onyx-Field">
      <label htmlFor={id}>{label}</label>
      <div>
        {children}
        {help}
      </div>
    </div>
  );
}

interface SelectProps<T extends string> {
  id?: string;
  hook: string;
  /** Where no label stands beside it. */
  label?: string;
  value: T;
  /** Value → name, in order. */
  options: ReadonlyArray<readonly [T, string]>;
  choose: (value: T) => void;
}

export function Select<T extends string>(props: SelectProps<T>): JSX.Element {
  const { id, hook, label, value, options, choose } = props;
  return (
    <select
      id={id}
      className="onyx-Input"
      data-onyx={hook}
      aria-label={label}
      value={value}
      onChange={event => choose(event.target.value as T)}
    >
      {options.map(([one, name]) => (
        <option key={one} value={one}>
          {name}
        </option>
      ))}
    </select>
  );
}
