// npm run soak [-- --steps N --where cli|browser|both]: trains for long, with short steps, and says
// what grows. Prints JavaScript's memory after a forced collection, the GPU's, and creations per
// step, each as a slope per 1000 steps with its standard error. Exits 1 when something was created
// after warming up or when training stopped while its tab was hidden; memory is for people to
// judge.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { vulkanEnvironment } from '../scripts/chromium.mjs'
import { installMissing, loadVite, ROOT } from '../scripts/project.mjs'
import { soakPage } from './soak_page.mjs'
import { createdOf, report } from './soak_report.mjs'

const WHERE = ['cli', 'browser']
const WARM_START = 20
const INNER = 20
/** Steps that are no part of a slope: both short phases, and the beginning of the last one. */
const WARM = WARM_START + INNER + 60
/** Samples of a run, about. */
const SAMPLES = 40

const { values: options } = parseArgs({
  options: {
    steps: { type: 'string', default: '1500' },
    where: { type: 'string', default: 'both' },
  },
})
const steps = Number(options.steps)
if (!(Number.isInteger(steps) && steps >= 2 * WARM))
  fail(`--steps: expected a whole number from ${2 * WARM}`)
const places = options.where === 'both' ? WHERE : [options.where]
if (!places.every((place) => WHERE.includes(place))) fail('--where: expected cli, browser or both')

/** As a share link: both places train the same. */
const LINK =
  `v=1&p=tiny&seed=3&model.hidden_size=16&model.num_hidden_layers=2&model.intermediate_size=32` +
  `&phases.0.steps=${WARM_START}&phases.0.batch_size=8&phases.1.steps=${INNER}&phases.1.target_layer=1` +
  `&phases.2.steps=${steps - WARM_START - INNER}&rollout.train_batch_size=4&actor.ppo_mini_batch_size=4` +
  `&validation.prompts=4&probe.rows=8`

await installMissing()
const wrong = []
for (const place of places) {
  console.log(`${place}: ${steps} steps, slopes from step ${WARM} on, per 1000 steps`)
  wrong.push(
    ...(
      await (place === 'cli'
        ? soakCli()
        : soakPage({ link: LINK, steps, every: everySteps(), warm: WARM }))
    ).map((text) => `${place}: ${text}`),
  )
}
for (const line of wrong) console.error(line)
process.exit(wrong.length > 0 ? 1 : 0)

function fail(message) {
  console.error(message)
  process.exit(2)
}

/** `lab train` on Dawn, which samples itself (tools/soak/sampled_train.ts). */
async function soakCli() {
  const bundle = await buildCli()
  const out = mkdtempSync(join(tmpdir(), 'understory-soak-'))
  const args = ['--expose-gc', bundle, `?${LINK}`, '--out', out, '--checkpoint-every', '50']
  const env = { ...process.env, ...(await vulkanEnvironment()), SOAK_EVERY: `${everySteps()}` }
  const samples = []
  const began = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said = (said + text).slice(-2000)
  })
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('{"soak"'))
      samples.push({ ...JSON.parse(line), at_ms: performance.now() - began })
  rmSync(out, { recursive: true, force: true })
  if (child.exitCode) return [`lab train ended with ${child.exitCode}: ${said.trim()}`]
  return report(
    WARM,
    samples.map(({ soak: step, heapUsed, external, arrayBuffers, rss, counts, at_ms }) => ({
      step,
      at_ms,
      memory: {
        'heap: objects': heapUsed,
        'heap: arrays': arrayBuffers,
        'outside: external less arrays': external - arrayBuffers,
        'process: resident': rss,
        'GPU buffers': counts.live_bytes,
      },
      created: createdOf(counts),
    })),
  )
}

function everySteps() {
  return Math.max(1, Math.floor((steps - WARM) / SAMPLES))
}

async function buildCli() {
  const { build } = await loadVite()
  const outDir = join(ROOT, 'dist/soak')
  mkdirSync(outDir, { recursive: true })
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    build: {
      ssr: 'tools/soak/sampled_train.ts',
      outDir,
      target: 'node20',
      rolldownOptions: { output: { entryFileNames: 'soak.mjs', codeSplitting: false } },
    },
  })
  return join(outDir, 'soak.mjs')
}
