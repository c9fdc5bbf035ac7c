/** The menu that `@` opens above the input: what can be attached, in sections. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { useEffect, useRef } from 'react';

import type { MentionOption, MentionSection } from './mentions';
import { useUi } from '../../shared/ui_context';
import type { Mentions } from './use_mentions';

interface MentionMenuProps {
  id: string;
  mentions: Mentions;
}

export function MentionMenu({ id, mentions }: MentionMenuProps): JSX.Element {
  const { trans } = useUi();
  const { groups, active, query, isSearching } = mentions;
  return (
    <div
      id={id}
      className="onyx-Mentions"
      data-onyx="mention-menu"
      role="listbox"
      aria-label={trans.__('Attach')}
      // The input keeps the focus and the caret.
      onMouseDown={event => event.preventDefault()}
    >
      {groups.map(group => (
        <div key={group.section} role="group" aria-labelledby={`${id}-${group.section}`}>
          <div id={`${id}-${group.section}`} className="onyx-Mentions-section">
            {sectionName(group.section, trans)}
            {group.hidden > 0 && (
              <span className="onyx-Mentions-more">
                {trans.__('%1 more: type to find them', group.hidden)}
              </span>
            )}
          </div>
          {group.options.map(option => (
            <Option
              key={`${option.name} ${option.detail ?? ''}`}
              id={optionId(id, option)}
              option={option}
              isActive={option === active}
              enter={() => mentions.setActive(option)}
              choose={() => mentions.choose(option)}
            />
          ))}
        </div>
      ))}
      {groups.length === 0 && (
        <div className="onyx-Mentions-none">
          {isSearching ? trans.__('Looking…') : trans.__('Nothing here is called “%1”', query)}
        </div>
      )}
    </div>
  );
}

/** The id of an option's element, used to mark the active one. */
export function optionId(id: string, option: MentionOption): string {
  return `${id}-${option.section}-${option.name}-${option.detail ?? ''}`.replace(/[^\w-]+/g, '_');
}

interface OptionProps {
  id: string;
  option: MentionOption;
  isActive: boolean;
  enter: () => void;
  choose: () => void;
}

function Option({ id, option, isActive, enter, choose }: OptionProps): JSX.Element {
  const node = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isActive) {
      node.current?.scrollIntoView?.({ block: 'nearest' });
    }
  }, [isActive]);
  return (
    <div
      ref={node}
      id={id}
      className="onyx-Mentions-option"
      data-onyx="mention"
      data-section={option.section}
      role="option"
      aria-selected={isActive}
      title={option.detail ? `${option.name} · ${option.detail}` : option.name}
      onMouseMove={enter}
      onClick={choose}
    >
      <span className={option.isCode ? 'onyx-Mentions-name onyx-mod-code' : 'onyx-Mentions-name'}>
        {option.name}
      </span>
      {option.detail && <span className="onyx-Mentions-detail">{option.detail}</span>}
    </div>
  );
}

function sectionName(section: MentionSection, trans: TranslationBundle): string {
  switch (section) {
    case 'selection':
      return trans.__('Selection');
    case 'error':
      return trans.__('Last error');
    case 'cells':
      return trans.__('Cells');
    case 'variables':
      return trans.__('Variables');
    case 'files':
      return trans.__('Files');
    case 'notebooks':
      return trans.__('Open notebooks');
  }
}
