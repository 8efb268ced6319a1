import { describe, expect, test, vi } from 'vitest'
import { parseExperiment } from '../experiment/experiment.ts'
import { experimentSchema } from '../experiment/schema/schema.ts'
import { PRESETS, presetOf } from '../presets/presets.ts'
import { decodeLink } from './link.ts'

const first = PRESETS[0].experiment

test('an unknown preset opens the short experiment of a first visit', () => {
  const { experiment, notices } = decodeLink('v=1&p=chess')
  expect(notices.join()).toMatch(/no preset 'chess'/)
  expect(experiment).toEqual(presetOf('first-steps')?.experiment)
  expect(experiment.phases.reduce((sum, { steps }) => sum + steps, 0)).toBeLessThanOrEqual(50)
})

describe('a bad link says what was wrong and keeps the rest', () => {
  const bad: [string, RegExp, object?][] = [
    ['v=1&p=chess&seed=3', /no preset 'chess'/, { seed: 3 }],
    [
      'actor.clip_ratio_low=7&seed=3',
      /^actor.clip_ratio_low: expected a number from .*, got 7. actor.clip_ratio_low stays at 0.2/,
      { seed: 3, actor: { clip_ratio_low: 0.2 } },
    ],
    ['seed=three', /^seed: expected a number, got 'three'. Kept 1/, { seed: 1 }],
    ['model.tie_word_embeddings=yes', /expected true or false, got 'yes'/],
    ['utm_source=mail&seed=3', /^Not understood and left out: 'utm_source'/, { seed: 3 }],
    ['actor.use_torch_compile=true', /^Not understood .*'actor.use_torch_compile'/],
    [
      'rollout.n=1&seed=3',
      /^rollout.n: expected at least 2 .*because GRPO .*rollout.n stays at 8/,
      { seed: 3, rollout: { n: 8 } },
    ],
    ['actor.loss_mode=reinforce_more', /^actor.loss_mode: expected 'vanilla' or .*'cispo'/],
    [
      'v=2&p=tiny&seed=3',
      /newer version \('2'\)/,
      { seed: 3, name: presetOf('tiny')?.experiment.name },
    ],
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
      /^kernels: entry 1 is '\*:vector_9x9': expected one of these/,
      { seed: 3, kernels: null },
    ],
    ['p=rlhf-clicks&phases.1.pairs.verdicts=yes', /verdicts: expected letters a, b, s/],
    ['phases.99.steps=3', /^Not understood/],
    ['task.id=chess&seed=3', /^task.id: expected .*got 'chess'. Kept/, { seed: 3 }],
    ['task.digits=50', /^task.digits: expected a whole number/, { task: { digits: 2 } }],
    [
      'rollout.train_batch_size=24&seed=3',
      /^actor.ppo_mini_batch_size: .*rollout.train_batch_size stays at 32/,
      { seed: 3, rollout: { train_batch_size: 32 } },
    ],
    [
      'model.num_hidden_layers=3&seed=3',
      /^phases.1.target_layer: .*model.num_hidden_layers stays at 6/,
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
  const links: [name: string, link: string, leftOut: number][] = [
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
      `&phases=${Array(16).fill('rl')}${Array.from({ length: 16 }, (_, i) => `&phases.${i}.rollout.n=1&phases.${i}.rollout.max_response_length=1&phases.${i}.rollout.train_batch_size=7`).join('')}`,
      33,
    ],
  ]
  test.for(links)('%s', { timeout: 60_000 }, ([, link, leftOut]) => {
    const parses = vi.spyOn(experimentSchema, 'safeParse')
    const { experiment, notices } = decodeLink(`v=1&p=tiny${link}`)
    const entries = link.split('steering.').length - 1
    // Each entry once by itself and once in its place; the rest is what a link without any takes,
    // and 32 rounds at most.
    expect(parses.mock.calls.length).toBeLessThanOrEqual(2 * entries + 50)
    parses.mockRestore()
    expect(notices.length).toBe(leftOut)
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
