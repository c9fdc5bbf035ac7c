/** The files before they are written, and the links to them afterwards. */
import { useEffect, useRef, useState } from 'react';

import type { OnboardingFile } from '../../protocol/wire';
import { UnifiedDiffView } from '../../shared/diff_view';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';
import type { Onboarding } from './onboarding';

interface ReviewViewProps {
  onboarding: Onboarding;
  close: () => void;
}

export function ReviewView({ onboarding, close }: ReviewViewProps): JSX.Element {
  const { trans } = useUi();
  const group = useRef<HTMLDivElement>(null);
  const { files, isBusy } = onboarding;
  useEffect(() => {
    group.current?.focus();
    void onboarding.readFiles();
  }, [onboarding]);
  const count = files?.filter(({ problem }) => !problem).length ?? 0;
  const write = () => {
    if (count > 0 && !isBusy) {
      void onboarding.write();
    }
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === 'Enter' && event.target === event.currentTarget) {
      event.preventDefault();
      write();
    }
  };
  return (
    <div
      ref={group}
      className="onyx-Onboarding-question"
      data-onyx="onboarding-review"
      role="group"
      aria-label={trans.__('Review')}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <h4>
        {files === null
          ? trans.__('Reading…')
          : files.length > 0
            ? onboarding.hasConflict
              ? trans.__('A file has changed since it was shown. This is what Onyx would write now.')
              : trans.__('This is what Onyx would write.')
            : trans.__('Nothing to write: your answers change no file.')}
      </h4>
      {files?.map(file => (
        <FileView key={file.path} file={file} />
      ))}
      <div className="onyx-Onboarding-steps">
        {count > 0 ? (
          <button
            type="button"
            className="onyx-Button onyx-mod-accept"
            data-onyx="onboarding-write"
            disabled={isBusy}
            onClick={write}
          >
            {trans._n('Write %1 file', 'Write %1 files', count)}
            <kbd aria-hidden="true">⏎</kbd>
          </button>
        ) : (
          files && (
            <button type="button" className="onyx-Button" onClick={close}>
              {trans.__('Close')}
            </button>
          )
        )}
        <button
          type="button"
          className="onyx-Link"
          data-onyx="onboarding-back"
          onClick={() => void onboarding.back()}
        >
          {trans.__('Back')}
        </button>
      </div>
    </div>
  );
}

function FileView({ file }: { file: OnboardingFile }): JSX.Element {
  const { trans } = useUi();
  const [isWhole, setIsWhole] = useState(false);
  if (file.problem) {
    return (
      <div className="onyx-Problem" role="alert" data-onyx="onboarding-unreadable">
        {trans.__('%1 is left as it is. %2', file.path, file.problem)}
      </div>
    );
  }
  return (
    <details className="onyx-Onboarding-file" data-onyx="onboarding-file" data-path={file.path} open>
      <summary>
        <strong>{file.path}</strong> <span>{file.isNew ? trans.__('new') : lineCounts(file.diff ?? '')}</span>
      </summary>
      {isWhole ? (
        <pre className="onyx-Source" tabIndex={0} aria-label={file.path}>
          <VisibleText text={file.text ?? ''} />
        </pre>
      ) : (
        <UnifiedDiffView diff={file.diff ?? ''} />
      )}
      {!file.isNew && (
        <button
          type="button"
          className="onyx-Link"
          data-onyx="onboarding-whole"
          onClick={() => setIsWhole(!isWhole)}
        >
          {isWhole ? trans.__('Show the changes') : trans.__('Show the whole file')}
        </button>
      )}
    </details>
  );
}

/** Added and removed lines, such as `+3 −1`. */
export function lineCounts(diff: string): string {
  const lines = diff.split('\n');
  const added = lines.filter(line => line.startsWith('+')).length;
  const removed = lines.filter(line => line.startsWith('-')).length;
  return [added > 0 && `+${added}`, removed > 0 && `−${removed}`].filter(Boolean).join(' ');
}

interface WrittenViewProps {
  paths: readonly string[];
  openFile: (path: string) => void;
  close: () => void;
}

export function WrittenView({ paths, openFile, close }: WrittenViewProps): JSX.Element {
  const { trans } = useUi();
  const done = useRef<HTMLButtonElement>(null);
  useEffect(() => done.current?.focus(), []);
  return (
    <div className="onyx-Onboarding-question" data-onyx="onboarding-written" role="status">
      <h4>{trans.__('Done. It counts from your next message on.')}</h4>
      <ul className="onyx-Onboarding-paths">
        {paths.map(path => (
          <li key={path}>
            <button
              type="button"
              className="onyx-Link"
              data-onyx="onboarding-link"
              onClick={() => openFile(path)}
            >
              {path}
            </button>
          </li>
        ))}
      </ul>
      <p>
        {trans.__(
          'Edit these files whenever you like: the lines you change stay as you wrote them. /onboard asks again.'
        )}
      </p>
      <div className="onyx-Onboarding-steps">
        <button
          ref={done}
          type="button"
          className="onyx-Button onyx-mod-accept"
          data-onyx="onboarding-done"
          onClick={close}
        >
          {trans.__('Ask something')}
        </button>
      </div>
    </div>
  );
}
