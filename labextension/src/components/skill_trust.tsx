/** What one trusts: the whole text of a new skill, or what changed in one that was trusted before. */
import { useState } from 'react';

import type { SkillDetail } from '../protocol/wire';
import { UnifiedDiffView } from './diff_view';
import { useUi } from './ui_context';

interface SkillTrustProps {
  detail: SkillDetail | null;
  online: boolean;
  trust: () => Promise<void>;
}

export function SkillTrust({ detail, online, trust }: SkillTrustProps): JSX.Element {
  const { trans } = useUi();
  const [isBusy, setIsBusy] = useState(false);
  const changed = detail?.diff != null;
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
      <button
        type="button"
        className="onyx-Button onyx-mod-accept"
        data-onyx="trust"
        disabled={!detail || !online || isBusy}
        onClick={() => {
          setIsBusy(true);
          void trust().finally(() => setIsBusy(false));
        }}
      >
        {trans.__('Trust this version')}
      </button>
    </section>
  );
}
