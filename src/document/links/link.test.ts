import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newPhase, parseExperiment, withField } from '../experiment/experiment.ts'
import { PHASE_KINDS } from '../experiment/fields/phases.ts'
import { experimentFields } from '../experiment/form/form.ts'
import type { Field } from '../experiment/form/form_fields.ts'
import type { Experiment } from '../experiment/schema/schema.ts'
import { PRESETS } from '../presets/presets.ts'
import { decodeLink, encodeLink, MAX_LINK_LENGTH } from './link.ts'

const first = PRESETS[0].experiment

/** Of each property; HOSTILE_RUNS tries more of them, and every preset with every list of
 * phases. */
const RUNS = process.env.HOSTILE_RUNS === undefined ? undefined : Number(process.env.HOSTILE_RUNS)
const TIMEOUT_MS = RUNS === undefined ? 60_000 : 3_600_000

/** Some value of a field, legal for the field alone. */
function anyValue(field: Field): fc.Arbitrary<unknown> {
  const { min, max } = field
  switch (field.kind) {
    case 'integer':
      return fc.oneof(
        fc.integer({ min: min as number, max: max as number }),
        fc.constantFrom(min, max),
      )
    case 'number':
      return fc.double({ min: min as number, max: max as number, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'select':
      return fc.constantFrom(...(field.options ?? []).map(({ value }) => value))
    case 'text':
      if (field.path.endsWith('rollout_rs'))
        return fc.constantFrom('', 'token_k1', 'token_k1,seq_max_k2')
      if (field.path.endsWith('rollout_rs_threshold'))
        return fc.constantFrom('', '2', '0.5_2', '0.5_2,3')
      if (field.path === 'kernels')
        return fc.constantFrom('', 'default', '*:vector_4x4', 'nt_m64_n32_k16:skinny_8x16')
      if (field.path.endsWith('verdicts')) return fc.constantFrom('', 'ab', 'absu', 'a2b10u')
      return fc.string({ unit: 'grapheme', maxLength: 20 })
  }
}

/** A preset after some edits, phases added and removed among them; edits that break a rule are left
 * out. */
const anyExperiment: fc.Arbitrary<Experiment> = fc
  .tuple(
    fc.constantFrom(...PRESETS),
    fc.option(fc.array(fc.constantFrom(...PHASE_KINDS), { minLength: 1, maxLength: 4 })),
    fc.array(fc.tuple(fc.nat(), fc.infiniteStream(fc.nat())), { maxLength: 8 }),
  )
  .chain(([{ experiment }, kinds, edits]) => {
    const phases = kinds?.map((kind) => newPhase(kind, experiment.phases))
    const start = phases ? withField(experiment, 'phases', phases) : undefined
    const from = start?.ok ? start.experiment : experiment
    const fields = experimentFields(from)
    return fc
      .tuple(
        ...edits.map(([nat]) => {
          const field = fields[nat % fields.length]
          return anyValue(field).map((value) => [field.path, value] as const)
        }),
      )
      .map((changes) =>
        changes.reduce((before, [path, value]) => {
          const result = withField(before, path, value)
          return result.ok ? result.experiment : before
        }, from),
      )
  })

test(
  'a link brings back exactly the experiment it was made from',
  () => {
    let changed = 0
    fc.assert(
      fc.property(anyExperiment, (experiment) => {
        const link = encodeLink(experiment)
        if (link.split('&').length > 2) changed++
        const decoded = decodeLink(link)
        expect(decoded.notices, link).toEqual([])
        expect(decoded.experiment, link).toEqual(experiment)
      }),
      { numRuns: RUNS ?? 20, seed: 1 },
    )
    expect(changed).toBeGreaterThan((RUNS ?? 20) / 2)
  },
  TIMEOUT_MS,
)

test('every preset has the shortest link, and a few edits stay readable', () => {
  for (const { id, experiment } of PRESETS) {
    expect(encodeLink(experiment)).toBe(`v=1&p=${id}`)
    expect(decodeLink(`?v=1&p=${id}`)).toEqual({ experiment, preset_id: id, notices: [] })
  }
})

test('even with every shared setting that has an effect changed a link is short enough to paste', () => {
  let experiment = first
  for (const { path, kind, value, hasEffect } of experimentFields(first))
    if (kind === 'number' && hasEffect && !path.startsWith('phases')) {
      const result = withField(experiment, path, Number(value) * 0.9876)
      if (result.ok) experiment = result.experiment
    }
  expect(encodeLink(experiment).split('&').length).toBeGreaterThan(12)
  expect(encodeLink(experiment).length).toBeLessThan(MAX_LINK_LENGTH)
})

test(
  'steered documents: what can be obeyed is kept and comes back, whatever is between',
  () => {
    const step = fc.integer({ min: 0, max: 400 })
    const words = fc.oneof(
      fc.constantFrom('next_phase', 'repeat_phase', 'append_phase,rl,steps:4', 'insert_phase,sft'),
      fc.constantFrom('fly', '', 'set', 'append_phase', 'append_phase,rl,target_layer:77'),
      fc.nat(4).map((index) => `remove_phase,${index}`),
      fc.tuple(fc.nat(4), fc.nat(4)).map(([from, to]) => `move_phase,${from},${to}`),
      fc
        .tuple(
          fc.constantFrom('actor.optim.lr', 'rollout.temperature', 'seed', 'phases.1.steps', 'x'),
          fc.constantFrom('0.001', '1', '-1', 'null', 'true', "'a"),
        )
        .map(([path, value]) => `set,${path},${value}`),
    )
    const entries = fc.array(fc.tuple(step, words), { maxLength: 6 })
    fc.assert(
      fc.property(fc.constantFrom('tiny', 'rlhf-tiny'), entries, (id, list) => {
        const texts = list.sort(([a], [b]) => a - b).map(([at, said]) => `${at},${said}`)
        const link = texts.map((text, i) => `steering.${i}=${encodeURIComponent(text)}`).join('&')
        const { experiment, notices } = decodeLink(`p=${id}&${link}`)
        expect(experiment.steering.length + notices.length, link).toBe(texts.length)
        expect(parseExperiment(experiment)).toEqual({ ok: true, experiment })
        expect(decodeLink(encodeLink(experiment))).toMatchObject({ experiment, notices: [] })
      }),
      { numRuns: RUNS ?? 20, seed: 2 },
    )
  },
  TIMEOUT_MS,
)

test(
  'every preset can have other phases and another task',
  () => {
    const tasks = ['sort_digits', 'bracket_completion', 'reverse_digits']
    const lists = ['sft', 'rl,sft,rl,rl', 'sft,reward_model,rl', 'sft,rl,rl,rl,rl,rl,rl,rl']
    const all = PRESETS.flatMap(({ id }, i) =>
      lists.flatMap((kinds, j) =>
        tasks.map((task, k) => ({
          id,
          kinds,
          task,
          is_first: (i + j) % 4 === 0 && (i + k) % 3 === 0,
        })),
      ),
    )
    // Each preset with one list and one task, or with all of them.
    for (const { id, kinds, task } of all.filter(
      ({ is_first }) => is_first || RUNS !== undefined,
    )) {
      const { experiment, notices } = decodeLink(`p=${id}&phases=${kinds}&task.id=${task}`)
      expect(notices, `${id} ${kinds} ${task}`).toEqual([])
      expect(experiment.phases.map(({ kind }) => kind).join()).toBe(kinds)
      expect(decodeLink(encodeLink(experiment)).experiment).toEqual(experiment)
    }
  },
  TIMEOUT_MS,
)

test('an empty query is the first preset, without a word', () => {
  for (const query of ['', '?', '&&'])
    expect(decodeLink(query)).toEqual({ experiment: first, preset_id: PRESETS[0].id, notices: [] })
})

test('values that only fit together are taken together', () => {
  const { experiment, notices } = decodeLink(
    'p=two-skills-bupo&rollout.train_batch_size=24&actor.ppo_mini_batch_size=12&rollout.n=2',
  )
  expect(notices).toEqual([])
  expect(experiment.rollout.train_batch_size).toBe(24)
})

test('no query makes decoding throw or the experiment illegal', () => {
  const paths = experimentFields(first).map(({ path }) => path)
  const key = fc.oneof(
    fc.constantFrom('v', 'p', 'phases', 'task.id', '__proto__', 'toString', ...paths),
    fc.string(),
  )
  const value = fc.oneof(
    fc.string(),
    fc.double().map(String),
    fc.constantFrom('inherit', 'final', 'rl,sft', 'sort_digits', 'tiny', '', '%', 'true'),
  )
  const query = fc
    .array(fc.tuple(key, value), { maxLength: 12 })
    .map((pairs) => pairs.map(([k, v]) => `${k}=${v}`).join('&'))
  fc.assert(
    fc.property(query, (text) => {
      const { experiment } = decodeLink(text)
      expect(parseExperiment(experiment)).toEqual({ ok: true, experiment })
    }),
    { numRuns: RUNS ?? 50, seed: 1 },
  )
})
