import { parquetReadObjects } from 'hyparquet'
import { describe, expect, test } from 'vitest'
import { presetOf } from '../document/presets/presets.ts'
import type { ResponsePair } from '../rl/reward/pairs.ts'
import { makeJob } from './job_files.ts'
import {
  experimentOf,
  filesOf,
  onRows,
  PAIRS,
  sourceOf,
  textsOf,
  VERDICTS,
  withVectors,
} from './testing.ts'

const TRL = { target: 'trl' } as const

async function rowsIn(files: ReturnType<typeof filesOf>['files'], path: string) {
  const [first] = [...(files.find((file) => file.path === path)?.pieces ?? [])]
  if (!first) throw new Error(`no ${path}`)
  const file = new Uint8Array(first).buffer
  return parquetReadObjects({ file })
}

describe('a job of preferences', () => {
  test('DPO has the pairs of the file and TRL’s names', async () => {
    const experiment = await onRows(PAIRS, { rpo_alpha: 0.2, ld_alpha: 0.5, beta: 0.3 })
    const { files, text } = filesOf(experiment, TRL)
    const [train, val] = [
      await rowsIn(files, 'data/train.parquet'),
      await rowsIn(files, 'data/val.parquet'),
    ]
    expect([train.length, val.length]).toEqual([16, 4])
    for (const row of [...train, ...val]) expect(PAIRS).toContainEqual(row)
    const script = text.get('train_trl.py') ?? ''
    for (const line of [
      'from trl import DPOConfig, DPOTrainer',
      '    loss_type=["sigmoid", "sft"],',
      '    loss_weights=[1, 0.2],',
      '    beta=0.3,',
      '    ld_alpha=0.5,',
      '    max_steps=2,',
      '    per_device_train_batch_size=4,',
      '    warmup_steps=10,',
    ])
      expect(script).toContain(`${line}\n`)
    expect(script).not.toContain('label_smoothing')
    expect(text.get('README.md')).toContain("a job for TRL's DPOTrainer.")
    const spec = JSON.parse(text.get('understory.json') ?? '{}')
    expect(experimentOf(spec.experiment)).toEqual(experiment)
  })

  test('what was changed by hand is named', async () => {
    const change = { step: 1, kind: 'set', path: 'phases.0.optim.lr', value: 0.0013 } as const
    const experiment = experimentOf({ ...(await onRows(PAIRS, {})), steering: [change] })
    const told = /steering \(phase 1 lr 0\.0013 .*after step 1\): a job is not steered/
    expect(filesOf(experiment, TRL).text.get('README.md')).toMatch(told)
    const kept = { ...sourceOf({ ...experiment, steering: [] }), changes: [change] }
    const { text } = textsOf(makeJob(kept, { ...TRL, verl: '0.9' }))
    expect(text.get('README.md')).toMatch(told)
  })

  test('KTO has single answers in the order of the file, or pairs taken apart', async () => {
    const single = filesOf(await onRows(VERDICTS, { loss_type: 'kto', undesirable_weight: 2 }), TRL)
    const rows = await rowsIn(single.files, 'data/train.parquet')
    const places = rows.map(({ prompt }) => VERDICTS.findIndex((one) => one.prompt === prompt))
    expect(rows).toEqual(places.map((i) => VERDICTS[i]))
    expect(places).toEqual([...places].sort((a, b) => a - b))
    const script = single.text.get('train_trl.py') ?? ''
    expect(script).toContain('from trl import KTOConfig, KTOTrainer\n')
    expect(script).toContain('    per_device_train_batch_size=8,\n')
    expect(script).toContain('    undesirable_weight=2,\n')
    const apart = filesOf(await onRows(PAIRS, { loss_type: 'kto' }), TRL)
    const [first] = [(await rowsIn(apart.files, 'data/train.parquet')).slice(0, 8)]
    expect(first.map(({ label }) => label)).toEqual([1, 1, 1, 1, 0, 0, 0, 0].map(Boolean))
  })

  test('SimPO and ORPO are in trl.experimental, and the README says so', async () => {
    const simpo = filesOf(await onRows(PAIRS, { loss_type: 'simpo', cpo_alpha: 0 }), TRL).text
    expect(simpo.get('train_trl.py')).toContain('from trl.experimental.cpo import CPOConfig')
    expect(simpo.get('train_trl.py')).toContain('    loss_type="simpo",\n')
    const orpo = filesOf(await onRows(PAIRS, { loss_type: 'orpo' }), TRL).text
    expect(orpo.get('train_trl.py')).toContain('from trl.experimental.orpo import ORPOConfig')
    expect(orpo.get('train_trl.py')).not.toContain('loss_type')
    expect(orpo.get('README.md')).toMatch(/cross-entropy is of prompts too.*\n.*trl\.experimental/)
  })

  test.for<[object, object, RegExp]>([
    [{ label_smoothing: 0.1 }, {}, /label_smoothing is 0\.1: TRL 1\.13 ignores it .* sigmoid/],
    [{ reference_free: true }, {}, /reference_free is true: TRL 1\.13 no longer has it/],
    [{ loss_type: 'simpo', rpo_alpha: 1 }, {}, /rpo_alpha is 1: CPOTrainer adds no such loss/],
    [{}, { target_layer: 1 }, /phases\.0\.target_layer is 1: TRL trains the whole model/],
    [
      {},
      { optim: { lr_warmup_steps: null, lr_warmup_steps_ratio: 0.1 } },
      /write the warm-up in steps/,
    ],
  ])('%j %j is refused by name', async ([preference, change, why]) => {
    const experiment = await onRows(PAIRS, preference, change)
    expect(() => filesOf(experiment, TRL)).toThrow(why)
  })

  test('steering vectors are refused, and verl and the fork have no such trainer', async () => {
    const experiment = await onRows(PAIRS, {})
    expect(() => filesOf(withVectors(experiment), TRL)).toThrow(
      'model.steering_vectors.trainable is true: TRL trains no steering vectors',
    )
    for (const target of ['verl', 'bupo'] as const)
      expect(() => filesOf(experiment, { target })).toThrow(
        /phases\.0\.kind is preference: .* has no trainer of preferences; export for TRL/,
      )
  })

  test('pairs that the policy makes come from a run that has made them', () => {
    const experiment = experimentOf({
      phases: [{ kind: 'preference', pairs: { count: 2, held_out: 1 } }],
    })
    const source = sourceOf(experiment)
    expect(() => makeJob(source, { target: 'trl', verl: '0.9' })).toThrow(
      /pairs\.source is judge: the policy makes these pairs .* export that run/,
    )
    const online = presetOf('dpo-tiny')?.experiment
    expect(() => filesOf(online ?? experiment, TRL)).toThrow(/phases\.1\.refresh_steps is 5/)
    const ids = new Uint32Array()
    const row = { input_ids: ids, attention_mask: ids, position_ids: ids }
    const judged = ['x', 'y', 'z'].map(
      (prompt): ResponsePair => ({
        prompt,
        a: { row, text: 'bad', is_ended: true, score: 0 },
        b: { row, text: 'good', is_ended: true, score: 1 },
      }),
    )
    const state = { judged, asked: [], ties: 0, decided: [], log: [], replayed: 0 }
    const pairs = { of: 0, state: { ...state, queue: [], passes: 0 } }
    const { files } = makeJob({ ...source, pairs }, { target: 'trl', verl: '0.9' })
    return Promise.all(
      (['train', 'val'] as const).map(async (side) =>
        expect(await rowsIn(files, `data/${side}.parquet`)).toEqual(
          (side === 'train' ? ['x', 'y'] : ['z']).map((prompt) => ({
            prompt,
            chosen: 'good',
            rejected: 'bad',
          })),
        ),
      ),
    )
  })
})
