import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tempFolder } from '../builders/temp-folder.ts';

/**
 * Returns variables that make a process write `LOADED` and a package's name to standard error when it loads a package
 * that only some configurations need. If `missing` is given, the process behaves as if that package were not installed.
 */
export function reportingPackages(missing?: string): Record<string, string> {
  const file = join(tempFolder(), 'hook.mjs');
  writeFileSync(
    file,
    `import { registerHooks } from 'node:module';
     registerHooks({ resolve(name, context, next) {
       if (/opentelemetry[/](?!api)|@redis|scslre|refa/.test(name)) process.stderr.write('LOADED ' + name + '\\n');
       return next(name === ${JSON.stringify(missing)} ? name + '-missing' : name, context);
     } });`,
  );
  return { NODE_OPTIONS: `--import ${pathToFileURL(file).href}` };
}
