/**
 * What a project's instructions say: all of it, or what changed since they were trusted. Always as plain
 * text.
 */
import { useState } from 'react';

import type { ProjectFile } from '../../protocol/wire';
import { UnifiedDiffView } from '../../shared/diff_view';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';

export function ProjectText({ file }: { file: ProjectFile }): JSX.Element {
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
