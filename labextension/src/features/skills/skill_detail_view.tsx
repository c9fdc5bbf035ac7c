/** One skill: what it is and needs, trust, its form, the open run, earlier runs, and its text. */
import { useState } from 'react';

import { formOf } from './form_values';
import type { FilledForm } from './form_values';
import type { SkillDetail, SkillInfo, SkillResult, SkillRunInfo } from '../../protocol/wire';
import { AnswerText } from '../chat/answer_text';
import { RefusalNote } from '../../shared/problem_notes';
import { SkillForm } from './skill_form';
import type { CompletePath } from './skill_form';
import { sourceName } from './skill_list';
import { SkillHistory, SkillRunView } from './skill_run_view';
import { SkillTrust } from './skill_trust';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';

interface SkillDetailViewProps {
  skill: SkillInfo;
  detail: SkillDetail | null;
  /** Why its text could not be read. */
  problem: string | null;
  /** Why it was not trusted. */
  refusal: string | null;
  dismissRefusal: () => void;
  online: boolean;
  runs: readonly SkillRunInfo[];
  run: SkillRunInfo | null;
  result: SkillResult | null;
  runProblem: string | null;
  isStarting: boolean;
  /** The folder in which it would run; empty for the server's root. */
  folder: string;
  complete: CompletePath;
  trust: (hash: string) => Promise<void>;
  start: (values: Record<string, unknown>) => void;
  stop: (runId: string) => void;
  openRun: (runId: string) => void;
  back: () => void;
}

export function SkillDetailView(props: SkillDetailViewProps): JSX.Element {
  const { skill, detail, problem, online, runs, run, result, runProblem, isStarting, folder } = props;
  const { trans } = useUi();
  const [filled, setFilled] = useState<FilledForm | null>(null);
  const fields = skill.parameters?.fields ?? [];
  const isUsable = skill.state === 'ready' || skill.state === 'untrusted';
  const isRunning = isStarting || run?.status === 'running';
  const openRun = (one: SkillRunInfo) => {
    setFilled(formOf(fields, one.parameters));
    props.openRun(one.runId);
  };
  return (
    <>
      <Head skill={skill} back={props.back} />
      {problem && (
        <div className="onyx-Problem" role="alert">
          {problem}
        </div>
      )}
      <RefusalNote reason={props.refusal} dismiss={props.dismissRefusal} hook="skill-refusal" />
      {!isUsable && (
        <div className="onyx-Problem" data-onyx="skill-reason">
          {skill.reason}
        </div>
      )}
      {skill.state === 'untrusted' && (
        <SkillTrust
          key={skill.id}
          detail={detail?.skill.hash === skill.hash ? detail : null}
          isReading={!problem}
          online={online}
          trust={props.trust}
        />
      )}
      {skill.kind === 'notebook' && isUsable && skill.parameters && (
        <>
          {skill.parameters.freeForm && <p className="onyx-Note">{skill.parameters.freeForm}</p>}
          <SkillForm
            fields={fields}
            filled={filled}
            place={
              folder
                ? trans.__('Paths are relative to %1.', folder)
                : trans.__('Paths are relative to the file browser’s top folder.')
            }
            blocked={blockedBecause(skill, online, trans)}
            isRunning={isRunning}
            complete={props.complete}
            run={props.start}
            stop={() => run && props.stop(run.runId)}
          />
        </>
      )}
      {runProblem && (
        <div className="onyx-Problem" role="alert" data-onyx="skill-run-problem">
          {runProblem}
        </div>
      )}
      {run && <SkillRunView run={run} result={result} />}
      {runs.length > 1 && <SkillHistory runs={runs} currentId={run?.runId ?? null} open={openRun} />}
      <Texts skill={skill} detail={detail} />
    </>
  );
}

function Head({ skill, back }: { skill: SkillInfo; back: () => void }): JSX.Element {
  const { trans, openFile } = useUi();
  const { path, kind, requires } = skill;
  const needs = [...requires.bins, ...requires.env, ...requires.python];
  return (
    <header className="onyx-Detail-head">
      <button type="button" className="onyx-Link onyx-Detail-back" data-onyx="skill-back" onClick={back}>
        {trans.__('← All skills')}
      </button>
      <h3>{skill.name}</h3>
      {skill.description && <p>{skill.description}</p>}
      <div className="onyx-Detail-facts">
        <span>{kindName(kind, trans)}</span>
        <span title={skill.location}>{sourceName(skill.source, trans)}</span>
        {needs.length > 0 && <span>{trans.__('needs %1', needs.join(', '))}</span>}
        {path && openFile && (
          <button type="button" className="onyx-Link" data-onyx="open-skill" onClick={() => openFile(path)}>
            {kind === 'notebook'
              ? trans.__('Open the notebook')
              : kind === 'tool'
                ? trans.__('Open the file')
                : trans.__('Open SKILL.md')}
          </button>
        )}
      </div>
    </header>
  );
}

function kindName(kind: SkillInfo['kind'], trans: Ui['trans']): string {
  switch (kind) {
    case 'notebook':
      return trans.__('Notebook');
    case 'text':
      return trans.__('Instructions');
    case 'tool':
      return trans.__('Tools for agents');
  }
}

/**
 * A text skill is its instructions; for a notebook, the instructions and cells are there for those who want
 * to know.
 */
function Texts({ skill, detail }: { skill: SkillInfo; detail: SkillDetail | null }): JSX.Element | null {
  const { trans } = useUi();
  if (!detail || skill.state === 'untrusted') {
    return null;
  }
  const { instructions, text } = detail;
  const isText = skill.kind === 'text';
  return (
    <div className="onyx-Detail-texts">
      {instructions && (
        <details open={isText}>
          <summary>{trans.__('Instructions')}</summary>
          <AnswerText text={instructions} complete />
        </details>
      )}
      {!isText && text && (
        <details>
          <summary>{trans.__('What runs')}</summary>
          <pre className="onyx-Source">{text}</pre>
        </details>
      )}
      {(skill.files ?? []).length > 0 && (
        <p className="onyx-Note">{trans.__('Further files: %1', (skill.files ?? []).join(', '))}</p>
      )}
    </div>
  );
}

function blockedBecause(skill: SkillInfo, online: boolean, trans: Ui['trans']): string {
  if (!online) {
    return trans.__('You can run it when the connection is back.');
  }
  return skill.state === 'untrusted' ? trans.__('Trust it first.') : '';
}
