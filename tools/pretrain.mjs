// npm run pretrain [-- NAME …]: makes the models in public/models again, or those named, from their
// recipes in bench/pretrained. Takes minutes on a GPU and up to an hour on a CPU; the same adapter
// gives the same bits. The storyteller is trained by PyTorch (UNDERSTORY_PYTHON with torch and
// transformers): minutes on a GPU, hours on a CPU.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadVite, ROOT } from '../scripts/project.mjs'

const WORK = join(ROOT, 'dist/pretrained')
const SHIPPED = join(ROOT, 'src/host/content/models/shipped.json')
const { runnerImport } = await loadVite()
const quiet = { configFile: false, logLevel: 'error' }
const load = async (file) => (await runnerImport(join(ROOT, file), quiet)).module
const { PRETRAINED, mixtureRows } = await load('bench/pretrained/mixture.ts')
const { modelHash, namesOfModel } = await load('src/host/content/models/model_files.ts')

/** One command of `npm run lab`; ends this one where it fails. */
function lab(...args) {
  const script = join(ROOT, 'scripts/lab.mjs')
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/** The lab makes the model, and bench/pretrained/train.py trains it; one that was stopped
 * continues. The loss comes beside the recipe. */
function trainWithTorch(recipe, rows, folder, work) {
  lab('export', recipe, '--to', 'hf', folder, '--force')
  const script = join(ROOT, 'bench/pretrained/train.py')
  const python = process.env.UNDERSTORY_PYTHON || 'python3'
  const { status } = spawnSync(python, [script, recipe, rows, folder, work], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
  copyFileSync(join(work, 'loss.csv'), recipe.replace('.json', '_loss.csv'))
}

function trainInLab(recipe, rows, folder, work) {
  const data = rows ? ['--data', rows] : []
  const tokens = rows ? ['--tokenizer', 'arithmetic'] : []
  const run = join(work, 'run')
  lab('train', recipe, ...data, ...tokens, '--out', run, '--force')
  lab('export', run, '--to', 'hf', folder, ...data, '--force')
}

/** Trains a model and writes it into public/models. Returns its files with their hashes. */
async function pretrain(name) {
  const { recipe: file, mixture, is_torch } = PRETRAINED[name]
  const work = join(WORK, name)
  const folder = join(ROOT, 'public/models', name)
  mkdirSync(work, { recursive: true })
  const rows = mixture && join(work, 'mixture.jsonl')
  if (rows) writeFileSync(rows, mixtureRows(mixture))
  const trainIt = is_torch ? trainWithTorch : trainInLab
  trainIt(join(ROOT, 'bench/pretrained', file), rows, folder, work)
  return namesOfModel(readdirSync(folder)).map((file) => {
    const bytes = readFileSync(join(folder, file))
    const sha256 = `sha256-${createHash('sha256').update(bytes).digest('hex')}`
    return { name: file, bytes: bytes.length, sha256 }
  })
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in PRETRAINED))
if (unknown.length > 0) {
  const names = Object.keys(PRETRAINED).join(', ')
  console.error(`There is no model ${unknown.join(', ')}. Models: ${names}.`)
  process.exit(2)
}
for (const name of asked.length > 0 ? asked : Object.keys(PRETRAINED)) {
  const files = await pretrain(name)
  // What the page and the command line know of the models.
  const shipped = { ...JSON.parse(readFileSync(SHIPPED, 'utf8')), [name]: files }
  writeFileSync(SHIPPED, `${JSON.stringify(shipped, undefined, 2)}\n`)
  console.log(`${name} is ${modelHash(files)}: what begins with it names that.`)
}
