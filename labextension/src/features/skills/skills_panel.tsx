/** The skills as a panel of the main area: connects the models to the components. */
import { PathExt } from '@jupyterlab/coreutils';
import type { Contents } from '@jupyterlab/services';
import { ReactWidget, folderIcon, saveIcon } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { useCallback, useEffect, useMemo } from 'react';

import { useSignals } from '../../shared/hooks';
import { IconButton } from '../../shared/icon_button';
import { PanelFrame } from '../../shared/panel_frame';
import { SkillDetailView } from './skill_detail_view';
import { SkillDraftForm } from './skill_draft_form';
import { SkillList } from './skill_list';
import { ProblemNote } from '../../shared/problem_notes';
import { UiProvider, useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import type { NotebookFront } from '../notebooks/notebook_front';
import { DRIVE_NAME } from '../workspace/onyx_drive';
import type { SkillDraft } from './skill_draft';
import type { SkillRuns } from './skill_runs';
import type { Skills } from './skills';
import { fileName } from '../../shared/short_text';

const MAX_COMPLETIONS = 50;

interface SkillsPanelProps {
  skills: Skills;
  runs: SkillRuns;
  draft: SkillDraft;
  front: NotebookFront;
  contents: Pick<Contents.IManager, 'get'>;
  ui: Ui;
  openFolder: () => void;
}

export class SkillsPanel extends ReactWidget {
  constructor(private readonly props: SkillsPanelProps) {
    super();
    this.addClass('onyx-Panel');
    this.node.dataset.onyx = 'skills-panel';
  }

  /** Files may have changed while the panel was hidden. */
  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    void this.props.skills.load();
  }

  protected override render(): JSX.Element {
    return (
      <UiProvider value={this.props.ui}>
        <Panel {...this.props} />
      </UiProvider>
    );
  }
}

function Panel(props: SkillsPanelProps): JSX.Element {
  const { skills, draft, front, ui } = props;
  const { trans } = ui;
  useSignals(skills.changed, draft.changed, front.changed, skills.client.stateChanged);
  useEffect(() => {
    void skills.open();
    return () => skills.close();
  }, [skills]);
  const { path } = front;
  const save = () => void (path !== null && draft.begin(path));
  return (
    <PanelFrame
      title={trans.__('Skills')}
      about={trans.__('What Onyx knows how to do: notebooks that run with your values, and instructions.')}
      hook="skills-frame"
      showsDetail={skills.selected !== null || draft.path !== null}
      actions={
        <>
          <button
            type="button"
            className="onyx-Button"
            data-onyx="save-notebook"
            disabled={path === null}
            title={path ?? trans.__('Open the notebook first')}
            onClick={save}
          >
            <saveIcon.react tag="span" className="onyx-Icon" />
            {trans.__('Save notebook as skill')}
          </button>
          <IconButton
            icon={folderIcon}
            label={trans.__('Show Onyx files')}
            hook="skills-folder"
            onClick={props.openFolder}
          />
        </>
      }
      notice={<ProblemNote problem={skills.problem} again={() => void skills.load()} hook="skills-problem" />}
      list={
        <SkillList
          skills={skills.skills}
          leftOut={skills.leftOut}
          selectedId={draft.path === null ? (skills.selected?.id ?? null) : null}
          select={id => {
            draft.cancel();
            skills.select(id);
          }}
        />
      }
      detail={draft.path !== null ? <DraftPart {...props} /> : <DetailPart {...props} saveNotebook={save} />}
    />
  );
}

function DetailPart(props: SkillsPanelProps & { saveNotebook: () => void }): JSX.Element {
  const { skills, runs, front, contents, saveNotebook } = props;
  useSignals(runs.changed);
  const skill = skills.selected;
  const runsOf = skill && skill.kind === 'notebook' && skill.state !== 'shadowed' ? skill.name : null;
  useEffect(() => runs.show(runsOf), [runs, runsOf]);
  // Paths begin beside the notebook in front, unless that is one of Onyx's own files.
  const place = front.path?.startsWith(`${DRIVE_NAME}:`) ? null : front.path;
  const folder = place === null ? '' : PathExt.dirname(place);
  const complete = useCallback((text: string) => namesLike(contents, folder, text), [contents, folder]);
  const trust = useCallback((hash: string) => skills.trust(hash), [skills]);
  if (!skill) {
    const notebook = front.path === null ? null : fileName(front.path);
    return <SkillsEmpty notebook={notebook} saveNotebook={saveNotebook} />;
  }
  return (
    <SkillDetailView
      key={skill.id}
      skill={skill}
      detail={skills.detail}
      problem={skills.detailProblem}
      refusal={skills.refusal}
      dismissRefusal={() => skills.dismissRefusal()}
      online={skills.client.state === 'open'}
      runs={runsOf ? runs.runs : []}
      run={runsOf ? runs.current : null}
      result={runs.result}
      runProblem={runs.problem}
      isStarting={runs.isStarting}
      folder={folder}
      complete={complete}
      trust={trust}
      start={values => void runs.start(values, place)}
      stop={runId => void runs.stop(runId)}
      openRun={runId => runs.open(runId)}
      back={() => skills.select(null)}
    />
  );
}

/** What skills are, and how to get the first one, from the notebook in front. */
function SkillsEmpty(props: { notebook: string | null; saveNotebook: () => void }): JSX.Element {
  const { notebook, saveNotebook } = props;
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

function DraftPart({ skills, draft }: SkillsPanelProps): JSX.Element {
  const made = draft.draft;
  const isTaken = useMemo(
    () => (skills.skills ?? []).some(one => one.name === made?.name && one.source === made.place),
    [skills.skills, made?.name, made?.place]
  );
  const save = async () => {
    const skill = await draft.save();
    if (skill) {
      await skills.load();
      skills.select(skill.id);
    }
  };
  return (
    <SkillDraftForm
      path={draft.path ?? ''}
      draft={made}
      hint={draft.hint}
      errors={draft.errors}
      isTaken={isTaken}
      isSaving={draft.isSaving}
      change={values => draft.change(values)}
      save={() => void save()}
      cancel={() => draft.cancel()}
    />
  );
}

/** The files and folders that could complete a path; none if there is no such folder. */
async function namesLike(
  contents: Pick<Contents.IManager, 'get'>,
  folder: string,
  text: string
): Promise<readonly string[]> {
  const typed = text.slice(0, text.lastIndexOf('/') + 1);
  if (text.startsWith('/') || text.startsWith('~')) {
    return [];
  }
  try {
    const { content } = await contents.get(PathExt.join(folder, typed), { type: 'directory' });
    return (content as Contents.IModel[])
      .map(({ name, type }) => typed + name + (type === 'directory' ? '/' : ''))
      .filter(name => name.startsWith(text))
      .slice(0, MAX_COMPLETIONS);
  } catch {
    return [];
  }
}
