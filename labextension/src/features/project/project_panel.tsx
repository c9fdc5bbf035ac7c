/** The panel of the project's instructions: what they say, what was answered, and a way to change that. */
import { closeIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import { useEffect, useRef } from 'react';

import type { ProjectFile } from '../../protocol/wire';
import { IconButton } from '../../shared/icon_button';
import { DeclineButton, ShownText, TrustButton, useShownFile } from './project_answer';
import type { ProjectAnswers } from './project_answer';
import { ProblemNote, RefusalNote } from '../../shared/problem_notes';
import { useUi } from '../../shared/ui_context';

interface ProjectPanelProps extends ProjectAnswers {
  /** null while they are being read. */
  files: readonly ProjectFile[] | null;
  /** Why they could not be read. */
  problem: string | null;
  refusal: string | null;
  dismissRefusal: () => void;
  open: () => void;
  close: () => void;
}

export function ProjectPanel(props: ProjectPanelProps): JSX.Element {
  const { files, problem, online, open, close } = props;
  const { trans } = useUi();
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    panel.current?.focus();
    open();
  }, [open]);
  // The focused button may disappear; keep the focus in the panel.
  const keepingFocus = (given: ProjectAnswers['trust']) => async (file: ProjectFile) => {
    panel.current?.focus();
    await given(file);
  };
  return (
    <section
      ref={panel}
      className="onyx-Connect"
      data-onyx="project-panel"
      aria-label={trans.__('Project instructions')}
      tabIndex={-1}
      onKeyDown={event => event.key === 'Escape' && close()}
    >
      <header>
        <h3>{trans.__('Project instructions')}</h3>
        <IconButton icon={closeIcon} label={trans.__('Close')} hook="project-close" onClick={close} />
      </header>
      <ProblemNote problem={problem} again={open} hook="project-problem" />
      {files?.length === 0 && (
        <p className="onyx-Grants-lead" data-onyx="project-empty">
          {trans.__('None. An AGENTS.md in the top folder guides Onyx once you trust it.')}
        </p>
      )}
      {files?.map(file => (
        <FilePart
          key={file.path}
          file={file}
          online={online}
          trust={keepingFocus(props.trust)}
          decline={keepingFocus(props.decline)}
        />
      ))}
      <RefusalNote reason={props.refusal} dismiss={props.dismissRefusal} hook="project-refusal" />
      <div className="onyx-Note" role="status">
        {!online && trans.__('You can answer when the connection is back.')}
        {online && !files && !problem && trans.__('Reading…')}
      </div>
    </section>
  );
}

function FilePart({ file, online, trust, decline }: ProjectAnswers & { file: ProjectFile }): JSX.Element {
  const { trans } = useUi();
  const shown = useShownFile(file, file.state !== 'unusable');
  const { state } = file;
  const isUsed = state === 'trusted';
  return (
    <div className="onyx-Project" data-onyx="project-file" data-state={state}>
      <p role="status">{standing(file, trans)}</p>
      {state !== 'unusable' && (
        <>
          <ShownText shown={shown} />
          <div className="onyx-Project-answers">
            {!isUsed && <TrustButton shown={shown} online={online} given={trust} isSeen />}
            {state !== 'declined' && (
              <DeclineButton
                shown={shown}
                online={online}
                given={decline}
                label={isUsed ? trans.__('Stop using it') : trans.__('Don’t use')}
              />
            )}
          </div>
        </>
      )}
    </div>
  );
}

function standing({ state, path, reason }: ProjectFile, trans: TranslationBundle): string {
  switch (state) {
    case 'trusted':
      return trans.__('You trust %1 as it is. It guides Onyx in this folder from its next answer on.', path);
    case 'declined':
      return trans.__('%1 isn’t used, as you chose. Onyx asks again only if it changes.', path);
    case 'changed':
      return trans.__('%1 has changed since you trusted it. It is not used until you trust it again.', path);
    case 'unusable':
      return trans.__('%1 cannot be used. %2', path, reason ?? '');
    case 'new':
      return trans.__('%1 is not used until you trust it. This is all of it.', path);
  }
}
