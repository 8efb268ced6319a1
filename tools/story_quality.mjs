// node tools/story_quality.mjs [--steering] [FOLDER [PROMPTS]]: measures how well a storyteller
// tells. It continues held-out prompts greedily and at two temperatures (bench/pretrained/tell.py,
// by the Python of UNDERSTORY_PYTHON), the stories' reader judges them, and docs/stories.md gets
// what is printed. With --steering it ends stories, greedily, with a vector added to one layer.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadVite, ROOT } from '../scripts/project.mjs'

const { values, positionals } = parseArgs({
  options: { steering: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [folder = 'public/models/story', count = values.steering ? '32' : '128'] = positionals
const TEMPERATURES = [0, 0.7, 1]
/** Whose mean states differ by the vector. */
const TEXTS = {
  toward: 'They laughed and danced. Anna was happy.',
  away: 'They cried and went home alone. Anna was sad.',
}
const LAYERS = [1, 2, 3, 4]
const STRENGTHS = [1, 2, 3]
/** Sentences that a prompt of an end tells, at most. */
const TOLD = 12
/** Written out. */
const SHOWN = 10

const { runnerImport } = await loadVite()
const { heldOutPrompts, judged, written, MAX_TOKENS } = (
  await runnerImport(join(ROOT, 'bench/pretrained/quality.ts'), {
    configFile: false,
    logLevel: 'error',
  })
).module

/** The continuations, one list for each temperature or each vector. */
function told(asked) {
  const work = mkdtempSync(join(tmpdir(), 'understory-stories-'))
  const request = join(work, 'request.json')
  writeFileSync(request, JSON.stringify({ ...asked, max_tokens: MAX_TOKENS }))
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

const HEAD = 'right | fits | ends | ends happily | ends sadly | varied |\n'

function decodings() {
  const prompts = heldOutPrompts(Number(count))
  const all = told({ prompts, temperatures: TEMPERATURES })
  const nameOf = (temperature) => (temperature === 0 ? 'greedy' : `temperature ${temperature}`)
  console.log(`| decoding | ${HEAD}| --- | --- | --- | --- | --- | --- | --- |`)
  all.forEach((texts, i) => {
    console.log(`| ${[nameOf(TEMPERATURES[i]), ...judged(prompts, texts)].join(' | ')} |`)
  })
  all.forEach((texts, i) => {
    console.log(`\n${nameOf(TEMPERATURES[i])}:\n`)
    for (let p = 0; p < Math.min(SHOWN, prompts.length); p++)
      console.log(written(prompts[p], texts[p]))
  })
}

function steerings() {
  const prompts = heldOutPrompts(Number(count), TOLD)
  const changes = LAYERS.flatMap((layer) =>
    STRENGTHS.map((strength) => ({ ...TEXTS, layer, strength })),
  )
  const all = told({ prompts, temperatures: [0], steering: [null, ...changes] })
  console.log(`| layer | strength | ${HEAD}| --- | --- | --- | --- | --- | --- | --- | --- |`)
  all.forEach((texts, i) => {
    const { layer = '', strength = 0 } = changes[i - 1] ?? {}
    console.log(`| ${[layer, strength, ...judged(prompts, texts)].join(' | ')} |`)
  })
  console.log(all.map((texts) => `\n${texts.slice(0, 3).join('\n')}`).join('\n'))
}

if (values.steering) steerings()
else decodings()
