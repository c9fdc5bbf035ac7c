/** The alternatives when no model can answer, as buttons. The line above them explains where they lead. */
import type { ReactNode } from 'react';

import { useUi } from '../../shared/ui_context';

interface NextStepsProps {
  /** Downloads a model for this machine, if there is one. */
  offer: ReactNode;
  connectModel: () => void;
  /** Absent if this page has no panel for them. */
  showSkills?: () => void;
  /** Opens the conversations, which can be searched. */
  search: () => void;
}

export function NextSteps({ offer, connectModel, showSkills, search }: NextStepsProps): JSX.Element {
  const { trans } = useUi();
  const link = (hook: string, label: string, go: () => void) => (
    <button type="button" className="onyx-Link" data-onyx={hook} onClick={go}>
      {label}
    </button>
  );
  return (
    <div className="onyx-Offer" data-onyx="ways-on">
      {offer}
      <div className="onyx-Offer-actions">
        {link('connect-model', trans.__('Connect a model'), connectModel)}
        {showSkills && link('show-skills', trans.__('Skills'), showSkills)}
        {link('search-sessions', trans.__('Search'), search)}
      </div>
    </div>
  );
}
