/** Cell outputs as in a notebook, drawn by JupyterLab's own output area; nothing in them is trusted. */
import { OutputAreaModel, SimplifiedOutputArea } from '@jupyterlab/outputarea';
import type { IOutput } from '@jupyterlab/nbformat';
import { Widget } from '@lumino/widgets';
import { useLayoutEffect, useRef } from 'react';

import { useUi } from './ui_context';

export function NotebookOutputs({
  outputs
}: {
  outputs: ReadonlyArray<Record<string, unknown>>;
}): JSX.Element {
  const { outputs: rendermime } = useUi().rendering;
  const host = useRef<HTMLDivElement>(null);
  // Before the host is removed from the page: a Lumino widget must still be attached when it is disposed.
  useLayoutEffect(() => {
    const model = new OutputAreaModel({ values: outputs as unknown as IOutput[], trusted: false });
    const area = new SimplifiedOutputArea({ model, rendermime });
    Widget.attach(area, host.current!);
    return () => {
      area.dispose();
      model.dispose();
    };
  }, [outputs, rendermime]);
  return <div ref={host} className="onyx-Outputs" data-onyx="skill-outputs" />;
}
