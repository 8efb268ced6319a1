// npm start: installs what is missing, builds the page, serves it on this machine and opens the
// browser.
import { spawn } from 'node:child_process'
import { APP_SOURCES, installMissing, isStale, loadVite, ROOT } from './project.mjs'
import { movedWords, readOptions } from './start_options.mjs'

const { port, frameAncestors, problem } = readOptions(process.argv.slice(2))
if (problem) {
  console.error(problem)
  process.exit(2)
}
// Pages of other origins that may hold this one in a frame: vite.config.ts makes a header of it.
if (frameAncestors) process.env.FRAME_ANCESTORS = frameAncestors
await installMissing()
const { build, preview } = await loadVite()
if (isStale('dist/app/index.html', APP_SOURCES)) {
  console.log('Building …')
  try {
    await build({ root: ROOT, logLevel: 'error' })
  } catch {
    // Vite has printed what is wrong, with file and line.
    process.exit(1)
  }
}
const server = await preview({
  root: ROOT,
  logLevel: 'error',
  preview: { host: '127.0.0.1', port, strictPort: false },
})
const address = server.resolvedUrls.local[0]
const moved = movedWords(port, Number(new URL(address).port || 80))
console.log(`${moved ? `${moved}\n\n` : ''}Understory is at ${address}\nPress Ctrl-C to stop.`)
openBrowser(address)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(0))

/** Opens the default browser where a person is likely to sit before it; otherwise the address is
 * enough. */
function openBrowser(url) {
  const hasScreen =
    process.platform !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY
  if (!hasScreen || process.env.CI || process.env.BROWSER === 'none') return
  const [command, ...args] = {
    darwin: ['open', url],
    win32: ['cmd', '/c', 'start', '', url],
  }[process.platform] ?? ['xdg-open', url]
  const child = spawn(command, args, { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}
