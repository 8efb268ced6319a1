import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maskedCrc32c } from '../../formats/tensorboard/crc32c.ts'
import {
  recordOf,
  scalarsOf,
  scalarsRecord,
  versionRecord,
} from '../../formats/tensorboard/tensorboard.ts'
import { MAX_ROWS } from '../../host/columns/thinning.ts'
import { readHeader } from '../../page/runs/record/read.ts'
import { type ImportedLog, LogError } from './base/imported_log.ts'
import { importedRun } from './imported_run.ts'
import { type LogReader, logReader, readLogs } from './read_log.ts'
import { importedRunsText } from './run_file.ts'

const utf8 = new TextEncoder()

/** A file in pieces of that many bytes. */
async function* pieces(file: Uint8Array | string, size = 7) {
  const bytes = typeof file === 'string' ? utf8.encode(file) : file
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const read = async (reader: LogReader, file: Uint8Array | string, size?: number) =>
  (await readLogs(reader, [{ name: 'log', pieces: () => pieces(file, size) }]))[0]
const column = ({ series }: ImportedLog, name: string) => {
  const { steps, values, length } = series.get(name) ?? { steps: [], values: [], length: 0 }
  return Array.from({ length }, (_, i) => [steps[i], values[i]])
}
const verl = (step: number, data: object) => `${JSON.stringify({ step, data })}\n`
const join = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]))

const metric = fc
  .string({ minLength: 1, maxLength: 20 })
  .map((name) => `m/${name.replace(/\W/g, '')}`)
const rows = fc
  .uniqueArray(fc.nat(5000), { minLength: 1, maxLength: 20 })
  .map((steps) => steps.sort((a, b) => a - b))

describe('verl’s file logger', () => {
  test('whatever was logged is read back, in pieces of any size', async () => {
    const log = fc.record({ steps: rows, name: metric, value: fc.double({ noNaN: true }) })
    await fc.assert(
      fc.asyncProperty(
        log,
        fc.integer({ min: 1, max: 60 }),
        async ({ steps, name, value }, size) => {
          const text = steps.map((step) => verl(step, { [name]: value })).join('')
          const kept = Number.isFinite(value) ? value : Number.NaN
          const found = column(await read('lines', text, size), name)
          expect(found).toEqual(steps.map((step) => [step, kept + 0]))
        },
      ),
      { numRuns: 50 },
    )
  })

  test('NaN as Python writes it is a gap, and names may hold the word', async () => {
    const log = await read('lines', '{"step": 1, "data": {"a": NaN, "NaN b": 2, "c": -Infinity}}\n')
    expect(column(log, 'a')).toEqual([[1, Number.NaN]])
    expect(column(log, 'NaN b')).toEqual([[1, 2]])
    expect(log.remarks).toEqual(['2 values are not finite and shown as gaps.'])
  })

  test('null is a value that is missing', async () => {
    const log = await read('lines', `${verl(1, { a: 1 })}{"step": 2, "data": {"a": null}}\n`)
    expect(column(log, 'a')).toEqual([
      [1, 1],
      [2, Number.NaN],
    ])
    expect(log.remarks).toEqual([
      '1 value is missing or not finite (null in the file) and shown as a gap.',
    ])
    // A history of Weights & Biases has every column in every row.
    const rows =
      '{"_step":0,"loss":1,"val":null,"x":null}\n{"_step":1,"loss":null,"val":2,"x":null}'
    const history = await read('lines', rows)
    expect([...history.series.keys()]).toEqual(['loss', 'val'])
    expect(column(history, 'loss')).toEqual([[0, 1]])
    expect(history.remarks).toEqual([])
    const state = '{"log_history": [{"step": 1, "reward": 0.5, "kl": null, "entropy": NaN}]}'
    const trl = await read('trl', state)
    expect([...trl.series.keys()].filter((name) => name.includes('kl'))).toEqual([])
    expect(trl.remarks).toEqual(['1 value is not finite and shown as gaps.'])
  })

  test('a resumed run replaces what it does again', async () => {
    const text = [1, 2, 3, 2, 3, 4].map((step, i) => verl(step, { a: i })).join('')
    const log = await read('lines', text)
    expect(column(log, 'a')).toEqual([
      [1, 0],
      [2, 3],
      [3, 4],
      [4, 5],
    ])
    expect(log.remarks.join()).toMatch(/Steps went back once,/)
  })

  test('lines that are none and a cut end are said, the rest is kept', async () => {
    const text = `${verl(1, { a: 1 })}hello\n{"step": -1, "data": {}}\n${verl(2, { a: 2 })}{"step": 3, "da`
    const log = await read('lines', text)
    expect(column(log, 'a')).toEqual([
      [1, 1],
      [2, 2],
    ])
    expect(log.remarks).toEqual([
      '2 parts of the file could not be read and were left out, the first of them line 2 (not JSON).',
      'The end of the file is cut off; what is before it was read.',
    ])
    const { header } = importedRun('a.jsonl', log, { id: 'a', now: 0, version: '0.0.0' })
    expect(header.source?.is_cut).toBe(true)
  })

  test('a long run is thinned, and says so', async () => {
    const text = Array.from({ length: MAX_ROWS + 10 }, (_, i) => verl(i, { a: i % 7 })).join('')
    const log = await read('lines', text, 65_536)
    expect(log.series.get('a')?.length).toBeLessThan(MAX_ROWS)
    expect(log.remarks.join()).toMatch(/not every step is kept any more/)
    expect(log.step).toBe(MAX_ROWS + 9)
  })

  test('a file of another kind is refused in a sentence', async () => {
    await expect(read('lines', 'a,b\n1,2\n')).rejects.toThrow(/line 1 \(not JSON\) is none of it/)
    await expect(read('lines', '')).rejects.toThrow(LogError)
  })
})

describe('TRL’s trainer_state.json', () => {
  const state = (log_history: unknown[]) =>
    JSON.stringify({ best_metric: null, epoch: 1, log_history, max_steps: 60 }, undefined, 2)

  test('its names are the lab’s, unknown ones keep theirs', async () => {
    const entries = [
      { step: 1, reward: 0.5, frac_reward_zero_std: 0.25, 'completions/mean_length': 2, odd: 3 },
      { step: 2, reward: 0.75, loss: 'text', nested: [{ a: '}"' }] },
      { step: 2, train_runtime: 5, train_loss: 1 },
    ]
    const log = await read('trl', state(entries), 3)
    expect(column(log, 'critic/score/mean')).toEqual([
      [1, 0.5],
      [2, 0.75],
    ])
    expect(column(log, 'group/informative')).toEqual([[1, 0.75]])
    expect(column(log, 'response_length/mean')).toEqual([[1, 2]])
    expect(column(log, 'trl/odd')).toEqual([[1, 3]])
    expect([...log.series.keys()].some((name) => name.includes('train_'))).toBe(false)
    expect(log.remarks).toEqual([])
  })

  test('what its evaluations say of answers is held out, that of tokens is not', async () => {
    const evaluated = { step: 2, eval_accuracy: 0.5, eval_both_accuracy: 0.75, eval_reward: 0.25 }
    const log = await read('trl', state([{ ...evaluated, eval_mean_token_accuracy: 1 }]))
    expect([...log.series.keys()]).toEqual([
      'val-core/eval/acc/mean@1',
      'val-core/both/acc/mean@1',
      'val-core/eval/reward/mean@1',
      'trl/eval_mean_token_accuracy',
    ])
  })

  test('any entries come back, in pieces of any size; a cut file keeps whole ones', async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 90 }), async (steps, size) => {
        const text = state(steps.map((step) => ({ 'x"{': '}', step, reward: step / 2 })))
        const log = await read('trl', text, size)
        const all = steps.map((step) => [step, step / 2])
        expect(column(log, 'critic/score/mean')).toEqual(all)
        const end = text.lastIndexOf('}', text.indexOf('max_steps') - 10) - 2
        if (steps.length < 2) return
        const cut = await read('trl', text.slice(0, end), size)
        expect(column(cut, 'critic/score/mean')).toEqual(all.slice(0, -1))
        expect(cut.remarks.join()).toMatch(/cut off/)
      }),
      { numRuns: 40 },
    )
  })

  test('several evaluations at one step are one step, without a remark', async () => {
    const entries = [
      { step: 30, epoch: 0.25, loss: 0.5 },
      { step: 30, epoch: 0.25, eval_letters_loss: 0.5 },
      { step: 30, epoch: 0.25, eval_digits_loss: 0.25 },
      { step: 40, epoch: 0.5, loss: 0.25 },
    ]
    const log = await read('trl', state(entries))
    expect(column(log, 'training/epoch')).toEqual([
      [30, 0.25],
      [40, 0.5],
    ])
    expect(column(log, 'trl/eval_digits_loss')).toEqual([[30, 0.25]])
    expect(log.remarks).toEqual([])
    const again = await read('trl', state([...entries, { step: 20, loss: 1 }]))
    expect(again.remarks.join()).toMatch(/Steps went back once,/)
  })

  test('older and newer names become the lab’s, functions that score become parts', async () => {
    const older = { completion_length: 20, kl: 0.5, reward_std: 0.25, 'rewards/exact': 1 }
    const newer = { 'completions/mean_length': 20, kl: 0.5, reward_std: 0.25 }
    const names = [
      { step: 1, ...older },
      { step: 1, ...newer, 'rewards/exact/mean': 1 },
    ].map(async (entry) => [...(await read('trl', state([entry]))).series.keys()].sort())
    const [a, b] = await Promise.all(names)
    expect(a).toEqual([
      'actor/kl_loss',
      'critic/score/std',
      'response_length/mean',
      'reward/exact/mean',
    ])
    expect(b).toEqual(a)
    const preferences = await read('trl', state([{ step: 1, 'rewards/chosen': 1 }]))
    expect([...preferences.series.keys()]).toEqual(['trl/rewards/chosen'])
  })

  test('JSON without the list is refused', async () => {
    await expect(read('trl', '{"step": 1}')).rejects.toThrow(/TRL’s trainer_state\.json was found/)
  })
})

describe('TensorBoard’s event files', () => {
  test('the checksum is TensorFlow’s: that of 32 zeros is 8a9136aa before masking', () => {
    const unmasked = (maskedCrc32c(new Uint8Array(32)) - 0xa282ead8) >>> 0
    expect(((unmasked >>> 17) | (unmasked << 15)) >>> 0).toBe(0x8a9136aa)
  })

  test('what is written is read back, in pieces of any size', async () => {
    const value = fc.float({ noNaN: true, noDefaultInfinity: true })
    const log = fc.record({ steps: rows, metrics: fc.dictionary(metric, value, { minKeys: 1 }) })
    await fc.assert(
      fc.asyncProperty(log, fc.integer({ min: 1, max: 200 }), async ({ steps, metrics }, size) => {
        const file = join(
          versionRecord(1.5),
          ...steps.map((step) => scalarsRecord(2, step, metrics)),
        )
        const found = await read('tensorboard', file, size)
        for (const [name, x] of Object.entries(metrics))
          expect(column(found, name)).toEqual(steps.map((step) => [step, x]))
      }),
      { numRuns: 40 },
    )
  })

  test('a spoilt record is left out, a cut end is said, other bytes are refused', async () => {
    const [a, b, c] = [1, 2, 3].map((step) => scalarsRecord(0, step, { a: step }))
    b[20] ^= 1
    const log = await read('tensorboard', join(versionRecord(0), a, b, c, c.subarray(0, 20)))
    expect(column(log, 'a')).toEqual([
      [1, 1],
      [3, 3],
    ])
    expect(log.remarks.join()).toMatch(/1 part of the file.*record 3.*cut off/s)
    await expect(read('tensorboard', 'this is a text and no record')).rejects.toThrow(
      /no event file of TensorBoard/,
    )
  })

  test('no bytes in a record do more than be left out', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), async (bytes) => {
        try {
          scalarsOf(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
        const file = join(versionRecord(0), recordOf(bytes), scalarsRecord(0, 1e9, { zz: 1 }))
        expect(column(await read('tensorboard', file), 'zz')).toContainEqual([1e9, 1])
      }),
    )
  })
})

test('two of TRL’s names of one metric are named, and the first is kept', async () => {
  const entry = { completion_length: 30, 'completions/mean_length': 31 }
  const entries = [1, 2].map((step) => ({ step, ...entry }))
  const log = await read('trl', JSON.stringify({ log_history: entries }))
  expect(column(log, 'response_length/mean')).toEqual([
    [1, 30],
    [2, 30],
  ])
  expect(log.remarks).toEqual([
    '“completion_length” and “completions/mean_length” are the same metric here, response_length/mean: “completions/mean_length” was left out.',
  ])
  const twice = await read(
    'trl',
    '{"log_history": [{"step": 1, "loss": 2}, {"step": 1, "loss": 1}]}',
  )
  expect(twice.remarks).toEqual(['1 step has two values of actor/pg_loss; the later one is kept.'])
})

describe('an imported run', () => {
  const facts = { id: 'one', now: 5, version: '1.0.0' }
  const namesOf = async (reader: LogReader, text: string) => {
    const { header, chunk } = importedRun('a', await read(reader, text), facts)
    return { names: header.source?.names, columns: Object.keys(chunk?.columns ?? {}).sort() }
  }

  test('says what its log calls a metric that has another name here', async () => {
    const trl = '{"log_history": [{"step": 1, "reward": 2, "eval_a_reward": 1, "odd": 3}]}'
    const { names } = await namesOf('trl', trl)
    expect(names).toEqual({
      'critic/score/mean': 'reward',
      'critic/rewards/mean': 'reward',
      'val-core/a/reward/mean@1': 'eval_a_reward',
    })
    const table = await namesOf('table', 'step,train/reward,train/loss\n1,0.5,1\n')
    expect(table.names).toMatchObject({
      'critic/score/mean': 'train/reward',
      'actor/pg_loss': 'train/loss',
    })
    // What the lab writes of it says it again.
    const again = importedRunsText([await read('trl', trl)])
    expect((await namesOf('lines', again)).names).toEqual(names)
  })

  test('has verl’s rewards as its score, where the log has no score', async () => {
    const rewards = verl(1, { 'critic/rewards/mean': 0.25 })
    expect(await namesOf('lines', rewards)).toEqual({
      names: { 'critic/score/mean': 'critic/rewards/mean' },
      columns: ['critic/rewards/mean', 'critic/score/mean'],
    })
    const both = verl(1, { 'critic/rewards/mean': 0.25, 'critic/score/mean': 0.5 })
    expect((await namesOf('lines', both)).names).toBeUndefined()
  })

  test('is a record that the list of runs reads, with the names by which charts ask', async () => {
    const data = { 'critic/score/mean': 1, 'val-core/understory/sort-digits/acc/mean@8': 0.5 }
    const log = await read('lines', verl(3, data))
    const { header, chunk } = importedRun('cluster.jsonl', log, facts)
    const found = readHeader(header)
    expect(found.ok).toBe(true)
    expect(header.experiment).toMatchObject({
      name: 'cluster',
      task: { id: 'sort_digits' },
      validation: { n: 8 },
    })
    const names = {
      'val-core/sort_digits/acc/mean@8': 'val-core/understory/sort-digits/acc/mean@8',
    }
    expect(header.source).toEqual({ kind: 'verl', file: 'cluster.jsonl', remarks: [], names })
    // A run of several in one file says of which.
    const own = importedRun('blue sun', log, { ...facts, file: 'wandb_export.csv' }).header
    expect([own.document.name, own.source?.file]).toEqual(['blue sun', 'wandb_export.csv'])
    expect(Object.keys(chunk?.columns ?? {})).toContain('val-core/sort_digits/acc/mean@8')
    expect(header.summaries['critic/score/mean'].last).toBe(1)
  })

  test('has as many layers as its own metrics tell', async () => {
    const layers = Object.fromEntries([3, 2, 1, 0.5].map((H, l) => [`layer/entropy/${l}`, H]))
    const model = async (data: object) =>
      importedRun('a.jsonl', await read('lines', verl(3, data)), facts).header.experiment.model
    expect((await model(layers)).num_hidden_layers).toBe(3)
    // None is made up.
    for (const data of [{ 'actor/entropy': 1 }, { ...layers, 'layer/entropy/4000': 1 }])
      expect((await model(data)).num_hidden_layers).toBe(1)
  })

  test('as a file says what it came from when it is read again', async () => {
    const text = '{"log_history": [{"step": 1, "reward": 2}, {"step": 1, "reward": NaN}]}'
    const log = await read('trl', text)
    const again = await read('lines', importedRunsText([log]))
    expect(again.kind).toBe('trl')
    expect(again.remarks.slice(0, log.remarks.length)).toEqual(log.remarks)
    expect(log.remarks).toHaveLength(2)
  })
})

test.for([
  ['metrics.jsonl', '', 'lines'],
  ['log', '{"step":1,"data":{', 'lines'],
  ['trainer_state.json', '{\n "best_metric": null', 'trl'],
  ['events.out.tfevents.1', '', 'tensorboard'],
  ['experiment.json', '{"version": 1}', undefined],
  ['photo.png', '\x89PNG', undefined],
] as const)('%s is told apart', ([name, head, kind]) => {
  expect(logReader(name, utf8.encode(head))).toBe(kind)
})

describe('which run is a seed of which setting', () => {
  const sourceOf = async (name: string, text: string, reader: LogReader = 'lines') => {
    const log = await read(reader, text)
    const { header } = importedRun(name, log, { id: 'x', now: 0, version: '1' })
    const kept = readHeader(JSON.parse(JSON.stringify(header)))
    return kept.ok ? kept.header.source : undefined
  }

  test('its name says it, or columns of the log do, which count for more', async () => {
    const plain = verl(1, { reward: 1 })
    expect(await sourceOf('grpo_seed3.jsonl', plain)).toMatchObject({ seed: 3, setting: 'grpo' })
    const alone = await sourceOf('vivid-sun-12.jsonl', plain)
    expect(alone?.seed).toBeUndefined()
    expect(alone?.setting).toBeUndefined()
    const rows = [1, 2].map((step) =>
      JSON.stringify({ _step: step, reward: step, config: { seed: 7, group: 'bupo' } }),
    )
    const told = { seed: 7, setting: 'bupo' }
    expect(await sourceOf('grpo_seed3.jsonl', rows.join('\n'))).toMatchObject(told)
    const csv = 'step,reward,seed,run_group\n1,0.5,7,bupo\n2,0.6,7,bupo\n'
    expect(await sourceOf('x.csv', csv, 'table')).toMatchObject(told)
    // What the lab writes of it says the same again.
    const log = await read('table', csv)
    expect(log.remarks.join()).not.toContain('run_group')
    expect(await sourceOf('y.jsonl', importedRunsText([log]))).toMatchObject(told)
  })

  test('a column with several values says nothing', async () => {
    const csv = 'step,reward,seed,group\n1,0.5,1,a\n2,0.6,2,b\n'
    const source = await sourceOf('x.csv', csv, 'table')
    expect(source).not.toHaveProperty('seed')
    expect(source).not.toHaveProperty('setting')
    expect(source?.remarks.join()).toContain('Not read, because it is no number: group')
  })
})
