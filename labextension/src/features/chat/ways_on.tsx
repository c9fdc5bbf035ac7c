/** No model can answer: the ways on, as buttons. What they lead to says the line above them. */
import type { ReactNode } from 'react';

import { useUi } from '../../shared/ui_context';

interface WaysOnProps {
  /** Fetching a model for this machine, where there is one to fetch. */
  offer: ReactNode;
  connectModel: () => void;
  /** Absent where this page has no panel for them. */
  showSkills?: () => void;
  /** Go to the conversations, which can be searched. */
  search: () => void;
}

export function WaysOn({ offer, connectModel, showSkills, search }: WaysOnProps): JSX.Element {
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
