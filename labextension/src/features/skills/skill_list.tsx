/** All skills by place, with what prevents their use; arrow keys move through the list. */
import { useState } from 'react';

import type { SkillInfo } from '../../protocol/wire';
import { Finder } from '../../shared/finder';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';

interface SkillListProps {
  /** null while they are being read. */
  skills: readonly SkillInfo[] | null;
  leftOut: number;
  selectedId: string | null;
  select: (id: string) => void;
}

export function SkillList({ skills, leftOut, selectedId, select }: SkillListProps): JSX.Element {
  const { trans } = useUi();
  const [query, setQuery] = useState('');
  const found = (skills ?? []).filter(skill => matches(skill, query));
  const groups = [...new Set(found.map(skill => skill.source))];
  return (
    <Finder hook="skill-search" label={trans.__('Search skills')} query={query} search={setQuery}>
      <div className="onyx-Rows" data-onyx="skill-list">
        {groups.map(source => (
          <section key={source} aria-label={sourceName(source, trans)}>
            <h3>{sourceName(source, trans)}</h3>
            {found
              .filter(skill => skill.source === source)
              .map(skill => (
                <SkillRow key={skill.id} skill={skill} isSelected={skill.id === selectedId} select={select} />
              ))}
          </section>
        ))}
      </div>
      <div className="onyx-Note" role="status">
        {skills === null && trans.__('Reading…')}
        {skills?.length === 0 && trans.__('There are no skills yet.')}
        {skills !== null && skills.length > 0 && found.length === 0 && trans.__('Nothing found.')}
        {leftOut > 0 && trans._n('%1 more is not listed.', '%1 more are not listed.', leftOut)}
      </div>
    </Finder>
  );
}

function SkillRow(props: {
  skill: SkillInfo;
  isSelected: boolean;
  select: (id: string) => void;
}): JSX.Element {
  const { skill, isSelected, select } = props;
  const { trans } = useUi();
  const state = stateName(skill, trans);
  return (
    <button
      type="button"
      className="onyx-Row"
      data-onyx="skill"
      data-skill={skill.name}
      data-state={skill.state}
      aria-current={isSelected}
      title={skill.reason ?? undefined}
      onClick={() => select(skill.id)}
    >
      <span className="onyx-Row-name">{skill.name}</span>
      {state && <span className="onyx-Row-state">{state}</span>}
      <span className="onyx-Row-about">{skill.description || skill.reason}</span>
    </button>
  );
}

export function sourceName(source: SkillInfo['source'], trans: Ui['trans']): string {
  const names: Record<SkillInfo['source'], string> = {
    project: trans.__('This project'),
    workspace: trans.__('The agent’s workspace'),
    home: trans.__('All agents'),
    packaged: trans.__('Comes with Onyx')
  };
  return names[source];
}

/** What prevents its use, in a word or two; empty if nothing does. */
function stateName(skill: SkillInfo, trans: Ui['trans']): string {
  switch (skill.state) {
    case 'untrusted':
      return skill.changed ? trans.__('changed') : trans.__('not trusted');
    case 'missing':
      return trans.__('needs something');
    case 'broken':
      return trans.__('broken');
    case 'shadowed':
      return trans.__('hidden');
    default:
      return '';
  }
}

function matches(skill: SkillInfo, query: string): boolean {
  const text = `${skill.name} ${skill.description}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every(word => text.includes(word));
}
