/** What a memory search looks through: everything, one kind, or only the last days. */
import { isDated } from './memory_search';
import type { MemoryFilter, MemorySearch } from './memory_search';
import { useUi } from '../../shared/ui_context';

export function MemoryFilterRow({
  search
}: {
  search: Pick<MemorySearch, 'filter' | 'narrow'>;
}): JSX.Element {
  const { trans } = useUi();
  const { where, lastDays } = search.filter;
  const hasUndated = lastDays !== null && (where === 'all' || where === 'files');
  return (
    <div className="onyx-Memory-filter" data-onyx="memory-filter">
      <select
        className="onyx-Input"
        data-onyx="memory-where"
        aria-label={trans.__('Where to search')}
        value={where}
        onChange={event => search.narrow({ where: event.target.value as MemoryFilter['where'] })}
      >
        <option value="all">{trans.__('Everywhere')}</option>
        <option value="files">{trans.__('Files')}</option>
        <option value="facts">{trans.__('Facts')}</option>
        <option value="conversations">{trans.__('Conversations')}</option>
      </select>
      <select
        className="onyx-Input"
        data-onyx="memory-since"
        aria-label={trans.__('Since when')}
        title={
          isDated(where)
            ? trans.__('Facts and files without a date, such as MEMORY.md, appear only under “Any time”')
            : trans.__('Date filters don’t apply to facts: each holds until another replaces it')
        }
        disabled={!isDated(where)}
        value={lastDays ?? ''}
        onChange={event =>
          search.narrow({ lastDays: (Number(event.target.value) || null) as MemoryFilter['lastDays'] })
        }
      >
        <option value="">{trans.__('Any time')}</option>
        <option value="7">{trans.__('Past week')}</option>
        <option value="30">{trans.__('Past month')}</option>
        <option value="365">{trans.__('Past year')}</option>
      </select>
      {hasUndated && (
        <div className="onyx-Note" data-onyx="memory-undated">
          {where === 'all'
            ? trans.__('Facts and files without a date, such as MEMORY.md, are left out.')
            : trans.__('Files without a date, such as MEMORY.md, are left out.')}
        </div>
      )}
    </div>
  );
}
