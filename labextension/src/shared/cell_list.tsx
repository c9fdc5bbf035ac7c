/** Cells as they are: each with its number, and its source as added, removed, or run. */
import { DiffView } from './diff_view';
import { useUi } from './ui_context';
import { VisibleText } from './visible_text';

interface ShownCell {
  number: number;
  cellType: string;
  source: string;
}

interface CellListProps {
  cells: unknown;
  sign?: 'added' | 'removed';
}

/** How many are shown at first; the others are a click away. */
const SHOWN = 4;

export function CellList({ cells, sign }: CellListProps): JSX.Element | null {
  const { trans } = useUi();
  const list = (Array.isArray(cells) ? cells : []).filter(isCell);
  if (list.length === 0) {
    return null;
  }
  const [first, rest] = [list.slice(0, SHOWN), list.slice(SHOWN)];
  return (
    <div className="onyx-Cells" data-onyx="approval-cells">
      {first.map(cell => (
        <CellSource key={cell.number} cell={cell} sign={sign} />
      ))}
      {rest.length > 0 && (
        <details className="onyx-Cells-rest">
          <summary>{trans._n('%1 more cell', '%1 more cells', rest.length)}</summary>
          {rest.map(cell => (
            <CellSource key={cell.number} cell={cell} sign={sign} />
          ))}
        </details>
      )}
    </div>
  );
}

function CellSource({ cell, sign }: { cell: ShownCell; sign?: 'added' | 'removed' }): JSX.Element {
  const { trans } = useUi();
  const name =
    cell.cellType === 'code'
      ? trans.__('Cell %1', cell.number)
      : trans.__('Cell %1, %2', cell.number, cell.cellType);
  const lines = cell.source.trimEnd().split('\n').length;
  const label = lines > 1 ? `${name} · ${trans._n('%1 line', '%1 lines', lines)}` : name;
  return (
    <div className="onyx-Cells-cell">
      <div className="onyx-Cells-number">{label}</div>
      {sign ? (
        <DiffView
          before={sign === 'removed' ? cell.source : ''}
          after={sign === 'added' ? cell.source : ''}
        />
      ) : (
        <pre className="onyx-Source" data-onyx="approval-source" tabIndex={0} aria-label={label}>
          <VisibleText text={cell.source} />
        </pre>
      )}
    </div>
  );
}

function isCell(value: unknown): value is ShownCell {
  const cell = value as Partial<ShownCell> | null;
  return (
    typeof cell?.number === 'number' && typeof cell.source === 'string' && typeof cell.cellType === 'string'
  );
}
