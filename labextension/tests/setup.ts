/** For every test file. */
import { vi } from 'vitest';

// JupyterLab's components do not load outside of a browser; of them only icons are drawn in tests.
vi.mock('@jupyterlab/ui-components', () => {
  const icon = { react: () => null };
  return new Proxy({}, { has: () => true, get: (_, name) => (name === 'then' ? undefined : icon) });
});
