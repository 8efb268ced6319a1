import { expect, test } from 'vitest'
import { presetOf } from '../../document/presets/presets.ts'
import type { OutFile } from '../../formats/out_file.ts'
import { makeJob } from '../job_files.ts'
import { distilled, filesOf, onRows, PAIRS, sourceOf, taughtSource } from '../testing.ts'
import { metricsExport } from './metrics_notebook.ts'
import { notebookFile } from './notebook.ts'

interface Cell {
  readonly cell_type: 'code' | 'markdown'
  readonly id: string
  readonly source: readonly string[]
}

const textOf = ({ pieces }: OutFile): string => Buffer.concat([...pieces]).toString('utf8')
const cellsOf = (text: string): Cell[] => JSON.parse(text).cells
const column = (...values: number[]) => ({
  steps: Float64Array.from(values, (_, i) => i + 1),
  values: Float64Array.from(values),
  length: values.length,
})
const metrics = (series: Record<string, ReturnType<typeof column>>, title = 'tiny') =>
  new Map(
    metricsExport({ series: new Map(Object.entries(series)), title, understory: '0.0.0' }).map(
      (file) => [file.path, textOf(file)],
    ),
  )

test('a Python file with marks is a notebook of its cells', () => {
  const python = '# %% [markdown]\n# # {{title}}\n#\n# Two\n\n# %%\nx = 1\n\ny = {{value}}\n'
  const made = JSON.parse(textOf(notebookFile('a.ipynb', python, { title: 'A', value: '2' })))
  expect(made).toMatchObject({ nbformat: 4, nbformat_minor: 5 })
  expect(made.cells).toEqual([
    { cell_type: 'markdown', id: 'cell-0', metadata: {}, source: ['# A\n', '\n', 'Two'] },
    {
      cell_type: 'code',
      id: 'cell-1',
      metadata: {},
      source: ['x = 1\n', '\n', 'y = 2'],
      execution_count: null,
      outputs: [],
    },
  ])
  expect(() => notebookFile('a.ipynb', python, { title: 'A' })).toThrow('no value for value')
})

test('a run’s metrics leave as a table, and the notebook draws the charts that it has', () => {
  const files = metrics({
    'layer/entropy/10': column(1, 2),
    'layer/entropy/2': column(3, 4),
    'critic/score/mean': column(0.1, Number.NaN, 0.5),
    'val-aux/addition/acc/greedy': column(0.2),
    'timing_s/step': column(1),
    'actor/lr': column(),
  })
  expect(files.get('metrics.csv')?.split('\n')[0]).toBe(
    'step,layer/entropy/10,layer/entropy/2,critic/score/mean,val-aux/addition/acc/greedy,timing_s/step',
  )
  const code =
    cellsOf(files.get('metrics.ipynb') ?? '')
      .at(-1)
      ?.source.join('') ?? ''
  expect(code).toContain(
    '    "Entropy of each layer’s policy (nats)": ["layer/entropy/2","layer/entropy/10"],\n',
  )
  expect(code).toContain('"Reward of sampled responses": ["critic/score/mean"]')
  expect(code).not.toContain('timing_s')
  expect(JSON.parse(files.get('understory.json') ?? '')).toMatchObject({
    format: 'understory-metrics-1',
  })
})

test('a foreign log has its first columns drawn, and nobody’s name becomes a cell or code', () => {
  const files = metrics({ 'own "loss"': column(1), '=cmd': column(1) }, 'a\n# %%\nimport os')
  const cells = cellsOf(files.get('metrics.ipynb') ?? '')
  expect(cells).toHaveLength(4)
  expect(cells[0].source[0]).toBe('# a # %% import os\n')
  expect(cells[3].source.join('')).not.toContain('=cmd')
  expect(() => metrics({})).toThrow('nothing was trained yet')
})

test('a job for TRL has a notebook beside its script, whatever the phase', async () => {
  const experiment = presetOf('tiny-grpo')?.experiment
  if (!experiment) throw new RangeError('no preset')
  const reinforced = filesOf(experiment, { target: 'trl' }).files
  const options = { target: 'trl', verl: '0.9' } as const
  const preferred = makeJob(sourceOf(await onRows(PAIRS, { beta: 0.3 })), options).files
  const taught = makeJob(taughtSource(distilled({})), options).files
  for (const [trainer, files] of [
    ['GRPOTrainer', reinforced],
    ['DPOTrainer', preferred],
    ['GKDTrainer', taught],
  ] as const) {
    const paths = files.map(({ path }) => path)
    expect(paths).toEqual(expect.arrayContaining(['train_trl.py', 'train_trl.ipynb']))
    const [notebook, mark] = ['train_trl.ipynb', 'understory.json'].map((name) =>
      files.find(({ path }) => path === name),
    )
    if (!notebook || !mark) throw new RangeError('no notebook')
    expect(cellsOf(textOf(notebook))[0].source.join('')).toContain(`TRL's ${trainer}`)
    expect(JSON.parse(textOf(mark)).files).toContain('train_trl.ipynb')
  }
})

test('the Markdown of a notebook is in the language of the page, its code is not', () => {
  const experiment = presetOf('tiny-grpo')?.experiment
  if (!experiment) throw new RangeError('no preset')
  const say = (text: string) => `说：${text}`
  const { files } = filesOf(experiment, { target: 'trl', say })
  const notebook = files.find(({ path }) => path === 'train_trl.ipynb')
  if (!notebook) throw new RangeError('no notebook')
  const cells = cellsOf(textOf(notebook))
  const texts = cells.map(({ source }) => source.join(''))
  expect(texts[0]).toMatch(
    /说：Trains[\s\S]*说：Open this file in[\s\S]*说：Open this file, run[\s\S]*说：`README/,
  )
  expect(texts.at(-1)).toMatch(/^说：The trained model/)
  expect(texts.slice(1, -1).join('')).not.toContain('说：')
})
