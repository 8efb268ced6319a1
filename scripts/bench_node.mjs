// Serves scripts/bench.mjs in Node on Dawn, where it would need a page: `npm run bench -- --node`.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { vulkanEnvironment } from './chromium.mjs'
import { loadVite, ROOT } from './project.mjs'

/** Starts this process again where Vulkan's loader lies in a folder that only an environment
 * variable can name. */
export async function withVulkan() {
  const env = await vulkanEnvironment()
  if (Object.entries(env).every(([name, value]) => process.env[name] === value)) return
  const child = spawnSync(process.execPath, process.argv.slice(1), {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  process.exit(child.status ?? 1)
}

/** Builds bench/<name>.ts for Node, with all that it imports. Returns the file's path. */
export async function buildForNode(name) {
  const { build } = await loadVite()
  const outDir = join(ROOT, `dist/bench_${name}`)
  const output = { entryFileNames: 'bench.mjs', codeSplitting: false }
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    ssr: { noExternal: true, external: ['webgpu'] },
    build: { ssr: `bench/${name}.ts`, outDir, target: 'node20', rolldownOptions: { output } },
  })
  return join(outDir, 'bench.mjs')
}

/** The bench in this process: `page.evaluate` calls its functions. Throws Error where WebGPU finds
 * no adapter. */
export async function openNode() {
  const file = await buildForNode('node')
  offerTimes()
  const { openBench } = await import(pathToFileURL(file).href)
  await openBench()
  const page = { evaluate: async (work, argument) => work(argument) }
  const adapter = await globalThis.bench.adapter()
  if (!adapter) throw new Error('WebGPU finds no adapter here: npm run -s lab -- adapters')
  return { page, adapter }
}

/** What bench/page/javascript.ts asks its driver for; V8's sampling profiler is not offered
 * here. */
function offerTimes() {
  globalThis.benchThreadSeconds = async () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
}
