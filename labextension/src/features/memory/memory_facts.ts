/** Facts as they are shown: current ones, former ones, and all of them as a text to compare. */
import type { MemoryFact } from '../../protocol/wire';
import type { MemoryPlace } from '../../shared/citations';

/** The category of facts without one. */
const GENERAL = 'general';

export function categoryOf({ category }: MemoryFact): string {
  return category === GENERAL ? '' : category;
}

/** Current facts, most recently stated first; then former ones, most recently ended first. */
export function factGroups(facts: readonly MemoryFact[]): [true: MemoryFact[], former: MemoryFact[]] {
  const holds = facts.filter(fact => !fact.validUntil);
  const held = facts.filter(fact => fact.validUntil);
  return [
    holds.sort((one, other) => other.toldAt.localeCompare(one.toldAt) || lastLine(other) - lastLine(one)),
    held.sort((one, other) => (other.validUntil ?? '').localeCompare(one.validUntil ?? ''))
  ];
}

function lastLine({ lines }: MemoryFact): number {
  return lines[lines.length - 1];
}

/** Whether the place refers to that fact: by its id, or by any line that states it. */
export function isAt(fact: MemoryFact, { fact: id, lines }: MemoryPlace): boolean {
  return id
    ? fact.id === id
    : lines !== undefined && fact.lines.some(line => line >= lines[0] && line <= lines[1]);
}

/** One per line, as `The deadline is 5 March [dates] 2026-03-01 100 %`. */
export function factsAsText(facts: readonly MemoryFact[]): string {
  return facts
    .map(fact => {
      const category = categoryOf(fact) && `[${categoryOf(fact)}]`;
      const sure = `${Math.round(fact.confidence * 100)} %`;
      return [fact.text, category, spanOf(fact), sure].filter(Boolean).join(' ') + '\n';
    })
    .join('');
}

function spanOf({ validFrom, validUntil }: MemoryFact): string {
  const day = (moment: string) => moment.slice(0, 10);
  return validUntil ? `${day(validFrom)} – ${day(validUntil)}` : day(validFrom);
}
