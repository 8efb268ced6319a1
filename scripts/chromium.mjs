// Finds the Chromium that the tests and the bench run in.
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { withFolder } from './library_path.mjs'
import { ROOT, run, tool } from './project.mjs'

const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'microsoft-edge',
]

/** Where installers put Chrome, Chromium and Edge when they are not on the PATH. */
function usualPlaces() {
  const { HOME = '', LOCALAPPDATA, PROGRAMFILES } = process.env
  if (process.platform === 'darwin')
    return ['', HOME].flatMap((home) =>
      ['Google Chrome', 'Chromium', 'Microsoft Edge'].map((app) =>
        join(home || '/', 'Applications', `${app}.app`, 'Contents/MacOS', app),
      ),
    )
  if (process.platform === 'win32')
    return [PROGRAMFILES, process.env['PROGRAMFILES(X86)'], LOCALAPPDATA].flatMap((folder) =>
      folder
        ? [
            join(folder, 'Google/Chrome/Application/chrome.exe'),
            join(folder, 'Chromium/Application/chrome.exe'),
            join(folder, 'Microsoft/Edge/Application/msedge.exe'),
          ]
        : [],
    )
  return [
    ...['/usr/bin', '/usr/local/bin', '/snap/bin'].flatMap((folder) =>
      NAMES.map((name) => join(folder, name)),
    ),
    '/opt/google/chrome/chrome',
    '/usr/lib/chromium/chromium',
  ]
}

/** The first browser installed here that starts, or undefined. */
async function installed() {
  const extension = process.platform === 'win32' ? '.exe' : ''
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => (folder ? NAMES.map((name) => join(folder, name + extension)) : []))
  const paths = [process.env.CHROMIUM, ...usualPlaces(), ...onPath, playwrights()]
  for (const path of new Set(paths))
    if (path && existsSync(path) && (await starts(path))) return path
  return undefined
}

/** Where Playwright keeps, or would keep, its own Chromium. */
function playwrights() {
  return createRequire(join(ROOT, 'package.json'))('playwright').chromium.executablePath()
}

/** True when the browser starts far enough to say its version: a snap or a missing library does
 * not. */
async function starts(path) {
  // Chrome on Windows opens a window instead of printing its version.
  if (process.platform === 'win32') return true
  return (await run(path, ['--version'], { output: 'quiet', timeout_ms: 60_000 })).code === 0
}

/** Playwright's download, then, as root on Debian or Ubuntu, the distribution's package. */
async function install() {
  console.error('No Chrome or Chromium found; trying Playwright’s own …')
  const limits = { output: 'quiet', timeout_ms: 300_000 }
  await tool('playwright', ['install', 'chromium'], limits)
  const path = await installed()
  if (path || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return path
  console.error('Installing the chromium package (apt-get) …')
  const apt = { ...limits, env: { DEBIAN_FRONTEND: 'noninteractive' } }
  await run('apt-get', ['update'], apt)
  const { code, text } = await run('apt-get', ['install', '-y', 'chromium', 'libvulkan1'], apt)
  if (code !== 0) console.error(text.trim().split('\n').slice(-5).join('\n'))
  return await installed()
}

/** The path of a Chromium: $CHROMIUM, an installed one, Playwright's own, else one that it installs
 * (Playwright's download, or Debian's package when run as root). Without any it prints what to do
 * and returns undefined. Sets CHROMIUM for the programs started later. */
export function findChromium() {
  found ??= find()
  return found
}

/** The search is made once per process. */
let found

async function find() {
  const path = (await installed()) ?? (await install())
  if (!path) {
    console.error(
      'No Chromium to test in. Install Google Chrome or Chromium (Debian: apt install chromium),\n' +
        'or run: npx playwright install --with-deps chromium\n' +
        'or name an executable: CHROMIUM=/path/to/chrome npm test',
    )
    return undefined
  }
  process.env.CHROMIUM = path
  return path
}

/** Environment in which Dawn finds a Vulkan loader: Chromium brings one along, for machines without
 * libvulkan. Dawn opens it by name, so the folder must be on the library path before the process
 * starts. */
export async function vulkanEnvironment() {
  if (process.platform !== 'linux') return {}
  const { text } = await run('/sbin/ldconfig', ['-p'], { output: 'quiet' })
  if (text.includes('libvulkan.so.1')) return {}
  const folders = [process.env.CHROMIUM, ...usualPlaces()]
    .filter((path) => path && existsSync(path))
    .map((path) => dirname(realpathSync(path)))
  const folder = folders.find((path) => existsSync(join(path, 'libvulkan.so.1')))
  return folder ? { LD_LIBRARY_PATH: withFolder(process.env.LD_LIBRARY_PATH, folder) } : {}
}
