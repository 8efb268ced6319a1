// Notebooks that leave the lab, judged outside: nbformat validates them, and nbclient runs every
// cell of them where Jupyter, TRL and pandas are.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { presetOf } from '../document/presets/presets.ts'
import { makeJob } from '../jobs/job_files.ts'
import { sourceOf } from '../jobs/testing.ts'
import { exportNotebook } from './export/export_notebook.ts'
import { writeFolder } from './output/file_folder.ts'
import { hasModules, PATIENCE_MS, python } from './testing.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-notebooks-'))
afterAll(() => rmSync(root, { recursive: true }))

/** Runs a notebook in its folder; `changed` takes the place of a line of it. Returns the kinds of
 * all outputs and what was printed. */
const RUN = `import json, sys
import nbformat
from nbclient import NotebookClient
given = json.loads(sys.stdin.read())
notebook = nbformat.read(given["file"], as_version=4)
nbformat.validate(notebook)
for cell in notebook.cells:
    for old, new in given["changed"].items():
        cell.source = cell.source.replace(old, new)
NotebookClient(notebook, timeout=800, kernel_name="python3", resources={"metadata": {"path": given["folder"]}}).execute()
outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
print(json.dumps({"images": sum("image/png" in o.get("data", {}) for o in outputs), "text": "".join(o.get("text", "") + o.get("data", {}).get("text/plain", "") for o in outputs)}))
`
const run = (folder: string, name: string, changed: object = {}) =>
  python(RUN, { file: join(folder, name), folder, changed }) as { images: number; text: string }

test.skipIf(!hasModules('nbformat', 'nbclient', 'ipykernel', 'pandas', 'matplotlib'))(
  'the notebook of a run’s metrics is valid, reads its table and draws its curves',
  { timeout: PATIENCE_MS },
  async () => {
    const source = join(root, 'tiny')
    mkdirSync(source)
    const rows = Array.from({ length: 30 }, (_, i) => ({
      step: i + 1,
      data: {
        'critic/score/mean': i / 30,
        'actor/entropy': i === 4 ? null : 1 / (i + 1),
        ...(i % 10 === 9 && { 'val-aux/addition/acc/greedy': i / 60 }),
      },
    }))
    const text = rows.map((row) => JSON.stringify(row)).join('\n')
    writeFileSync(join(source, 'metrics.jsonl'), `${text}\n`)
    const folder = join(root, 'curves')
    await exportNotebook(source, folder, false)
    const { images, text: printed } = run(folder, 'metrics.ipynb')
    expect(printed).toContain('30 steps, 3 metrics')
    expect(images).toBe(1)
  },
)

test.skipIf(
  !hasModules('nbformat', 'nbclient', 'ipykernel', 'pandas', 'matplotlib', 'torch', 'trl'),
)('the notebook of a job is valid, and TRL trains in it', { timeout: PATIENCE_MS }, async () => {
  const experiment = presetOf('tiny-grpo')?.experiment
  if (!experiment) throw new RangeError('no preset')
  const folder = join(root, 'job')
  writeFolder(folder, makeJob(sourceOf(experiment), { target: 'trl', verl: '0.9' }).files)
  const { images, text } = run(folder, 'train_trl.ipynb', { 'STEPS = None': 'STEPS = 3' })
  expect(text).toContain('nothing was missing')
  expect(images).toBe(1)
  const log: { step: number }[] = JSON.parse(
    readFileSync(join(folder, 'trained', 'trl_log.json'), 'utf8'),
  )
  expect(Math.max(...log.map(({ step }) => step))).toBe(3)
})
