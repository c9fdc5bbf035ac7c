/** Why the user's last action failed, until it is dismissed or another action starts. */
import { closeIcon } from '@jupyterlab/ui-components';

import { IconButton } from './icon_button';
import { useUi } from './ui_context';

interface RefusalNoteProps {
  /** null if nothing was refused. */
  reason: string | null;
  dismiss: () => void;
  hook: string;
}

export function RefusalNote({ reason, dismiss, hook }: RefusalNoteProps): JSX.Element | null {
  const { trans } = useUi();
  return reason === null ? null : (
    <div className="onyx-Problem onyx-Refusal" role="alert" data-onyx={hook}>
      <span>{reason}</span>
      <IconButton icon={closeIcon} label={trans.__('Dismiss')} hook="refusal-dismiss" onClick={dismiss} />
    </div>
  );
}
