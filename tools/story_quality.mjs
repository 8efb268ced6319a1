// node tools/story_quality.mjs [FOLDER [PROMPTS]]: measures how well a storyteller tells. It
// continues held-out prompts greedily and at two temperatures (bench/pretrained/tell.py, by the
// Python of UNDERSTORY_PYTHON), the stories' reader judges them, and docs/stories.md gets what is
// printed.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadVite, ROOT } from '../scripts/project.mjs'

const [folder = 'public/models/story', count = '128'] = process.argv.slice(2)
const TEMPERATURES = [0, 0.7, 1]
/** Written out. */
const SHOWN = 10

const { runnerImport } = await loadVite()
const { heldOutPrompts, judged, written, MAX_TOKENS } = (
  await runnerImport(join(ROOT, 'bench/pretrained/quality.ts'), {
    configFile: false,
    logLevel: 'error',
  })
).module

/** The continuations, one list for each temperature. */
function told(prompts) {
  const work = mkdtempSync(join(tmpdir(), 'understory-stories-'))
  const request = join(work, 'request.json')
  const asked = { prompts, temperatures: TEMPERATURES, max_tokens: MAX_TOKENS }
  writeFileSync(request, JSON.stringify(asked))
  const script = join(ROOT, 'bench/pretrained/tell.py')
  const python = process.env.UNDERSTORY_PYTHON || 'python3'
  const options = { encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'inherit'] }
  const { status, stdout } = spawnSync(python, [script, folder, request], options)
  rmSync(work, { recursive: true })
  if (status !== 0) process.exit(status ?? 1)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const prompts = heldOutPrompts(Number(count))
const all = told(prompts)
const nameOf = (temperature) => (temperature === 0 ? 'greedy' : `temperature ${temperature}`)
console.log('| decoding | right | fits | ends | ends happily | ends sadly | varied |')
console.log('| --- | --- | --- | --- | --- | --- | --- |')
all.forEach((texts, i) => {
  console.log(`| ${[nameOf(TEMPERATURES[i]), ...judged(prompts, texts)].join(' | ')} |`)
})
all.forEach((texts, i) => {
  console.log(`\n${nameOf(TEMPERATURES[i])}:\n`)
  for (let p = 0; p < Math.min(SHOWN, prompts.length); p++)
    console.log(written(prompts[p], texts[p]))
})
