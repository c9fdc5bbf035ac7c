/** A notice above the input: the folder has unanswered instructions for Onyx, which are not used so far. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { useId, useState } from 'react';

import type { ProjectFile } from '../../protocol/wire';
import { DeclineButton, ShownText, TrustButton, useShownFile } from './project_answer';
import type { ProjectAnswers } from './project_answer';
import { RefusalNote } from '../../shared/problem_notes';
import { useUi } from '../../shared/ui_context';

interface ProjectNoticeProps extends ProjectAnswers {
  file: ProjectFile;
  /** Why the last answer was refused. */
  refusal: string | null;
  dismissRefusal: () => void;
}

export function ProjectNotice(props: ProjectNoticeProps): JSX.Element {
  const { file, online, trust, decline } = props;
  const { trans } = useUi();
  const [isOpen, setIsOpen] = useState(false);
  const bodyId = useId();
  const shown = useShownFile(file, isOpen);
  return (
    <section
      className="onyx-Project onyx-mod-notice"
      data-onyx="project-notice"
      data-state={file.state}
      aria-label={trans.__('Project instructions')}
    >
      <p role="status">{sentence(file, trans)}</p>
      <div id={bodyId} className="onyx-Project-body" hidden={!isOpen}>
        {isOpen && <ShownText shown={shown} />}
      </div>
      <RefusalNote reason={props.refusal} dismiss={props.dismissRefusal} hook="project-refusal" />
      <div className="onyx-Project-answers">
        <button
          type="button"
          className="onyx-Button"
          data-onyx="project-show"
          aria-expanded={isOpen}
          aria-controls={bodyId}
          onClick={() => setIsOpen(!isOpen)}
        >
          {isOpen ? trans.__('Hide') : trans.__('Show')}
        </button>
        <TrustButton shown={shown} online={online} given={trust} isSeen={isOpen} />
        <DeclineButton shown={shown} online={online} given={decline} label={trans.__('Don’t use')} />
      </div>
    </section>
  );
}

function sentence({ state, path, lines }: ProjectFile, trans: TranslationBundle): string {
  return state === 'changed'
    ? trans._n(
        'This folder’s instructions for Onyx have changed (%2, %1 line). They are not used until you trust them again.',
        'This folder’s instructions for Onyx have changed (%2, %1 lines). They are not used until you trust them again.',
        lines,
        path
      )
    : trans._n(
        'This folder has instructions for Onyx (%2, %1 line). They are not used until you trust them.',
        'This folder has instructions for Onyx (%2, %1 lines). They are not used until you trust them.',
        lines,
        path
      );
}
