/** What a text contains that is easy to overlook, one line each. */
import { useUi } from '../../shared/ui_context';

/** `secret`, `invisible` and `look_alike`; other values are ignored. */
export function Cautions({ cautions }: { cautions: unknown }): JSX.Element | null {
  const { trans } = useUi();
  const words = new Map([
    [
      'secret',
      trans.__('Contains what looks like a secret. You see all of it; the conversation and the model don’t.')
    ],
    ['invisible', trans.__('Contains invisible characters, shown as marks.')],
    ['look_alike', trans.__('Contains look-alike characters, shown as marks.')]
  ]);
  const lines = (Array.isArray(cautions) ? cautions : []).map(caution => words.get(String(caution)));
  return (
    <>
      {lines.filter(Boolean).map(line => (
        <div key={line} className="onyx-Caution" data-onyx="caution">
          {line}
        </div>
      ))}
    </>
  );
}
