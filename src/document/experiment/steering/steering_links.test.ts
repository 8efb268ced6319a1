import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeLink, encodeLink, MAX_LINK_LENGTH } from '../../links/link.ts'
import { readEntry, writeEntry } from '../../links/steering_link.ts'
import { presetOf } from '../../presets/presets.ts'
import { parsed } from '../testing.ts'
import type { SteeringEntry } from './actions.ts'

const SFT = { kind: 'sft', steps: 10 }
const PPO = { kind: 'rl', steps: 5, adv_estimator: 'gae', name: 'ppo' }
const GRPO = { kind: 'rl', steps: 5, name: 'grpo' }
const REWARD = { kind: 'reward_model', steps: 5, name: 'reward' }
const INNER = { kind: 'rl', steps: 4, target_layer: 2, name: 'inner' }
const base = { phases: [SFT, PPO, GRPO] }
const [, grpoPhase] = parsed({ phases: [SFT, GRPO] }).phases

describe('links', () => {
  const entries: SteeringEntry[] = [
    { step: 0, kind: 'set', path: 'actor.optim.lr', value: 0.0005 },
    { step: 3, kind: 'set', path: 'actor.optim.betas.0', value: 0.8 },
    { step: 10, kind: 'next_phase' },
    {
      step: 12,
      kind: 'insert_phase',
      phase: parsed({
        phases: [
          {
            kind: 'rl',
            name: "a,b:c;'d 12",
            steps: 4,
            target_layer: 2,
            actor: { optim: { betas: [0.5, 0.6], lr: 0.01 } },
            critic: { optim: { lr: 0.002 } },
            algorithm: { rollout_correction: { rollout_rs: '', bypass_mode: false } },
            stop: { score: 0.5 },
          },
        ],
      }).phases[0],
    },
    { step: 13, kind: 'repeat_phase' },
    {
      step: 13,
      kind: 'append_phase',
      phase: parsed({ phases: [{ ...SFT, name: '12' }] }).phases[0],
    },
    {
      step: 13,
      kind: 'append_phase',
      phase: parsed({
        phases: [{ ...REWARD, pairs: { source: 'mixed', count: 20, verdicts: 'ab3s' } }],
      }).phases[0],
    },
    { step: 13, kind: 'move_phase', index: 6, to: 5 },
    { step: 14, kind: 'remove_phase', index: 6 },
    { step: 14, kind: 'set', path: 'phases.6.pairs.verdicts', value: '' },
    { step: 15, kind: 'set', path: 'phases.5.name', value: 'true' },
    { step: 15, kind: 'set', path: 'phases.3.actor.entropy_coeff', value: null },
    {
      step: 16,
      kind: 'kernels',
      kernels: 'nt_m8_n32_k16:skinny_8x16,tn_m64_n32_k16:staged_32x32_4x4_by_4',
    },
  ]

  test('a steered experiment comes back from its link', () => {
    const steered = parsed({ ...base, steering: entries })
    expect(steered.steering).toEqual(entries)
    const link = encodeLink(steered)
    expect(link.length).toBeLessThan(MAX_LINK_LENGTH)
    expect(decodeLink(link)).toMatchObject({ experiment: steered, notices: [] })
    expect(decodeLink(link.replaceAll('%2C', ','))).toMatchObject({ experiment: steered })
  })

  test('an entry is readable', () => {
    expect(writeEntry(entries[0])).toBe('0,set,actor.optim.lr,0.0005')
    expect(
      writeEntry({ step: 66, kind: 'insert_phase', phase: parsed({ phases: [INNER] }).phases[0] }),
    ).toBe('66,insert_phase,rl,target_layer:2,name:inner,steps:4')
    for (const kind of ['interrupt_phase', 'follow_phase'] as const) {
      const steering = [{ step: 1, kind, phase: grpoPhase }]
      const document = parsed({ ...base, steering })
      expect(document.steering).toEqual(steering)
      expect(decodeLink(encodeLink(document))).toMatchObject({ experiment: document, notices: [] })
    }
    const link = encodeLink(parsed({ ...base, steering: [entries[2]] }))
    expect(link).toMatch(/&steering\.0=10,next_phase$/)
  })

  test('links that were given away keep their meaning', () => {
    const { experiment: old } = decodeLink('v=1&p=tiny&seed=3')
    expect(old).toEqual({ ...presetOf('tiny')?.experiment, seed: 3 })
    const { experiment: steered, notices } = decodeLink(
      'v=1&p=tiny&steering.0=20,next_phase&steering.1=22,insert_phase,rl,steps:4,adv_estimator:gae',
    )
    expect(notices).toEqual([])
    expect(steered.steering).toMatchObject([
      { step: 20, kind: 'next_phase' },
      { step: 22, kind: 'insert_phase', phase: { kind: 'rl', steps: 4, adv_estimator: 'gae' } },
    ])
  })

  test.each([
    ['steering.0=x', /^steering\.0: expected a step, a comma/],
    ['steering.0=5,explode', /^steering\.0\.kind: expected 'next_phase'.*Left out\.$/],
    ['steering.0=5,insert_phase,rl,steps', /^steering\.0: expected a step/],
    ['steering.0=5,insert_phase,rl,__proto__.x:1', /^steering\.0: expected a step/],
    ['steering.0=9000,next_phase', /^steering\.0\.step: expected at most/],
  ])('%s is left out, and the rest is kept', (bad, notice) => {
    const { experiment: read, notices } = decodeLink(
      `p=tiny&${bad}&steering.7=10,next_phase&seed=4`,
    )
    expect(notices[0]).toMatch(notice)
    expect(notices).toHaveLength(1)
    expect(read.seed).toBe(4)
    expect(read.steering).toEqual([{ step: 10, kind: 'next_phase' }])
  })

  test('no text makes reading an entry throw', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.constantFrom('5', 'set', 'insert_phase', 'rl', 'name:%', '__proto__:1', ';', ':'),
          ),
        ),
        (words) => {
          readEntry(words.join(','))
        },
      ),
      { numRuns: 300, seed: 1 },
    )
  })
})
