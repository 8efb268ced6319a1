// npm run -s lab -- <command>: runs the lab without a browser. Bundles src/cli when it has changed
// (about a second), then runs it.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { vulkanEnvironment } from './chromium.mjs'
import { installMissing, isStale, loadVite, ROOT } from './project.mjs'

const caller = process.env.INIT_CWD ?? process.env.PWD ?? ROOT
const bundle = join(ROOT, 'dist/cli/lab.mjs')
await installMissing()
if (isStale('dist/cli/lab.mjs', ['src', 'conformance', 'tools', 'package-lock.json'])) await build()

// Dawn's native code writes these to stderr at every start; no option turns them off.
const NOISE = /^Warning: max\w+ artificially reduced from .*\n/gm
const child = spawn(process.execPath, [bundle, ...process.argv.slice(2)], {
  cwd: caller,
  stdio: ['inherit', 'inherit', 'pipe'],
  env: {
    ...process.env,
    ...(await vulkanEnvironment()),
    // What the child can no longer see for itself: is someone watching the progress bar?
    LAB_COLUMNS: process.stderr.isTTY ? String(process.stderr.columns) : '',
  },
})
child.stderr.setEncoding('utf8').on('data', (text) => {
  process.stderr.write(text.replace(NOISE, ''))
})
// Ctrl-C reaches the child too, which closes its files; this process waits for it.
process.on('SIGINT', () => {})
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
// A terminal that was closed takes no more text; the child still writes down its end.
process.stderr.on('error', () => {})
child.on('close', (code) => process.exit(code ?? 1))

/** One file, moved into place when complete, so that a run already going keeps the one it
 * loaded. */
async function build() {
  const { build } = await loadVite()
  mkdirSync(join(ROOT, 'dist/cli'), { recursive: true })
  const outDir = mkdtempSync(join(ROOT, 'dist/cli/build-'))
  try {
    await build({
      root: ROOT,
      configFile: false,
      logLevel: 'error',
      publicDir: false,
      build: {
        ssr: 'src/cli/main.ts',
        outDir,
        emptyOutDir: false,
        target: 'node20',
        rolldownOptions: { output: { entryFileNames: 'lab.mjs', codeSplitting: false } },
      },
    })
    renameSync(join(outDir, 'lab.mjs'), bundle)
  } catch (error) {
    console.error(`The lab does not build.\n${error.message ?? error}`)
    process.exit(1)
  } finally {
    rmSync(outDir, { recursive: true, force: true })
  }
}
