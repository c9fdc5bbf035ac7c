/**
 * The project's instructions in the sidebar: the notice above the input, and the panel that always shows
 * them.
 */
import { useCallback, useEffect, useRef } from 'react';

import { useSignals } from '../../shared/hooks';
import { ProjectNotice } from './project_notice';
import { ProjectPanel } from './project_panel';
import type { ProjectInstructions } from './project_instructions';
import type { ViewState } from '../chat/view_state';
import type { SocketClient } from '../../protocol/socket_client';

interface ProjectPartProps {
  project: ProjectInstructions;
  client: SocketClient;
  view: ViewState;
}

/** Empty if everything is answered. */
export function UnansweredInstructions({ project, client, view }: ProjectPartProps): JSX.Element | null {
  useSignals(project.changed, view.changed, client.stateChanged);
  const [file] = project.waiting;
  const isAnswered = useRef(false);
  useEffect(() => {
    if (!file && isAnswered.current) {
      isAnswered.current = false;
      view.focusInput(); // the notice is gone, so move the focus
    }
  }, [file, view]);
  if (!file || view.panel === 'project') {
    return null;
  }
  const answered = async (answer: Promise<void>) => {
    isAnswered.current = true;
    await answer;
    isAnswered.current &&= project.refusal === null;
  };
  return (
    <ProjectNotice
      file={file}
      refusal={project.refusal}
      dismissRefusal={() => project.dismissRefusal()}
      online={client.state === 'open'}
      trust={shown => answered(project.trust(shown))}
      decline={shown => answered(project.decline(shown))}
    />
  );
}

export function InstructionsPanel({ project, client, view }: ProjectPartProps): JSX.Element {
  useSignals(project.changed, client.stateChanged);
  const open = useCallback(() => void project.load(), [project]);
  return (
    <ProjectPanel
      files={project.files}
      problem={project.problem}
      refusal={project.refusal}
      dismissRefusal={() => project.dismissRefusal()}
      online={client.state === 'open'}
      trust={file => project.trust(file)}
      decline={file => project.decline(file)}
      open={open}
      close={() => view.focusInput()}
    />
  );
}
