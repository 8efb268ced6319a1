import { describe, expect, test } from 'vitest'
import type { ImportedLog } from '../base/imported_log.ts'
import { importedRun } from '../imported_run.ts'
import { logReader, readLogs } from '../read_log.ts'
import { importedRunsText } from '../run_file.ts'
import { printedNumber } from './python_literal.ts'
import { isLogFile } from './told_by_head.ts'

const utf8 = new TextEncoder()

async function* pieces(text: string) {
  const bytes = utf8.encode(text)
  for (let at = 0; at < bytes.length; at += 13) yield bytes.subarray(at, at + 13)
}

const readAll = (name: string, text: string) => {
  const reader = logReader(name, utf8.encode(text))
  if (!reader) throw new Error('no log')
  return readLogs(reader, [{ name, pieces: () => pieces(text) }])
}
const read = async (name: string, text: string) => (await readAll(name, text))[0]
const column = ({ series }: ImportedLog, name: string) => {
  const { steps, values, length } = series.get(name) ?? { steps: [], values: [], length: 0 }
  return Array.from({ length }, (_, i) => [steps[i], values[i]])
}

test.for([
  ['1e-06', 1e-6],
  ['np.float64(812.5)', 812.5],
  ['np.int64(3)', 3],
  ["tensor(0.25, device='cuda:0')", 0.25],
  ['np.float64(nan)', Number.NaN],
  ['-inf', -Infinity],
  ['True', 1],
  ['1_000', 1000],
  ['1.5s', undefined],
  ['info', undefined],
] as const)('%s is the number %s', ([text, number]) => {
  expect(printedNumber(text)).toEqual(number)
})

describe('verl’s console', () => {
  const ESC = String.fromCharCode(27)
  const task = `${ESC}[36m(TaskRunner pid=4711, ip=10.0.0.1)${ESC}[0m `

  test('lines are found behind colours, processes, times and bars, and other lines are passed over', async () => {
    const log = await read(
      'train.log',
      [
        "(main_task pid=1) {'trainer': {'logger': ['console'], 'total_epochs': 15}}",
        `${task}Training Progress:   0%|          | 0/4 [00:00<?, ?it/s]`,
        '[36m(TaskRunner pid=4711)[0m step:0 - val-core/own/reward/mean@1:0.1',
        `${task}("Initial validation metrics: {'val-core/own/reward/mean@1': np.float64(0.1)}")`,
        '(WorkerDict pid=4712) INFO a step:3 of something else',
        `2026-01-02 03:04:05,678 INFO: step:1 - actor/pg_loss:-0.001 - critic/score/mean:np.float64(0.5) - perf/n:np.int64(3)\r`,
        `${task}Training Progress:  50%|█████     | 2/4 [00:03<00:03]step:2 - actor/pg_loss:1e-06 - critic/score/mean:nan - timing_s/step:3.25 [repeated 2x across cluster]`,
        `step:3 - actor/pg_loss:0.125 - critic/score/mean:0.75Training Progress: 75%|███ | 3/4 [00:03<00:01]\rstep:4 - actor/pg_loss:inf`,
      ].join('\n'),
    )
    expect(log.kind).toBe('verl_console')
    expect(column(log, 'val-core/own/reward/mean@1')).toEqual([[0, 0.1]])
    expect(column(log, 'actor/pg_loss')).toEqual([
      [1, -0.001],
      [2, 1e-6],
      [3, 0.125],
      [4, Number.NaN],
    ])
    expect(column(log, 'critic/score/mean')).toEqual([
      [1, 0.5],
      [2, Number.NaN],
      [3, 0.75],
    ])
    expect(column(log, 'perf/n')).toEqual([[1, 3]])
    expect(column(log, 'timing_s/step')).toEqual([[2, 3.25]])
    expect(log.remarks).toEqual(['2 values are not finite and shown as gaps.'])
  })

  test('a log that ends before the last step of its progress bar is cut off there', async () => {
    const bar = `${task}Training Progress:   0%|          | 0/4 [00:00<?, ?it/s]`
    const lines = [1, 2, 3, 4].map((step) => `step:${step} - actor/pg_loss:0.5`)
    const cut = await read('train.log', [bar, ...lines.slice(0, 3)].join('\n'))
    expect([cut.step, cut.planned, cut.isCut]).toEqual([3, 4, true])
    const { header } = importedRun('train.log', cut, { id: 'a', now: 0, version: '0.0.0' })
    expect(header.experiment.phases[0].steps).toBe(4)
    const [again] = await readAll('again.jsonl', importedRunsText([cut]))
    expect([again.planned, again.isCut]).toEqual([4, true])
    expect((await read('train.log', [bar, ...lines].join('\n'))).isCut).toBe(false)
    expect((await read('train.log', lines.join('\n'))).isCut).toBe(false)
  })

  test('a line that was broken is one, and a resumed run is said', async () => {
    const log = await read(
      'out.txt',
      [
        'step:1 - actor/entropy:1.5 - critic/sc',
        'ore/mean:0.25 - actor/lr:1e-06',
        `${task}step:2 - actor/entropy:1.25 -`,
        `${task}critic/score/mean:0.5 - actor/lr:1e-06`,
        'step:3 - actor/entropy:1.0',
        'step:2 - actor/entropy:0.5 - a - b/mean:2.0',
      ].join('\n'),
    )
    expect(column(log, 'critic/score/mean')).toEqual([
      [1, 0.25],
      [2, 0.5],
    ])
    expect(column(log, 'actor/entropy')).toEqual([
      [1, 1.5],
      [2, 0.5],
    ])
    expect(column(log, 'a - b/mean')).toEqual([[2, 2]])
    expect(log.remarks).toEqual([expect.stringMatching(/Steps went back once,/)])
  })
})

describe('TRL’s console', () => {
  test('steps are those of the progress bar below an entry, evaluations those of the step before', async () => {
    const entry = (i: number) =>
      `{'loss': 0.0, 'grad_norm': nan, 'reward': ${i / 10}, 'rewards/exact/mean': 1, 'completions/mean_length': 33.5, 'epoch': ${i / 6}}`
    const text = [1, 2, 3].flatMap((i) => [
      ` ${i * 20}%|███▎      | ${i * 10}/50 [00:02<00:05,  1.02s/it]\r${entry(i)}\r ${i * 20}%|█ | ${i * 10}/50 [00:02<00:05,  1.02s/it]`,
      i === 2
        ? "100%|██████| 7/7 [00:01<00:00]{'eval_loss': '0.5', 'eval_runtime': '1.25', 'epoch': '0.33'}"
        : '',
    ])
    const log = await read(
      'train.log',
      `${text.join('\n')}\n{'train_runtime': 6.1, 'epoch': 1.0}\n`,
    )
    expect(log.kind).toBe('trl_console')
    expect(column(log, 'critic/score/mean')).toEqual([
      [10, 0.1],
      [20, 0.2],
      [30, 0.3],
    ])
    expect(column(log, 'trl/eval_loss')).toEqual([[20, 0.5]])
    expect(column(log, 'reward/exact/mean')).toHaveLength(3)
    expect(column(log, 'response_length/mean')).toHaveLength(3)
    expect(log.remarks[0]).toMatch(/3 values are not finite|progress bar/)
    expect(log.remarks.join()).toMatch(/those of the progress bar/)
  })

  test('the bar may stand above an entry, or below it alone', async () => {
    const entry = (i: number) => `{'loss': '0.5', 'learning_rate': '1e-06', 'epoch': '${i / 3}'}`
    const bar = (i: number) => ` ${i}/6 [00:01<00:05,  1.02s/it]`
    const above = [1, 2, 3].map((i) => `${bar(2 * i - 1)}\n${bar(2 * i)}\n${entry(i)}`).join('\n')
    const below = [1, 2, 3].map((i) => `${entry(i)}\n${bar(2 * i)}`).join('\n')
    for (const text of [above, below, `${above}\n${bar(6)}`])
      expect(column(await read('a.txt', text), 'actor/lr')).toEqual([
        [2, 1e-6],
        [4, 1e-6],
        [6, 1e-6],
      ])
  })

  test('without bars entries are counted, times the logging_steps that the text names; that is said', async () => {
    const entries = [1, 2].map((i) => `{'loss': ${i}, 'epoch': ${i}}`).join('\nsome line\n')
    const plain = await read('a.log', entries)
    expect(column(plain, 'actor/pg_loss')).toEqual([
      [1, 1],
      [2, 2],
    ])
    expect(plain.remarks.join()).toMatch(/counted from 1/)
    const named = await read('a.log', `TrainingArguments(logging_steps=5, x=1)\n${entries}`)
    expect(column(named, 'actor/pg_loss').map(([step]) => step)).toEqual([5, 10])
    expect(named.remarks.join()).toMatch(/times the logging_steps/)
    const own = await read('a.log', "{'loss': 1, 'epoch': 1, 'step': 70}")
    expect(column(own, 'actor/pg_loss')).toEqual([[70, 1]])
  })

  test('a dict over several lines is one entry', async () => {
    const log = await read('a.log', "{'loss': 1.5,\n 'reward': np.float64(2.0),\n 'epoch': 0.5}\n")
    expect(column(log, 'critic/score/mean')).toEqual([[1, 2]])
  })
})

describe('tables and lines with a column of steps', () => {
  test('objects in JSON lines are names with slashes, names stay, texts are said', async () => {
    const log = await read(
      'history.jsonl',
      [
        '{"_step": 0, "_runtime": 1.5, "train": {"loss": 0.5, "deep": {"x": "NaN"}}, "note": "hi"}',
        '{"_step": 1, "_runtime": 2.5, "train": {"loss": 0.25}, "val/acc": "0.75"}',
      ].join('\n'),
    )
    expect(log.kind).toBe('json_lines')
    expect(column(log, 'train/loss')).toEqual([
      [0, 0.5],
      [1, 0.25],
    ])
    expect(column(log, 'train/deep/x')).toEqual([[0, Number.NaN]])
    expect(column(log, 'val/acc')).toEqual([[1, 0.75]])
    expect([...log.series.keys()]).not.toContain('_step')
    expect(log.remarks.join()).toMatch(/because it is no number: note\./)
  })

  test.for([
    'step',
    'global_step',
    '_step',
    'iteration',
    'trainer/global_step',
    'training/global_step',
  ])('%s counts the steps', async (name) => {
    const lines = await read('a.jsonl', `{"${name}": 7, "loss": 1}\n`)
    expect(column(lines, 'loss')).toEqual([[7, 1]])
    const table = await read('a.csv', `${name},loss\n7,1\n8,\n9,nan\n`)
    expect(table.kind).toBe('csv')
    expect(column(table, 'loss')).toEqual([
      [7, 1],
      [9, Number.NaN],
    ])
  })

  test('an export of Weights & Biases has a run for each of its runs', async () => {
    const [small, other] = await readAll(
      'wandb.csv',
      [
        '"Step","small - a - score/mean","small - a - score/mean__MIN","small - a - score/mean__MAX","other - score/mean"',
        '"0","0.000","0.000","0.000",""',
        '"1","0.100","0.100","0.100","0.5"',
      ].join('\n'),
    )
    expect([small.run, small.kind, other.run]).toEqual(['small - a', 'wandb', 'other'])
    expect([...small.series.keys()]).toEqual(['score/mean'])
    expect(column(other, 'score/mean')).toEqual([[1, 0.5]])
    const [binned] = await readAll('w.csv', '"Step","r - m","r - m__MIN"\n"0","1","0"\n')
    expect(column(binned, 'm__MIN')).toEqual([[0, 0]])
  })

  test('TRL’s names under the prefix of Weights & Biases are TRL’s, others stay', async () => {
    const names = ['train/reward', 'train/rewards/exact/mean', 'eval/reward', 'train/odd']
    const ours = ['critic/score/mean', 'critic/rewards/mean', 'reward/exact/mean']
    const all = [...ours, 'val-core/eval/reward/mean@1', 'train/odd']
    const values = names.map((name) => `"${name}":0.5`).join()
    for (const text of [
      `{"_step":3,"_timestamp":1.5,${values}}\n`,
      `_step,_timestamp,${names}\n3,1.5,0.5,0.5,0.5,0.5\n`,
      `Step,${names.map((name) => `r - ${name}`)}\n3,0.5,0.5,0.5,0.5\n`,
    ]) {
      const log = await read(text.startsWith('{') ? 'a.jsonl' : 'a.csv', text)
      expect([...log.series.keys()].filter((name) => name !== '_timestamp')).toEqual(all)
      for (const name of all) expect(column(log, name)).toEqual([[3, 0.5]])
    }
  })

  test.each([
    ['reward', 'entropy'],
    ['reward/mean', 'entropy/mean'],
    ['mean_reward', 'policy/entropy'],
  ])('what is plainly the reward and the entropy has the lab’s names: %s, %s', async (...own) => {
    const log = await read('a.csv', `step,${own},reward_weight\n3,0.5,1.5,2\n`)
    expect([...log.series.keys()]).toEqual(['critic/score/mean', 'actor/entropy', 'reward_weight'])
    expect(column(log, 'actor/entropy')).toEqual([[3, 1.5]])
    // Two that could be it are left as they are.
    const two = await read('a.csv', 'step,reward,rewards/mean\n3,0.5,1.5\n')
    expect([...two.series.keys()]).toEqual(['reward', 'rewards/mean'])
  })

  test('words among the numbers of a column are gaps, and are counted', async () => {
    const table = await read('a.csv', 'step,score,note\n1,abc,ok\n2,0.5,ok\n3,abc,ok\n')
    expect(column(table, 'score')).toEqual([
      [1, Number.NaN],
      [2, 0.5],
      [3, Number.NaN],
    ])
    expect(table.remarks).toEqual([
      'Not read, because it is no number: note.',
      '2 values are no number and shown as gaps.',
    ])
    const lines = await read('a.jsonl', '{"step":1,"score":2}\n{"step":2,"score":"abc"}\n')
    expect(column(lines, 'score')[1]).toEqual([2, Number.NaN])
    expect(lines.remarks).toEqual(['1 value is no number and shown as a gap.'])
  })

  test('the first time stamp of Weights & Biases says when the run began', async () => {
    const rowsFrom = (at: number) =>
      [0, 1].map((i) => `{"_step": ${i}, "_timestamp": ${at + i}, "score": 1}`).join('\n')
    const begun = async (at: number) => {
      const log = await read('a.jsonl', rowsFrom(at))
      return importedRun('a.jsonl', log, { id: 'a', now: 7, version: '0' }).header.source?.begun
    }
    expect(await begun(1_764_500_000.5)).toBe(1_764_500_000_500)
    expect(await begun(3)).toBeUndefined()
  })

  test('a list of rows, as pandas writes it, is a log; one that was cut off says so', async () => {
    const text = '[{"step": 0, "score": 0.5}, {"step": 1, "score": null}, {"step": 2, "score": 1}]'
    const log = await read('a.json', text)
    expect(log.kind).toBe('json_lines')
    expect(column(log, 'score')).toEqual([
      [0, 0.5],
      [2, 1],
    ])
    expect(log.isCut).toBe(false)
    expect((await read('a.json', text.slice(0, -20))).isCut).toBe(true)
  })

  test('steps whose values are all null are no log, and that is said', async () => {
    await expect(
      read('a.jsonl', '{"step": 0, "score": null, "loss": null}\n'.repeat(3)),
    ).rejects.toThrow(
      'It counts steps, but has no number beside them: null is all that it has for score, loss.',
    )
    const late = '{"step": 0, "score": null}\n{"step": 1, "score": 2}\n'
    expect(column(await read('a.jsonl', late), 'score')).toEqual([[1, 2]])
  })

  test('a line that is broken is left out, and said', async () => {
    const log = await read('a.jsonl', '{"loss":1.2,"step":1}\n{oops\n')
    expect(column(log, 'loss')).toEqual([[1, 1.2]])
    expect(log.remarks.join()).toContain('the first of them line 2 (not JSON).')
  })

  test('what has no such column is refused with what was looked for', async () => {
    await expect(read('a.jsonl', '{"epoch": 1, "loss": 2}\n')).rejects.toThrow(
      /No column counts the steps\. Looked for step, global_step.*; found epoch, loss\./,
    )
    await expect(read('a.csv', 'epoch,loss\n1,2\n')).rejects.toThrow(/Looked for step/)
    await expect(read('a.log', 'hello\n')).rejects.toThrow(/Looked for the lines of verl/)
  })
})

test.for([
  ['a.csv', 'Step,loss\n1,2\n', true],
  ['a.csv', 'step,prompt,answer\n1,a,2\n', false],
  ['a.csv', 'question,answer\n1+1,2\n', false],
  ['a.jsonl', '{"_step": 1, "loss": 2}\n', true],
  ['a.jsonl', '{"loss": 1.2, "reward": 0.1, "epoch": 0.1}\n{oops\n', true],
  ['a.jsonl', '{"step": 1, "prompt": "a", "answer": 2, "level": 3}\n', false],
  ['a.jsonl', '{"step": 1, "data": {"a": 1}}\n', true],
  ['a.jsonl', '{"step": 0, "reward": null, "loss": null}\n', true],
  ['a.jsonl', '{"id": 0, "reward": null}\n', false],
  ['a.json', '[{"step": 0, "reward": 0.5}, {"step": 1', true],
  ['a.json', '[{"question": "1+1", "answer": 2}]', false],
  ['a.json', '{"data": [{"step": 0, "reward": 0.5}]}', false],
  ['a.txt', 'Once upon a time.\nstep: 3 - stir\n', false],
  ['a.txt', 'x\n(TaskRunner pid=1) step:3 - actor/lr:0.5\n', true],
  ['b.txt', "x {'loss': 0.5, 'epoch': 0.1}", true],
] as const)('%s with %j is a log: %s', ([name, head, isLog]) => {
  expect(isLogFile(name, head)).toBe(isLog)
})
