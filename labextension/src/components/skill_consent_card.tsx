/** A skill that waits below the cell that wants to run it: what it is, and a yes or a no. */
import type { SkillDetail } from '../protocol/wire';
import { SkillTrust } from './skill_trust';
import { useUi } from './ui_context';

interface SkillConsentCardProps {
  name: string;
  isAsking: boolean;
  online: boolean;
  detail: SkillDetail | null;
  problem: string | null;
  trust: (hash: string) => Promise<void>;
  refuse: () => Promise<void>;
}

export function SkillConsentCard(props: SkillConsentCardProps): JSX.Element {
  const { name, isAsking, online, detail, problem, trust, refuse } = props;
  const { trans } = useUi();
  if (!isAsking) {
    return (
      <div className="onyx-Note">
        {trans.__('The skill %1 was waiting to be trusted when the notebook was saved.', name)}
      </div>
    );
  }
  return (
    // Enter and Escape are the card's and not the notebook's.
    <div className="onyx-CellTurn" data-onyx="skill-consent" data-lm-suppress-shortcuts>
      <div className="onyx-CellSkill">
        <strong>{name}</strong> {detail?.skill.description}
      </div>
      {problem && (
        <div className="onyx-Problem" role="alert">
          {problem}
        </div>
      )}
      <SkillTrust detail={detail} online={online} trust={trust} refuse={refuse} />
    </div>
  );
}
