/** Minutes and seconds until a waiting request expires. */
import { useNow } from '../../shared/hooks';

export function TimeLeft({ expiresAt, title }: { expiresAt: string; title: string }): JSX.Element | null {
  const seconds = Math.max(0, Math.ceil((Date.parse(expiresAt) - useNow(1000)) / 1000));
  if (!Number.isFinite(seconds)) {
    return null;
  }
  const left = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return (
    <span className="onyx-Approval-time" title={title}>
      {left}
    </span>
  );
}
