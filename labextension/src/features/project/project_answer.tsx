/** What a project's instructions say, and the user's answer: trusting them covers exactly the text shown. */
import { useCallback, useEffect, useState } from 'react';

import type { ProjectFile } from '../../protocol/wire';
import { UnifiedDiffView } from '../../shared/diff_view';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';

export interface ProjectAnswers {
  online: boolean;
  trust: (file: ProjectFile) => Promise<void>;
  decline: (file: ProjectFile) => Promise<void>;
}

/** The displayed text stays put: a newer version replaces it only after a click or an answer. */
export interface Shown {
  file: ProjectFile;
  isOutdated: boolean;
  isBusy: boolean;
  showCurrent: () => void;
  answer: (given: (file: ProjectFile) => Promise<void>) => Promise<void>;
}

export function useShownFile(file: ProjectFile, isOpen: boolean): Shown {
  const [kept, setKept] = useState<ProjectFile | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  useEffect(() => {
    if (isOpen !== (kept !== null)) {
      setKept(isOpen ? file : null);
    }
  }, [isOpen, kept, file]);
  const isOutdated = isOpen && kept !== null && kept.digest !== file.digest;
  const shown = isOutdated ? kept : file;
  const answer = useCallback(
    async (given: (file: ProjectFile) => Promise<void>) => {
      setIsBusy(true);
      try {
        await given(shown);
      } finally {
        setKept(null);
        setIsBusy(false);
      }
    },
    [shown]
  );
  return { file: shown, isOutdated, isBusy, showCurrent: () => setKept(file), answer };
}

/** The text, and a note if the file has changed meanwhile. */
export function ShownText({ shown }: { shown: Shown }): JSX.Element {
  const { trans } = useUi();
  return (
    <>
      <ProjectText key={shown.file.digest} file={shown.file} />
      {shown.isOutdated && (
        <div className="onyx-Note" role="alert" data-onyx="project-outdated">
          {trans.__('It changed while you were viewing it.')}{' '}
          <button
            type="button"
            className="onyx-Link"
            data-onyx="project-show-now"
            onClick={shown.showCurrent}
          >
            {trans.__('Show the current version')}
          </button>
        </div>
      )}
    </>
  );
}

interface AnswerProps {
  shown: Shown;
  online: boolean;
  given: (file: ProjectFile) => Promise<void>;
}

/** `isSeen`: the text is in view. */
export function TrustButton({
  shown,
  online,
  given,
  isSeen
}: AnswerProps & { isSeen: boolean }): JSX.Element {
  const { trans } = useUi();
  return (
    <button
      type="button"
      className="onyx-Button onyx-mod-accept"
      data-onyx="project-trust"
      title={isSeen ? undefined : trans.__('Show them first: you can only trust what you have seen')}
      disabled={!isSeen || shown.isOutdated || shown.isBusy || !online}
      onClick={() => void shown.answer(given)}
    >
      {trans.__('Trust')}
    </button>
  );
}

export function DeclineButton({ shown, online, given, label }: AnswerProps & { label: string }): JSX.Element {
  return (
    <button
      type="button"
      className="onyx-Button"
      data-onyx="project-decline"
      disabled={shown.isOutdated || shown.isBusy || !online}
      onClick={() => void shown.answer(given)}
    >
      {label}
    </button>
  );
}

/** All of it, or what changed since they were trusted; always as plain text. */
function ProjectText({ file }: { file: ProjectFile }): JSX.Element {
  const { trans } = useUi();
  const [showsAll, setShowsAll] = useState(false);
  const { diff, text, path } = file;
  return (
    <div className="onyx-Project-text" data-onyx="project-text">
      {file.state === 'changed' && diff == null && (
        <p>{trans.__('No lines changed, only line endings or the end of the file.')}</p>
      )}
      {diff != null && !showsAll ? (
        <UnifiedDiffView diff={diff} />
      ) : (
        <PlainText text={text} label={trans.__('All of %1', path)} />
      )}
      {diff != null && (
        <button
          type="button"
          className="onyx-Link"
          data-onyx="project-show-all"
          onClick={() => setShowsAll(!showsAll)}
        >
          {showsAll ? trans.__('Show what changed') : trans.__('Show all of it')}
        </button>
      )}
    </div>
  );
}

/** The only place that draws a stranger's text. */
function PlainText({ text, label }: { text: string; label: string }): JSX.Element {
  return (
    <pre className="onyx-Source" data-onyx="project-source" tabIndex={0} aria-label={label}>
      <VisibleText text={text} />
    </pre>
  );
}
