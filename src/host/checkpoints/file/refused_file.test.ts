// Files that are no checkpoint, or one that was changed.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EVERYTHING, madeCheckpoint, tinyExperiment } from '../testing.ts'
import type { Checkpoint } from './checkpoint.ts'
import { CheckpointError } from './checkpoint_error.ts'
import { decodeCheckpoint, encodeCheckpoint, sealed } from './checkpoint_file.ts'
import { FILE, plain, refusal, words } from './testing.ts'

describe('a file that is none', () => {
  test('a lost tail, a flipped bit and an empty file are told with the place and a way out', async () => {
    const bytes = await encodeCheckpoint(madeCheckpoint())
    const cut = await refusal(bytes.subarray(0, bytes.length - 1))
    expect(cut.message).toMatch(
      /^step_6\.safetensors: expected \d+ bytes for the tensors in the header, found \d+: it is cut off; download or copy it again; take an older checkpoint$/,
    )
    const flipped = bytes.slice()
    flipped[bytes.length - 100] ^= 4
    expect((await refusal(flipped)).message).toMatch(
      /^step_6\.safetensors: checksum: expected [0-9a-f]{8}… of the bytes, found [0-9a-f]{8}…; take/,
    )
    expect((await refusal(new Uint8Array(0))).message).toContain('found an empty file')
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
      'run.pairs_of: expected a reward_model or preference phase',
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
    checkpoint.run.trainer.preferences?.asked[1].b.row.input_ids.fill(4000)
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
