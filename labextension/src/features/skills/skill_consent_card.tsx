/**
 * A skill that waits below the cell that wants to run it: what it is, and a yes or a no; then the outcome.
 */
import type { OpenQuestion, QuestionEnd } from './skill_consent';
import { SkillTrust } from './skill_trust';
import { TimeLeft } from '../approvals/time_left';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';

interface SkillConsentCardProps {
  question: OpenQuestion | null;
  end: QuestionEnd | null;
  online: boolean;
  problem: string | null;
  trust: (hash: string) => Promise<void>;
  refuse: () => Promise<void>;
}

export function SkillConsentCard(props: SkillConsentCardProps): JSX.Element {
  const { question, end, online, problem, trust, refuse } = props;
  const { trans } = useUi();
  const skill = question?.detail.skill;
  if (end) {
    return (
      <div className="onyx-CellTurn" role="status" data-onyx="skill-consent-end" data-outcome={end.outcome}>
        <div className="onyx-Note">
          <span>
            {skill && <strong>{skill.name}</strong>} {outcomeText(end, trans)}
          </span>
        </div>
      </div>
    );
  }
  return (
    // Enter and Escape belong to the card, not to the notebook.
    <div className="onyx-CellTurn" data-onyx="skill-consent" data-lm-suppress-shortcuts>
      {question && skill && (
        <div className="onyx-CellSkill">
          <span>
            <strong>{skill.name}</strong> <VisibleText text={skill.description} />
          </span>
          <TimeLeft
            expiresAt={question.expiresAt}
            title={trans.__('If you don’t answer by then, it isn’t run.')}
          />
        </div>
      )}
      {problem && (
        <div className="onyx-Problem" role="alert">
          {problem}
        </div>
      )}
      {question && <SkillTrust detail={question.detail} online={online} trust={trust} refuse={refuse} />}
      {!online && <div className="onyx-Note">{trans.__('You can answer when the connection is back.')}</div>}
      {online && !question && !problem && <div className="onyx-Note">{trans.__('Reading…')}</div>}
    </div>
  );
}

function outcomeText({ outcome, reason }: QuestionEnd, trans: Ui['trans']): string {
  switch (outcome) {
    case 'trusted':
      return trans.__('Trusted. Starting…');
    case 'declined':
      return trans.__('Not trusted, so it was not run.');
    case 'expired':
      return trans.__('No one answered in time, so it was not run.');
    case 'unusable':
      return trans.__('It cannot be run. %1', reason ?? '');
    case 'gone':
      return trans.__('This question is no longer open. Run the cell again to be asked again.');
  }
}
