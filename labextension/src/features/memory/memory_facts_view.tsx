/** An agent's facts, one row each: what is true, what was true once, how certain it is and since when. */
import { useMemo } from 'react';

import { formatRelative } from '../../shared/relative_time';
import { categoryOf, factGroups, isAt } from './memory_facts';
import type { MemoryPlace } from '../../shared/citations';
import type { MemoryFact, MemoryFacts } from '../../protocol/wire';
import { SessionLink } from './session_link';
import type { SessionLinkActions } from './session_link';
import { useUi } from '../../shared/ui_context';
import { useKeptVisible } from '../../shared/use_kept_in_sight';

interface MemoryFactsViewProps extends SessionLinkActions {
  facts: MemoryFacts;
  place: MemoryPlace;
}

export function MemoryFactsView(props: MemoryFactsViewProps): JSX.Element {
  const { place } = props;
  const { facts, otherLines } = props.facts;
  const { trans } = useUi();
  const [holding, former] = useMemo(() => factGroups(facts), [facts]);
  const isNamed = place.fact !== undefined || place.lines !== undefined;
  const root = useKeptVisible<HTMLDivElement>(isNamed && place);
  return (
    <div className="onyx-MemoryText onyx-Facts" data-onyx="memory-facts" ref={root}>
      {isNamed && !facts.some(fact => isAt(fact, place)) && (
        <p className="onyx-Note" data-onyx="memory-fact-gone">
          {trans.__('The cited fact no longer exists. An earlier version may have it.')}
        </p>
      )}
      {facts.length === 0 && <p className="onyx-Note">{trans.__('No facts are remembered any more.')}</p>}
      <List {...props} facts={holding} all={facts} />
      {former.length > 0 && (
        <section aria-label={trans.__('No longer true')}>
          <h4>{trans.__('No longer true')}</h4>
          <List {...props} facts={former} all={facts} />
        </section>
      )}
      {!!otherLines && (
        <p className="onyx-Note">
          {trans._n(
            '%1 line of the file isn’t a fact. Open the file to see it.',
            '%1 lines of the file aren’t facts. Open the file to see them.',
            otherLines
          )}
        </p>
      )}
    </div>
  );
}

type ListProps = Omit<MemoryFactsViewProps, 'facts'> & { facts: MemoryFact[]; all: MemoryFact[] };

function List({ facts, all, ...props }: ListProps): JSX.Element {
  return (
    <ul>
      {facts.map(fact => (
        <Fact
          key={fact.id}
          {...props}
          fact={fact}
          successor={all.find(one => one.id === fact.supersededBy) ?? null}
        />
      ))}
    </ul>
  );
}

type FactProps = Omit<ListProps, 'facts' | 'all'> & { fact: MemoryFact; successor: MemoryFact | null };

function Fact({ fact, successor, place, titleOf, openSession }: FactProps): JSX.Element {
  const { trans } = useUi();
  const { id, text, lines, sessionKey, validUntil } = fact;
  const category = categoryOf(fact);
  return (
    <li
      className="onyx-MemoryText-piece onyx-Fact"
      data-onyx="memory-fact"
      data-fact={id}
      data-line={lines[lines.length - 1]}
      data-marked={isAt(fact, place) || undefined}
    >
      <span className="onyx-Fact-text">{text}</span>
      {successor && <span className="onyx-Fact-next">{trans.__('Now: %1', successor.text)}</span>}
      <span className="onyx-Fact-about">
        {category && <span>{category}</span>}
        <Span fact={fact} />
        {!validUntil && <Sure fact={fact} />}
        <SessionLink {...{ sessionKey, titleOf, openSession }} />
      </span>
    </li>
  );
}

/** The period in which it was true. */
function Span({ fact }: { fact: MemoryFact }): JSX.Element {
  const { trans } = useUi();
  const [from, until] = [day(fact.validFrom), day(fact.validUntil)];
  const words = until ? trans.__('from %1 until %2', from, until) : trans.__('since %1', from);
  return <span title={[fact.validFrom, fact.validUntil].filter(Boolean).join(' – ')}>{words}</span>;
}

function Sure({ fact }: { fact: MemoryFact }): JSX.Element {
  const { trans } = useUi();
  const percent = Math.round(fact.confidence * 100);
  const told = trans.__(
    'Last mentioned %1. Confidence rises each time you mention it and fades over the weeks.',
    formatRelative(fact.toldAt)
  );
  return <span title={told}>{trans.__('%1 % sure', percent)}</span>;
}

function day(moment: string | null | undefined): string {
  const date = new Date(moment ?? '');
  const format: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric' };
  return Number.isNaN(date.getTime()) ? '' : new Intl.DateTimeFormat(undefined, format).format(date);
}
