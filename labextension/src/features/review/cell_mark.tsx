/** A mark as a widget within a cell. It takes neither focus nor shortcuts from the notebook. */
import { ReactWidget } from '@jupyterlab/ui-components';

import { CellMarkView } from './cell_mark_view';
import type { CellMarkViewProps } from './cell_mark_view';

export class CellMarkWidget extends ReactWidget {
  constructor(private props: CellMarkViewProps) {
    super();
    this.addClass('onyx-CellMark');
    // Enter on a button presses it; for the notebook it would mean editing the cell.
    this.node.setAttribute('data-lm-suppress-shortcuts', 'true');
    this.setProps(props);
  }

  get shown(): CellMarkViewProps['shown'] {
    return this.props.shown;
  }

  setProps(props: CellMarkViewProps): void {
    this.props = props;
    this.node.dataset.onyx = 'cell-mark';
    this.node.dataset.kind = props.shown.kind;
    this.node.dataset.cell = props.shown.mark.cellId;
    this.update();
  }

  protected override render(): JSX.Element {
    return <CellMarkView {...this.props} />;
  }
}
