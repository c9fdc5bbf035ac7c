/** One line under the header about what is not as it should be, and what to do. */
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
