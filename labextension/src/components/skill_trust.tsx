/** What one trusts: the whole text of a new skill, or what changed in one that was trusted before. */
import { useState } from 'react';

import type { SkillDetail } from '../protocol/wire';
import { UnifiedDiffView } from './diff_view';
import { useUi } from './ui_context';

interface SkillTrustProps {
  detail: SkillDetail | null;
  online: boolean;
  trust: () => Promise<void>;
  /** Where it is to run at once: what a no does. */
  refuse?: () => Promise<void>;
}

export function SkillTrust({ detail, online, trust, refuse }: SkillTrustProps): JSX.Element {
  const { trans } = useUi();
  const [isBusy, setIsBusy] = useState(false);
  const changed = detail?.diff != null;
  const answer = (given: () => Promise<void>) => {
    setIsBusy(true);
    void given().finally(() => setIsBusy(false));
  };
  return (
    <section className="onyx-Trust" data-onyx="skill-trust">
      <p>
        {changed
          ? trans.__('It has changed since it was trusted. This is the difference:')
          : trans.__('It is new here. Look at what it does before it may run: this is all of it.')}
      </p>
      {detail &&
        (changed ? (
          <UnifiedDiffView diff={detail.diff ?? ''} />
        ) : (
          <pre className="onyx-Source">{detail.text}</pre>
        ))}
      <div className="onyx-Trust-answers">
        <button
          type="button"
          className="onyx-Button onyx-mod-accept"
          data-onyx="trust"
          disabled={!detail || !online || isBusy}
          onClick={() => answer(trust)}
        >
          {refuse ? trans.__('Trust and run') : trans.__('Trust this version')}
        </button>
        {refuse && (
          <button
            type="button"
            className="onyx-Button"
            data-onyx="refuse"
            disabled={isBusy}
            onClick={() => answer(refuse)}
          >
            {trans.__('Do not run')}
          </button>
        )}
      </div>
    </section>
  );
}
