/** What a user trusts: the whole text of a new skill, or the changes since it was last trusted. */
import { useEffect, useState } from 'react';

import { cautionsIn } from '../../shared/visible_characters';
import type { SkillDetail } from '../../protocol/wire';
import { Cautions } from '../approvals/cautions';
import { UnifiedDiffView } from '../../shared/diff_view';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';

interface SkillTrustProps {
  /** null while it is being read, or if it could not be. */
  detail: SkillDetail | null;
  isReading?: boolean;
  online: boolean;
  /** Trusts the version with this hash, which is the one shown. */
  trust: (hash: string) => Promise<void>;
  /** If it is to run at once: what a no does. */
  refuse?: () => Promise<void>;
}

export function SkillTrust({ detail, isReading, online, trust, refuse }: SkillTrustProps): JSX.Element {
  const { trans } = useUi();
  const [isBusy, setIsBusy] = useState(false);
  // The displayed text stays put: a newer version appears only after a click, so that no unseen text is
  // trusted.
  const [shown, setShown] = useState(detail);
  const isOther = shown?.skill.id !== detail?.skill.id;
  useEffect(() => {
    if (detail && isOther) {
      setShown(detail);
    }
  }, [detail, isOther]);
  const isOutdated = shown !== null && detail !== null && !isOther && shown.skill.hash !== detail.skill.hash;
  const answer = (given: () => Promise<void>) => {
    setIsBusy(true);
    void given().finally(() => setIsBusy(false));
  };
  return (
    <section className="onyx-Trust" data-onyx="skill-trust">
      {shown ? <Shown detail={shown} /> : isReading && <p>{trans.__('Reading…')}</p>}
      {isOutdated && (
        <div className="onyx-Note" role="alert" data-onyx="trust-outdated">
          {trans.__('It changed while you were viewing it.')}{' '}
          <button
            type="button"
            className="onyx-Link"
            data-onyx="trust-show-now"
            onClick={() => setShown(detail)}
          >
            {trans.__('Show the current version')}
          </button>
        </div>
      )}
      {shown && <Cautions cautions={cautionsIn(shown.diff ?? shown.text)} />}
      <div className="onyx-Trust-answers">
        <button
          type="button"
          className="onyx-Button onyx-mod-accept"
          data-onyx="trust"
          disabled={!detail || !shown || isOther || isOutdated || !online || isBusy}
          onClick={() => shown && answer(() => trust(shown.skill.hash))}
        >
          {refuse ? trans.__('Trust and run') : trans.__('Trust this version')}
        </button>
        {refuse && (
          <button
            type="button"
            className="onyx-Button"
            data-onyx="refuse"
            disabled={!online || isBusy}
            onClick={() => answer(refuse)}
          >
            {trans.__('Do not run')}
          </button>
        )}
      </div>
    </section>
  );
}

function Shown({ detail }: { detail: SkillDetail }): JSX.Element {
  const { trans } = useUi();
  return detail.diff != null ? (
    <>
      <p>{trans.__('It has changed since it was trusted. This is the difference:')}</p>
      <UnifiedDiffView diff={detail.diff} />
    </>
  ) : (
    <>
      <p>{trans.__('It is new here. Review it before it can run: this is all of it.')}</p>
      <pre className="onyx-Source" tabIndex={0} aria-label={trans.__('The skill')}>
        <VisibleText text={detail.text} />
      </pre>
    </>
  );
}
