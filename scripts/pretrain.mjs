// npm run pretrain: makes the model in public/models/arithmetic again, from its recipe in bench/pretrained. Takes minutes on a GPU and an
// hour on a CPU; the same adapter gives the same bits.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadVite, ROOT } from './project.mjs'

const WORK = join(ROOT, 'dist/pretrained')
const { runnerImport } = await loadVite()
const quiet = { configFile: false, logLevel: 'error' }
const { module } = await runnerImport(join(ROOT, 'bench/pretrained/mixture.ts'), quiet)
mkdirSync(WORK, { recursive: true })
const data = join(WORK, 'mixture.jsonl')
writeFileSync(data, module.mixtureRows())

/** One command of `npm run lab`; ends this one where it fails. */
function lab(...args) {
  const script = join(ROOT, 'scripts/lab.mjs')
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

const recipe = join(ROOT, 'bench/pretrained/experiment.json')
const tokens = ['--data', data, '--tokenizer', 'arithmetic']
lab('train', recipe, ...tokens, '--out', join(WORK, 'run'), '--force')
lab(
  'export',
  join(WORK, 'run'),
  '--to',
  'hf',
  join(ROOT, 'public/models/arithmetic'),
  '--data',
  data,
  '--force',
)

// What the page and the command line know of it.
const folder = join(ROOT, 'public/models/arithmetic')
const { module: lists } = await runnerImport(
  join(ROOT, 'src/lab/content/models/model_files.ts'),
  quiet,
)
const arithmetic = lists.namesOfModel(readdirSync(folder)).map((name) => {
  const bytes = readFileSync(join(folder, name))
  const sha256 = `sha256-${createHash('sha256').update(bytes).digest('hex')}`
  return { name, bytes: bytes.length, sha256 }
})
writeFileSync(
  join(ROOT, 'src/lab/content/models/shipped.json'),
  `${JSON.stringify({ arithmetic }, undefined, 2)}\n`,
)
console.log(`The model is ${lists.modelHash(arithmetic)}: src/lab/presets names it.`)
