/** One line below the header that says what is wrong and what to do. */
import type { ReactNode } from 'react';

interface BannerProps {
  hook: string;
  children: ReactNode;
  action?: { label: string; run: () => void };
}

export function Banner({ hook, children, action }: BannerProps): JSX.Element {
  return (
    <div className="onyx-Banner" role="status" data-onyx={hook}>
      <span>{children}</span>
      {action && (
        <button type="button" className="onyx-Link" onClick={action.run}>
          {action.label}
        </button>
      )}
    </div>
  );
}
