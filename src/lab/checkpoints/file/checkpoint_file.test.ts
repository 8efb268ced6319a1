import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readTensor } from '../../../model/hf/safetensors.ts'
import { openSafetensors } from '../../../model/hf/safetensors_header.ts'
import { Series } from '../../columns/series.ts'
import type { Checkpoint } from '../checkpoint.ts'
import { EVERYTHING, madeCheckpoint, tinyExperiment } from '../testing.ts'
import { CheckpointError } from './checkpoint_error.ts'
import { decodeCheckpoint, encodeCheckpoint, sealed } from './checkpoint_file.ts'

const FILE = 'step_6.safetensors'

const rows = (series: ReadonlyMap<string, Series>) =>
  [...series].map(([name, { steps, values, length }]) => [
    name,
    [...steps.subarray(0, length)],
    [...values.subarray(0, length)],
  ])

/** Arrays as text: comparing them number by number takes seconds. */
const asText = (_: string, value: unknown): unknown =>
  ArrayBuffer.isView(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
    : typeof value === 'number' && !(Number.isFinite(value) && !Object.is(value, -0))
      ? `number ${Object.is(value, -0) ? '-0' : value}`
      : value

/** Columns grow by doubling: only what is in them counts. */
const plain = ({ history, ...rest }: Checkpoint) =>
  JSON.parse(
    JSON.stringify({ ...rest, history: { ...history, series: rows(history.series) } }, asText),
  )

const words = (checkpoint: Checkpoint, change: (strings: Record<string, string>) => void) =>
  encodeCheckpoint(checkpoint).then((bytes) => {
    const length = new DataView(bytes.buffer).getUint32(0, true)
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)))
    header.__metadata__.checksum = '0'.repeat(64)
    change(header.__metadata__)
    return withHeader(bytes, header)
  })

/** The data of a file under another header, with the checksum that belongs to it. */
function withHeader(bytes: Uint8Array, header: unknown): Promise<Uint8Array<ArrayBuffer>> {
  const length = new DataView(bytes.buffer).getUint32(0, true)
  const text = new TextEncoder().encode(JSON.stringify(header))
  const other = new Uint8Array(8 + text.length + bytes.length - 8 - length)
  new DataView(other.buffer).setUint32(0, text.length, true)
  other.set(text, 8)
  other.set(bytes.subarray(8 + length), 8 + text.length)
  return sealed(other)
}

const refusal = async (bytes: Uint8Array): Promise<CheckpointError> => {
  const decoded = await decodeCheckpoint(bytes, FILE).catch((error: unknown) => error)
  if (!(decoded instanceof CheckpointError)) throw new Error(`not refused: ${decoded}`)
  return decoded
}

describe('a checkpoint', () => {
  test('comes back as it was, with every kind of state', async () => {
    for (const checkpoint of [
      madeCheckpoint(),
      madeCheckpoint(EVERYTHING, 2, 0),
      madeCheckpoint(tinyExperiment({ phases: [{ kind: 'rl', steps: 3, target_layer: 1 }] }), 0, 0),
      madeCheckpoint(
        tinyExperiment({
          phases: [{ kind: 'rl', steps: 9 }],
          model: { hidden_size: 12, tie_word_embeddings: false },
          actor: { ppo_mini_batch_size: 2, use_kl_loss: true },
        }),
      ),
    ]) {
      const bytes = await encodeCheckpoint(checkpoint)
      const back = await decodeCheckpoint(bytes, FILE)
      expect(plain(back)).toEqual(plain(checkpoint))
      // Written again it is the same file.
      expect(Buffer.compare(await encodeCheckpoint(back), bytes)).toBe(0)
    }
  })

  test('keeps numbers that JSON has not, and all bits of others', async () => {
    const { run, ...rest } = madeCheckpoint(EVERYTHING, 8, 2)
    const trainer = { ...run.trainer, kl_coef: Number.NaN, scores: [Number.NEGATIVE_INFINITY, -0] }
    const back = await decodeCheckpoint(
      await encodeCheckpoint({ ...rest, run: { ...run, trainer } }),
      FILE,
    )
    expect(back.run.trainer.kl_coef).toBeNaN()
    expect(back.run.trainer.scores).toEqual([Number.NEGATIVE_INFINITY, -0])
    const { values } = back.history.series.get('val-aux/x/acc/greedy') ?? { values: [] }
    expect([...values.slice(0, 4)]).toEqual([Number.NaN, -0, Number.POSITIVE_INFINITY, Number.NaN])
  })

  test('keeps what is said of columns that are no longer whole, and nothing of others', async () => {
    const { history, ...rest } = madeCheckpoint()
    const [[metric, whole], ...others] = history.series
    const { steps, values, length } = whole
    const thinned = { every: 8, until: 1 }
    const lost = Series.of(steps.slice(0, length), values.slice(0, length), thinned)
    const series = new Map([[metric, lost], ...others])
    const back = await decodeCheckpoint(
      await encodeCheckpoint({ ...rest, history: { ...history, series } }),
      FILE,
    )
    expect([...back.history.series.values()].map((own) => own.thinned)).toEqual([
      thinned,
      ...others.map(() => undefined),
    ])
    for (const [written, said] of [
      [`[["${metric}",8,9999]]`, 'thinned: expected steps up to'],
      [`[["${metric}",1,1]]`, 'thinned.0.1'],
    ]) {
      const bytes = await words(madeCheckpoint(), (strings) => {
        strings.thinned = written
      })
      expect((await refusal(bytes)).message).toContain(said)
    }
  })

  test('is a safetensors file whose weights have Hugging Face’s names', async () => {
    const checkpoint = madeCheckpoint()
    const opened = openSafetensors(await encodeCheckpoint(checkpoint), FILE)
    const { weights } = checkpoint.run.trainer.actor
    const embedding = readTensor(opened, 'actor.model.embed_tokens.weight')
    expect(String(embedding)).toBe(String(weights.subarray(0, embedding.length)))
    const names = [...opened.entries.keys()]
    for (const name of [
      'actor.model.layers.1.mlp.down_proj.weight',
      'actor.adam_v.model.norm.weight',
      'reference.model.layers.0.self_attn.q_proj.weight',
      'critic.score.bias',
      'reward_model.score.weight',
      'history.actor/entropy',
    ])
      expect(names).toContain(name)
    // Wide values first: each lies at a multiple of its width.
    const start = 8 + new DataView(opened.bytes.buffer).getUint32(0, true)
    for (const { dtype, begin } of opened.entries.values())
      expect((begin - start) % (dtype === 'F64' ? 8 : 4)).toBe(0)
  })

  test('has the SHA-256 of the file with zeros in its place', async () => {
    const bytes = await encodeCheckpoint(madeCheckpoint())
    const { checksum } = openSafetensors(bytes, FILE).metadata
    const text = Buffer.from(bytes).toString('latin1').replace(checksum, '0'.repeat(64))
    expect(createHash('sha256').update(Buffer.from(text, 'latin1')).digest('hex')).toBe(checksum)
  })

  test('of version 1 has no reference that no phase uses, and is read and written again', async () => {
    const made = madeCheckpoint(tinyExperiment({ phases: [{ kind: 'rl', steps: 9 }] }))
    expect(made.run.trainer.reference).toBeDefined()
    const kept = await decodeCheckpoint(await encodeCheckpoint(made), FILE)
    expect(kept.run.trainer.reference).toEqual(made.run.trainer.reference)
    const { reference: _, ...trainer } = made.run.trainer
    const old = await encodeCheckpoint({ ...made, run: { ...made.run, trainer } })
    const back = await decodeCheckpoint(old, FILE)
    expect(back.run.trainer.reference).toBeUndefined()
    expect(back.run.trainer.actor).toEqual(made.run.trainer.actor)
    expect(await encodeCheckpoint(back)).toEqual(old)
  })

  test('that is not one of its experiment is not written', async () => {
    const { run, ...rest } = madeCheckpoint()
    const { critic: _, ...trainer } = run.trainer
    await expect(encodeCheckpoint({ ...rest, run: { ...run, trainer } })).rejects.toThrow(
      'expected the state of the critic, got none',
    )
    const weights = run.trainer.actor.weights.slice(0, -1)
    const short = { ...run.trainer, actor: { ...run.trainer.actor, weights } }
    await expect(encodeCheckpoint({ ...rest, run: { ...run, trainer: short } })).rejects.toThrow(
      /actor\..*: expected \d+ values, got/,
    )
  })
})

describe('a file that is none', () => {
  test('a lost tail, a flipped bit and an empty file are told with the place and a way out', async () => {
    const bytes = await encodeCheckpoint(madeCheckpoint())
    const cut = await refusal(bytes.subarray(0, bytes.length - 1))
    expect(cut.message).toMatch(
      /^step_6\.safetensors: expected \d+ bytes for the tensors in the header, found \d+; take an older checkpoint$/,
    )
    const flipped = bytes.slice()
    flipped[bytes.length - 100] ^= 4
    expect((await refusal(flipped)).message).toMatch(
      /^step_6\.safetensors: checksum: expected [0-9a-f]{8}… of the bytes, found [0-9a-f]{8}…; take/,
    )
    expect((await refusal(new Uint8Array(0))).message).toContain('at least 8 bytes, found 0')
  })

  test('another program’s file and one of a later version are told apart', async () => {
    const foreign = await words(madeCheckpoint(), (strings) => {
      strings.format = 'pt'
    })
    expect(await refusal(foreign)).toMatchObject({
      problem: 'foreign',
      message: expect.stringContaining("found 'pt'; open a file that the lab wrote"),
    })
    const newer = await words(madeCheckpoint(), (strings) => {
      strings.version = '3'
    })
    expect(await refusal(newer)).toMatchObject({
      problem: 'newer',
      message: `${FILE}: version: expected at most 2, found 3; it was written by a newer version, so update the lab`,
    })
  })

  test('of another vocabulary is refused with the difference; a file that does not say it is read', async () => {
    const other = await words(madeCheckpoint(), (strings) => {
      strings.tokens = strings.tokens.replace('"7"', '"seven"')
    })
    expect(await refusal(other)).toMatchObject({
      problem: 'vocabulary',
      message: expect.stringMatching(
        /token 9 is "seven" instead of "7".*Begin with a new model, or choose the task/,
      ),
    })
    const older = await words(madeCheckpoint(), (strings) => {
      Reflect.deleteProperty(strings, 'tokens')
    })
    expect((await decodeCheckpoint(older, FILE)).record).toBe(madeCheckpoint().record)
  })

  test.for<[name: string, change: (parts: Record<string, string>) => void, said: string]>([
    ['a missing part', (p) => delete p.run, 'run: expected, found nothing'],
    ['no JSON', (p) => (p.verdicts = '{'), 'verdicts: expected JSON'],
    ['deep JSON', (p) => (p.steered = '['.repeat(1e5)), 'steered: expected JSON'],
    ['a record that leads elsewhere', (p) => (p.record = '../x'), 'record: expected an id'],
    [
      'a phase that is not there',
      edit('run', { phase: 3 }),
      'run.phase: expected below 3, found 3',
    ],
    ['a count below zero', edit('run', { sample_index: -1 }), 'run.sample_index: '],
    ['half a step', edit('run', { step: 6.5 }), 'run.step: '],
    [
      'more steps of a phase than steps',
      edit('run', { phase_step: 7 }),
      'run.phase_step: expected at most 6',
    ],
    ['more done than the document says', edit('run', { done: 3 }), 'run.done: expected at most 2'],
    [
      'pairs of another phase',
      edit('run', { pairs_of: 0 }),
      'run.pairs_of: expected a reward_model phase',
    ],
    ['pairs of no phase', edit('run', { pairs_of: null }), 'preferences: expected none'],
    ['an unknown reason', edit('run', { ends: 'boredom' }), 'run.ends: '],
    [
      'a place that is not in line',
      edit('preferences', { queue: [9] }),
      'preferences: expected places below 2, found 9',
    ],
    [
      'more verdicts than pairs',
      edit('preferences', { decided: 'aaaa'.split('') }),
      'preferences: expected at most 3 verdicts',
    ],
    [
      'a pair more than there are tokens of',
      edit('preferences', { asked: [] }),
      'preferences: expected at most 0 verdicts',
    ],
    ['an experiment that is none', edit('experiment', { seed: 'x' }), 'experiment.seed: '],
    [
      'a larger model',
      (p) => {
        for (const name of ['experiment', 'document'])
          edit(name, { model: { ...EVERYTHING.model, hidden_size: 1024 } })(p)
      },
      'tensor actor.model.embed_tokens.weight: expected F32',
    ],
    ['a document that is none', edit('document', { phases: [] }), 'document.phases: '],
    ['kernels that are none', edit('made_on', { kernels: '?' }), 'made_on.kernels: '],
    [
      'phases out of order',
      (p) =>
        (p.phase_switches =
          '[{"step":2,"phase":1,"reason":"steps"},{"step":1,"phase":2,"reason":"steps"}]'),
      'phase_switches: expected phases in order',
    ],
    [
      'an action that is none',
      (p) => (p.steered = '[{"entry":{"step":1,"kind":"fly"}}]'),
      'steered: expected what can be done',
    ],
    [
      'verdicts that are none',
      (p) => (p.verdicts = '{"1":"abc"}'),
      'verdicts.1: expected verdicts',
    ],
    [
      'a metric twice',
      (p) => (p.metrics = '[["a",0],["a",0]]'),
      'metrics: expected each name once',
    ],
    [
      'a metric without numbers',
      (p) => (p.metrics = '[["a",0]]'),
      'tensor history.a: expected F64 [7], found nothing',
    ],
    [
      'a metric left out',
      (p) => (p.metrics = p.metrics.replace(',["actor/entropy",0]', '')),
      'tensor history.actor/entropy: expected no tensor',
    ],
    [
      'steps beyond the last',
      edit('run', { step: 5, phase_step: 2, stage_step: 2 }),
      'tensor history.steps.0: expected at most 6 values, found 7',
    ],
  ])('%s is refused even under a right checksum', async ([, change, said]) => {
    const { message } = await refusal(await words(madeCheckpoint(), change))
    expect(message).toContain(`${FILE}: ${said}`)
    expect(message).toMatch(/; take an older checkpoint$/)
  })

  test('tokens beyond the vocabulary are refused', async () => {
    const checkpoint = madeCheckpoint()
    checkpoint.run.trainer.reward_model?.preferences?.asked[1].b.row.input_ids.fill(4000)
    const { message } = await refusal(await encodeCheckpoint(checkpoint))
    expect(message).toMatch(/preferences: expected tokens below \d+, found 4000/)
  })

  test('whatever happens to its bytes, it is refused or the same', {
    timeout: 300_000,
  }, async () => {
    const checkpoint = madeCheckpoint(tinyExperiment({ phases: [{ kind: 'rl', steps: 9 }] }), 6, 0)
    const bytes = await encodeCheckpoint(checkpoint)
    const right = plain(await decodeCheckpoint(bytes, FILE))
    const length = 8 + new DataView(bytes.buffer).getUint32(0, true)
    const place = fc.oneof(fc.nat(length), fc.nat(bytes.length - 1))
    const change = fc.record({
      at: place,
      byte: fc.nat(255),
      cut: fc.option(place),
      seals: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        let changed = bytes.slice()
        for (const { at, byte, cut } of changes) {
          changed[at] = byte
          if (cut !== null) changed = changed.slice(0, cut)
        }
        // Under a checksum that fits, too.
        if (changes[0].seals) changed = await sealed(changed).catch(() => changed)
        const decoded = await decodeCheckpoint(changed, FILE).catch((error: unknown) => error)
        if (decoded instanceof CheckpointError) return
        if (changes[0].seals) expect(decoded).toHaveProperty('run')
        else expect(plain(decoded as Checkpoint)).toEqual(right)
      }),
      { numRuns: Number(process.env.HOSTILE_RUNS ?? 1000) },
    )
  })
})

/** Other values in one part. */
function edit(name: string, values: object) {
  return (parts: Record<string, string>) => {
    parts[name] = JSON.stringify({ ...JSON.parse(parts[name]), ...values })
  }
}
