import { readdirSync, readFileSync } from 'node:fs';

import { configDefaults, defineConfig } from 'vitest/config';

/** A module that a file replaces is replaced for all that share its page. */
const replacesModules = (file: string) => /\bvi\.(do)?mock\(/i.test(readFileSync(file, 'utf-8'));
const files = readdirSync('tests')
  .filter(name => /\.test\.tsx?$/.test(name))
  .map(name => `tests/${name}`);
const alone = files.filter(replacesModules);

/** A page of its own takes nine tenths of a file's time, so those that can share one. */
export default defineConfig({
  test: {
    environment: 'jsdom',
    setupFiles: 'tests/setup.ts',
    projects: [
      {
        extends: true,
        test: {
          name: 'shared page',
          include: files,
          exclude: [...configDefaults.exclude, ...alone],
          isolate: false
        }
      },
      { extends: true, test: { name: 'own page', include: alone } }
    ]
  }
});
