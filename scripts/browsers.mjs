// Opens a Chromium whose WebGPU is the GPU, or SwiftShader: the ways that are known to work without
// a display, one after the other.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { platform } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './project.mjs'

const COMMON = ['--no-sandbox', '--enable-unsafe-webgpu', '--ignore-gpu-blocklist']
const isLinux = platform() === 'linux'

/** (a) Needs no display: the whole Chromium in its new headless mode, which composes nothing on a
 * Vulkan surface. */
const HEADLESS = {
  name: 'headless',
  args: [
    ...COMMON,
    ...(isLinux
      ? ['--use-angle=vulkan', '--enable-features=Vulkan', '--disable-vulkan-surface']
      : []),
  ],
}

/** (b) A window, on Linux without a display in Xvfb. Needs a Vulkan loader newer than 1.3.204. */
const WINDOW = {
  name: 'window',
  needsDisplay: isLinux,
  args: [
    ...COMMON,
    ...(isLinux ? ['--enable-features=Vulkan', '--use-vulkan=native', '--use-angle=vulkan'] : []),
  ],
}

const SOFTWARE = {
  name: 'swiftshader',
  args: [...COMMON, '--use-webgpu-adapter=swiftshader'],
}

/** What `--browser` may say: which ways are tried, and whether a software adapter will do. */
export const BROWSERS = {
  any: { ways: [HEADLESS, SOFTWARE], takesSoftware: true },
  hardware: { ways: [HEADLESS, WINDOW], takesSoftware: false },
  swiftshader: { ways: [SOFTWARE], takesSoftware: true },
}

/** A browser, a page of it at `url` and what `adapterOf` says of its adapter: `{name, isSoftware,
 * info}`, or undefined where it has none. Tells of each try through `tell`. Throws Error with what
 * came of every try where none will do. */
export async function openFirst(which, url, adapterOf, tell = (line) => console.error(line)) {
  const { ways, takesSoftware } = BROWSERS[which]
  const said = []
  for (const way of ways) {
    let opened
    try {
      opened = await open(way, url)
      const adapter = await answered(adapterOf(opened.page))
      const found = adapter ? adapter.name : 'no WebGPU adapter'
      if (adapter && (takesSoftware || !adapter.isSoftware)) {
        if (!takesSoftware) tell(`${way.name}: ${JSON.stringify(adapter.info)}`)
        return { ...opened, adapter, way: way.name }
      }
      said.push(`${way.name}: ${found}`)
    } catch (error) {
      said.push(`${way.name}: ${firstLine(error)}`)
    }
    if (!takesSoftware) tell(said.at(-1))
    await opened?.browser.close()
  }
  throw new Error(
    [
      `No ${takesSoftware ? '' : 'hardware '}adapter in a browser; tried`,
      ...said.map((line) => `  ${line}`),
      ...(takesSoftware ? [] : ['Without a browser: npm run bench -- --node']),
    ].join('\n'),
  )
}

/** How long a page may take to say which adapter it has: where the GPU's process dies, never. */
const ANSWER_MS = 60_000

function answered(asked) {
  let timer
  const late = new Promise((_, reject) => {
    const text = `no answer within ${ANSWER_MS / 1000} s`
    timer = setTimeout(() => reject(new Error(text)), ANSWER_MS)
  })
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

const firstLine = (error) => `${error?.message ?? error}`.trim().split('\n')[0]

async function open({ args, name, needsDisplay = false }, url) {
  const { chromium } = createRequire(join(ROOT, 'package.json'))('playwright')
  const isWindow = name === WINDOW.name
  const display = needsDisplay && !process.env.DISPLAY ? await startXvfb() : undefined
  const env = display ? { ...process.env, DISPLAY: display.name } : process.env
  const executablePath = process.env.CHROMIUM
  try {
    const browser = await chromium.launch({
      // Playwright's own headless shell has no GPU; its whole Chromium is another channel.
      ...(executablePath ? { executablePath } : { channel: 'chromium' }),
      headless: !isWindow,
      args,
      env,
    })
    if (display) browser.on('disconnected', () => display.stop())
    const page = await browser.newPage()
    page.on('pageerror', (error) => console.error(`page: ${error.message}`))
    page.on('console', (said) => said.type() === 'debug' && console.error(`  ${said.text()}`))
    await page.goto(url)
    return { browser, page }
  } catch (error) {
    display?.stop()
    throw error
  }
}

/** A display without a screen. Throws Error where Xvfb is not installed or says no number. */
function startXvfb() {
  return new Promise((resolve, reject) => {
    const child = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1440x900x24'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    })
    child.on('error', () => reject(new Error('needs Xvfb (Debian: apt install xvfb), or DISPLAY')))
    child.on('exit', (code) => reject(new Error(`Xvfb ended with ${code}`)))
    child.stdio[3].once('data', (number) =>
      resolve({ name: `:${`${number}`.trim()}`, stop: () => child.kill() }),
    )
  })
}
