/**
 * The state of the memory search in one line: by meaning or by words alone, which embedder, what is still
 * being read.
 */
import type { MemoryStatus } from '../../protocol/wire';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';

export function MemoryStatusLine({ status }: { status: MemoryStatus | null }): JSX.Element | null {
  const { trans } = useUi();
  if (!status) {
    return null;
  }
  const { progress } = status;
  const isReading = progress && progress.done < progress.total;
  // A file's problems appear in its row.
  const problems = status.problems.filter(problem => !problem.path);
  return (
    <div
      className="onyx-Memory-status"
      data-onyx="memory-status"
      data-searches={status.searches}
      role="status"
    >
      {isReading ? (
        <div className="onyx-Progress" data-onyx="memory-progress">
          <progress
            className="onyx-Bar"
            value={progress.done}
            max={progress.total}
            aria-label={trans.__('Reading memory')}
          />
          <span>{trans.__('Reading for search: %1 of %2', progress.done, progress.total)}</span>
        </div>
      ) : (
        <span>{formatSearchMode(status, trans)}</span>
      )}
      {problems.map(({ message }) => (
        <span key={message}>{message}</span>
      ))}
    </div>
  );
}

function formatSearchMode(status: MemoryStatus, trans: Ui['trans']): string {
  const { searches, embedder, seeksEmbedder, problems } = status;
  if (searches === 'words') {
    return trans.__('Keyword search for now.');
  }
  if (seeksEmbedder) {
    return trans.__('Looking for an embedder…');
  }
  if (embedder) {
    return trans.__('Search by meaning and keywords, with %1 (%2).', embedder.model, embedder.provider);
  }
  return problems.some(problem => !problem.path)
    ? trans.__('Keyword search only.')
    : trans.__('Keyword search only: no embedder is available.');
}
