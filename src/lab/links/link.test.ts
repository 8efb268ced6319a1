import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { newPhase, parseExperiment, withField } from '../experiment/experiment.ts'
import { experimentFields } from '../experiment/form/form.ts'
import type { Field } from '../experiment/form/form_fields.ts'
import { PHASE_KINDS } from '../experiment/phases.ts'
import { type Experiment, experimentSchema } from '../experiment/schema.ts'
import { PRESETS, presetOf } from '../presets/presets.ts'
import { decodeLink, encodeLink, MAX_LINK_LENGTH } from './link.ts'

const preset = (id: string): Experiment => presetOf(id)?.experiment as Experiment
const first = PRESETS[0].experiment

/** Of each property; HOSTILE_RUNS tries more of them, and every preset with every list of phases. */
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

/** A preset after some edits, phases added and removed among them; edits that break a rule are left out. */
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

test('even with every shared setting changed a link is short enough to paste', () => {
  let experiment = first
  for (const { path, kind, value } of experimentFields(first))
    if (kind === 'number' && !path.startsWith('phases')) {
      const result = withField(experiment, path, Number(value) * 0.9876)
      if (result.ok) experiment = result.experiment
    }
  expect(encodeLink(experiment).split('&').length).toBeGreaterThan(12)
  expect(encodeLink(experiment).length).toBeLessThan(MAX_LINK_LENGTH * 0.7)
})

describe('a bad link says what was wrong and keeps the rest', () => {
  const bad: [string, RegExp, object?][] = [
    ['v=1&p=chess&seed=3', /no preset 'chess'/, { seed: 3 }],
    [
      'actor.clip_ratio_low=7&seed=3',
      /^actor.clip_ratio_low: expected a number from .*, got 7. Kept actor.clip_ratio_low at 0.2/,
      { seed: 3, actor: { clip_ratio_low: 0.2 } },
    ],
    ['seed=three', /^seed: expected a number, got 'three'. Kept 1/, { seed: 1 }],
    ['model.tie_word_embeddings=yes', /expected true or false, got 'yes'/],
    ['utm_source=mail&seed=3', /^Not understood and left out: 'utm_source'/, { seed: 3 }],
    ['actor.use_torch_compile=true', /^Not understood .*'actor.use_torch_compile'/],
    [
      'rollout.n=1&seed=3',
      /^rollout.n: expected at least 2 .*because GRPO .*Kept rollout.n at 8/,
      { seed: 3, rollout: { n: 8 } },
    ],
    ['actor.loss_mode=reinforce_more', /^actor.loss_mode: expected 'vanilla' or .*'cispo'/],
    ['v=2&p=tiny&seed=3', /newer version \('2'\)/, { seed: 3, name: preset('tiny').name }],
    ['v=x', /unknown version/],
    ['seed=3&name=%E0%A4%A', /^'name=%E0%A4%A' is not written as links are/, { seed: 3 }],
    ['seed=3&seed=4', /^'seed' is in the link twice; the first one counts/, { seed: 3 }],
    ['__proto__=1&seed=3', /^Not understood and left out: '__proto__'/, { seed: 3 }],
    ['__proto__.seed=9&constructor.prototype.x=1', /^Not understood/, { seed: 1 }],
    [`seed=3&name=${'x'.repeat(9000)}`, /too long .*nothing of it was read/, { seed: 1 }],
    ['&a=1'.repeat(500), /too long/],
    ['phases=sft,dpo', /^phases: expected 1 to 16 .*Kept sft,rl,rl/],
    [`phases=${Array(1000).fill('rl').join(',')}`, /^phases: expected 1 to 16/],
    [
      'phases.1.reward_model.enable=true',
      /^phases.1.reward_model.enable: expected false, because no earlier phase of kind reward_model/,
    ],
    [
      'kernels=*:vector_9x9&seed=3',
      /^kernels: entry 1, '\*:vector_9x9': expected one of these/,
      { seed: 3, kernels: '' },
    ],
    ['p=rlhf-clicks&phases.1.pairs.verdicts=yes', /verdicts: expected nothing, or letters a, b, s/],
    ['phases.99.steps=3', /^Not understood/],
    ['task.id=chess&seed=3', /^task.id: expected .*got 'chess'. Kept/, { seed: 3 }],
    ['task.digits=50', /^task.digits: expected a whole number/, { task: { digits: 2 } }],
    [
      'rollout.train_batch_size=24&seed=3',
      /^actor.ppo_mini_batch_size: .*Kept rollout.train_batch_size at 32/,
      { seed: 3, rollout: { train_batch_size: 32 } },
    ],
    [
      'model.num_hidden_layers=3&seed=3',
      /^phases.1.target_layer: .*Kept model.num_hidden_layers at 6/,
      { seed: 3 },
    ],
    ['name=%00', /^name: expected plain text/, { name: first.name }],
  ]
  test.for(bad.map(([link, ...rest]) => [link.slice(0, 60), link, ...rest] as const))(
    '%s',
    ([_, link, notice, expected = {}]) => {
      const { experiment, notices } = decodeLink(link)
      expect(notices[0]).toMatch(notice)
      expect(notices.join().length).toBeLessThan(2000)
      expect(experiment).toMatchObject(expected)
      expect(parseExperiment(experiment)).toEqual({ ok: true, experiment })
      expect(({} as Record<string, unknown>).seed).toBeUndefined()
    },
  )
})

describe('the work of reading a link is bounded', () => {
  const many = (count: number, entry: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => `&steering.${i}=${entry(i)}`).join('')
  const links: [name: string, link: string, left_out: number][] = [
    ['32 values out of range', many(32, (i) => `${i},set,actor.optim.lr,${9 + i}`), 32],
    [
      '32 phases, then 32 values out of range',
      many(64, (i) => (i < 12 ? '0,append_phase,rl' : `1,set,actor.optim.lr,${i}`)),
      52,
    ],
    ['steps in the wrong order', many(64, (i) => `${99 - i},set,actor.optim.lr,0.001`), 63],
    ['nothing that can be done', many(64, (i) => `${i},fly`), 64],
    ['phases that are none', many(64, () => '1,append_phase,rl,target_layer:99'), 64],
    ['entries beyond the most', many(200, () => '1,next_phase'), 136],
    [
      'illegal settings',
      `&phases=${Array(16).fill('rl')}${Array.from({ length: 16 }, (_, i) => `&phases.${i}.steps=-1&phases.${i}.algorithm.gamma=7`).join('')}`,
      32,
    ],
    [
      'settings that break rules',
      `&phases=${Array(16).fill('rl')}${Array.from({ length: 16 }, (_, i) => `&phases.${i}.rollout.n=1&phases.${i}.rollout.top_k=0&phases.${i}.rollout.train_batch_size=7`).join('')}`,
      33,
    ],
  ]
  test.for(links)('%s', { timeout: TIMEOUT_MS }, ([, link, left_out]) => {
    const parses = vi.spyOn(experimentSchema, 'safeParse')
    const { experiment, notices } = decodeLink(`v=1&p=tiny${link}`)
    const entries = link.split('steering.').length - 1
    // Each entry once by itself and once in its place; the rest is what a link without any takes, and 32 rounds at most.
    expect(parses.mock.calls.length).toBeLessThanOrEqual(2 * entries + 50)
    parses.mockRestore()
    expect(notices.length).toBe(left_out)
    expect(parseExperiment(experiment)).toEqual({ ok: true, experiment })
  })

  test('a bad entry is left out, and those after it are obeyed as if it were not there', () => {
    const { experiment, notices } = decodeLink(
      'v=1&p=tiny&steering.0=3,set,actor.optim.lr,0.002&steering.1=5,set,actor.optim.lr,9&steering.2=2,next_phase' +
        '&steering.3=1,remove_phase,99&steering.4=6,set,rollout.temperature,0.5',
    )
    expect(experiment.steering).toEqual([
      { step: 3, kind: 'set', path: 'actor.optim.lr', value: 0.002 },
      { step: 6, kind: 'set', path: 'rollout.temperature', value: 0.5 },
    ])
    expect(notices.map((notice) => notice.split(':')[0])).toEqual([
      'steering.1.value',
      'steering.2.step',
      'steering.3.step',
    ])
  })
})

test(
  'steered documents: what can be obeyed is kept and comes back, whatever stands between',
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
