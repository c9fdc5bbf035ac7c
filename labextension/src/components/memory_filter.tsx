/** What a search of memory looks through: all of it, or one kind, or what is not older than some days. */
import type { MemoryFilter } from '../models/memory_search';
import { useUi } from './ui_context';

interface MemoryFilterRowProps {
  filter: MemoryFilter;
  narrow: (filter: Partial<MemoryFilter>) => void;
}

export function MemoryFilterRow({ filter, narrow }: MemoryFilterRowProps): JSX.Element {
  const { trans } = useUi();
  return (
    <div className="onyx-Memory-filter" data-onyx="memory-filter">
      <select
        className="onyx-Input"
        data-onyx="memory-where"
        aria-label={trans.__('Where to search')}
        value={filter.where}
        onChange={event => narrow({ where: event.target.value as MemoryFilter['where'] })}
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
        title={trans.__('What has no date, such as MEMORY.md, is only found at any time')}
        value={filter.lastDays ?? ''}
        onChange={event =>
          narrow({ lastDays: (Number(event.target.value) || null) as MemoryFilter['lastDays'] })
        }
      >
        <option value="">{trans.__('Any time')}</option>
        <option value="7">{trans.__('Past week')}</option>
        <option value="30">{trans.__('Past month')}</option>
        <option value="365">{trans.__('Past year')}</option>
      </select>
    </div>
  );
}
