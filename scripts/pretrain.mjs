// npm run pretrain -- [name …]: makes the models in public/models again, from their recipes in bench/pretrained. `sorter` takes seconds,
// `arithmetic` minutes on a GPU and an hour on a CPU; the same adapter gives the same bits.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadVite, ROOT } from './project.mjs'

const WORK = join(ROOT, 'dist/pretrained')
const { runnerImport } = await loadVite()
const load = async (path) =>
  (await runnerImport(join(ROOT, path), { configFile: false, logLevel: 'error' })).module

/** One command of `npm run lab`; ends this one where it fails. */
function lab(...args) {
  const script = join(ROOT, 'scripts/lab.mjs')
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/** Each with the options of its rows, where they are not those of the recipe's task. */
const MODELS = {
  arithmetic: async () => {
    const data = join(WORK, 'mixture.jsonl')
    writeFileSync(data, (await load('bench/pretrained/mixture.ts')).mixtureRows())
    return { data: ['--data', data], tokenizer: ['--tokenizer', 'arithmetic'] }
  },
  sorter: async () => ({ data: [], tokenizer: [] }),
}

/** Trains the recipe and writes the model as Hugging Face's files. */
async function make(name) {
  const { data, tokenizer } = await MODELS[name]()
  const run = join(WORK, name)
  const recipe = join(ROOT, `bench/pretrained/${name}.json`)
  lab('train', recipe, ...data, ...tokenizer, '--out', run, '--force')
  lab('export', run, '--to', 'hf', join(ROOT, 'public/models', name), ...data, '--force')
}

mkdirSync(WORK, { recursive: true })
const asked = process.argv.slice(2)
for (const name of asked.length > 0 ? asked : Object.keys(MODELS)) {
  if (name in MODELS) await make(name)
  else throw new Error(`no model ${name}: there are ${Object.keys(MODELS).join(', ')}`)
}

// What the page and the command line know of them.
const lists = await load('src/lab/content/models/model_files.ts')
const listed = Object.keys(MODELS).map((name) => {
  const folder = join(ROOT, 'public/models', name)
  const files = lists.namesOfModel(readdirSync(folder)).map((file) => {
    const bytes = readFileSync(join(folder, file))
    const sha256 = `sha256-${createHash('sha256').update(bytes).digest('hex')}`
    return { name: file, bytes: bytes.length, sha256 }
  })
  console.log(`${name} is ${lists.modelHash(files)}: src/lab/presets names it.`)
  return [name, files]
})
writeFileSync(
  join(ROOT, 'src/lab/content/models/shipped.json'),
  `${JSON.stringify(Object.fromEntries(listed), undefined, 2)}\n`,
)
