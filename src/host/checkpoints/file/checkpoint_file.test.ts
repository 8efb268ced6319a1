// A checkpoint that is written and read again.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { readTensor } from '../../../formats/safetensors.ts'
import { openSafetensors } from '../../../formats/safetensors_header.ts'
import { Series } from '../../columns/series.ts'
import { EVERYTHING, madeCheckpoint, tinyExperiment } from '../testing.ts'
import { decodeCheckpoint, encodeCheckpoint } from './checkpoint_file.ts'
import { FILE, plain, refusal, words } from './testing.ts'

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

  test('keeps numbers that JSON lacks, all bits of others, and which weights the run began with', async () => {
    const { run, ...rest } = madeCheckpoint(EVERYTHING, 8, 2)
    const begun_with = `sha256-${'ab'.repeat(32)}`
    const trainer = {
      ...run.trainer,
      kl_coef: Number.NaN,
      scores: [Number.NEGATIVE_INFINITY, -0],
      begun_with,
    }
    const back = await decodeCheckpoint(
      await encodeCheckpoint({ ...rest, run: { ...run, trainer } }),
      FILE,
    )
    expect(back.run.trainer.begun_with).toBe(begun_with)
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

  test('holds the weights of another model that teaches', async () => {
    const { model } = tinyExperiment({})
    const { hidden_size: C } = model
    const teacher = { hidden_size: 2 * C, source: `sha256-${'1'.repeat(64)}` }
    const made = madeCheckpoint(tinyExperiment({ teacher }))
    const kept = await decodeCheckpoint(await encodeCheckpoint(made), FILE)
    expect(kept.run.trainer.teacher).toEqual(made.run.trainer.teacher)
    const { teacher: _, ...trainer } = made.run.trainer
    await expect(encodeCheckpoint({ ...made, run: { ...made.run, trainer } })).rejects.toThrow(
      'expected a teacher, got none',
    )
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
