/** Shown while no skill is chosen: what skills are, and how to get the first one. */
import { useUi } from '../../shared/ui_context';

interface SkillsEmptyProps {
  /** null if there is no notebook in front. */
  notebook: string | null;
  saveNotebook: () => void;
}

export function SkillsEmpty({ notebook, saveNotebook }: SkillsEmptyProps): JSX.Element {
  const { trans } = useUi();
  return (
    <div className="onyx-Panel-empty" data-onyx="skills-empty">
      <p>{trans.__('Choose a skill to see what it does and to run it.')}</p>
      <p>
        {trans.__(
          'A notebook with a parameters cell can become a skill; a folder with a SKILL.md tells Onyx how to do something.'
        )}
      </p>
      {notebook && (
        <button type="button" className="onyx-Link" onClick={saveNotebook}>
          {trans.__('Save %1 as a skill', notebook)}
        </button>
      )}
    </div>
  );
}
