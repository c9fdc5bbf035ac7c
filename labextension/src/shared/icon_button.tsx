/** A quiet button with an icon and an accessible name. */
import type { LabIcon } from '@jupyterlab/ui-components';
import type { ReactNode } from 'react';

interface IconButtonProps {
  icon: LabIcon;
  label: string;
  onClick: (event: React.MouseEvent) => void;
  disabled?: boolean;
  pressed?: boolean;
  hook?: string;
  children?: ReactNode;
}

export function IconButton(props: IconButtonProps): JSX.Element {
  const { icon: Icon, label, onClick, disabled, pressed, hook, children } = props;
  return (
    <button
      type="button"
      className="onyx-IconButton"
      title={label}
      aria-label={label}
      aria-pressed={pressed}
      disabled={disabled}
      data-onyx={hook}
      onClick={onClick}
    >
      <Icon.react tag="span" className="onyx-Icon" />
      {children}
    </button>
  );
}
