import { expect, test } from 'vitest'
import { parsed } from '../../../document/experiment/testing.ts'
import { presetOf } from '../../../document/presets/presets.ts'
import { Series } from '../../../host/columns/series.ts'
import { initialState, type LabState } from '../../../page/state/store.ts'
import { mainMeasure } from '../../shown/measure/main_measure.ts'
import { sampledAccuracy } from '../../shown/metrics.ts'
import { viewStore } from '../../shown/shown.ts'
import { VERL_LOG } from '../../shown/testing.ts'
import {
  captionLines,
  captionOf,
  gotWorse,
  headline,
  nextLesson,
  phaseCaptions,
} from './captions.ts'

const { experiment } = presetOf('tiny') ?? {}
if (!experiment) throw new Error('no preset')

function run(
  step: number,
  columns: Readonly<Record<string, readonly [number, number][]>>,
): LabState {
  const series = new Map(
    Object.entries(columns).map(([metric, rows]) => {
      const column = new Series()
      for (const [at, value] of rows) column.push(at, value)
      return [metric, column]
    }),
  )
  const phaseSwitches = [0, 66, 70].map((at, phase) => ({
    step: at,
    phase,
    reason: 'steps' as const,
  }))
  return {
    ...initialState(),
    runExperiment: experiment,
    step,
    series,
    phase_switches: phaseSwitches.filter((one) => one.step < step),
  }
}

test('where samples have another temperature, a change of the entropy says which it is of', () => {
  const state = run(4, {
    'layer/entropy/3': [
      [1, 1.4],
      [4, 0.95],
    ],
  })
  const rollout = { ...experiment.rollout, temperature: 1.5 }
  const hot = { ...state, runExperiment: { ...experiment, rollout } }
  expect(captionOf(hot)).toBe(
    'Imitation, 4 steps: the final policy at temperature 1 became surer by 0.45 nats.',
  )
})

test('of a log nothing is said of how its phase learned', () => {
  const state = run(4, {
    'layer/entropy/3': [
      [1, 1.4],
      [4, 0.7],
    ],
  })
  expect(captionOf(state)).toMatch(/^Imitation, 4 steps: /)
  viewStore.setState({ log: VERL_LOG })
  expect(captionOf(state)).toBe('As logged, 4 steps: the final policy became surer by 0.70 nats.')
  viewStore.setState({ log: undefined })
})

test('a reward of a log outside of 0 and 1 is no share', () => {
  const rewards = [...Array(12).keys()].map((i): [number, number] => [i + 1, -3.5 + i / 4])
  const state = run(12, {
    'critic/score/mean': rewards,
    'layer/entropy/3': [
      [1, 1.4],
      [12, 0.7],
    ],
  })
  viewStore.setState({ log: VERL_LOG })
  expect(captionOf(state)).toMatch(/The mean score of samples went from −[\d.]+ to −[\d.]+,/)
  viewStore.setState({ log: undefined })
})

test('an inner phase says what became of its layer and of the final policy', () => {
  const state = run(70, {
    'layer/entropy/2': [
      [65, 1.9],
      [66, 1.85],
      [67, 1.8],
      [70, 1.59],
    ],
    'layer/entropy/3': [
      [66, 1.36],
      [70, 1.38],
    ],
  })
  expect(captionOf(state)).toBe(
    'Reinforcement of layer 2 alone, 4 steps: its policy became surer by 0.26 nats; the final policy hardly changed its entropy (0.02 nats).',
  )
})

test('a change of nothing has no sign', () => {
  const state = run(120, {
    'layer/entropy/3': [
      [70, 1.4],
      [120, 1.399],
    ],
  })
  expect(captionOf(state)).toContain('hardly changed its entropy (0.00 nats)')
})

test('the whole model’s phase says the scores too, and a step that was scrubbed to counts as the end', () => {
  const steps = Array.from({ length: 50 }, (_, i) => 71 + i)
  const state = run(120, {
    'layer/entropy/3': [
      [70, 1.4],
      ...steps.map((at): [number, number] => [at, 1.4 - (at - 70) / 100]),
    ],
    'critic/score/mean': steps.map((at) => [at, at < 80 ? 0.2 : 0.55]),
    'val-aux/sort_digits/acc/greedy': [
      [70, 0.75],
      [120, 0.875],
    ],
  })
  expect(captionOf(state)).toBe(
    'Reinforcement of the whole model, 50 steps: the final policy became surer by 0.50 nats. The mean score of samples went from 20\u00a0% to 55\u00a0%, each a mean over 5 steps. Of 128 held-out problems it solved 75\u00a0%, then 88\u00a0%.',
  )
  expect(captionOf(state, 72)).toBe(
    'Reinforcement of the whole model, 2 steps: the final policy hardly changed its entropy (−0.02 nats).',
  )
})

test('samples of so few answers that chance explains their change are said to be unclear', () => {
  const steps = Array.from({ length: 10 }, (_, i) => 71 + i)
  const seen = (reached: number) => {
    const state = run(80, {
      'layer/entropy/3': steps.map((at): [number, number] => [at, 1.4]),
      'critic/score/mean': steps.map((at, i) => [at, i < 5 ? 0.6 : reached]),
    })
    const few = { ...experiment, rollout: { ...experiment.rollout, train_batch_size: 5, n: 1 } }
    return captionOf({ ...state, runExperiment: few })
  }
  expect(seen(0.76)).toContain(
    'from 60\u00a0% to 76\u00a0%, each a mean over 5 steps: no clear change.',
  )
  expect(seen(0.96)).toContain('from 60\u00a0% to 96\u00a0%, each a mean over 5 steps.')
})

test('a score that rose and fell is told by its peak', () => {
  const steps = Array.from({ length: 20 }, (_, i) => 71 + i)
  const seen = (scores: (i: number) => number) =>
    captionOf(
      run(90, {
        'layer/entropy/3': steps.map((at): [number, number] => [at, 1.4]),
        'critic/score/mean': steps.map((at, i) => [at, scores(i)]),
      }),
    )
  expect(seen((i) => (i < 5 || i > 14 ? 0.28 : 0.66))).toContain(
    'rose from 28\u00a0% to 66\u00a0%, then fell to 28\u00a0%, each a mean over 5 steps.',
  )
  // What only rose or only fell has no peak.
  expect(seen((i) => i / 50)).toContain('went from 4\u00a0% to 34\u00a0%')
  expect(seen((i) => 0.5 - i / 50)).toContain('went from 46\u00a0% to 16\u00a0%')
})

test('what a phase changed no further than chance is said to be unclear, as above the charts', () => {
  const wave = (greedy: [number, number], sampled?: [number, number]) =>
    captionOf(
      run(120, {
        'layer/entropy/3': [
          [70, 1.4],
          [120, 1],
        ],
        'val-aux/sort_digits/acc/greedy': [
          [70, greedy[0]],
          [120, greedy[1]],
        ],
        ...(sampled && {
          [sampledAccuracy('sort_digits', experiment.validation.n)]: [
            [70, sampled[0]],
            [120, sampled[1]],
          ],
        }),
      }),
    ).replaceAll('\u00a0', ' ')
  expect(wave([0.77, 0.83])).toMatch(
    /Of \d+ held-out problems it solved 77 %, then 83 %, no clear change\.$/,
  )
  expect(wave([0.77, 0.77])).toMatch(/held-out problems it solved 77 %, then 77 %\.$/)
  expect(wave([0.77, 0.83], [0.6, 0.61])).toMatch(
    /77 %, then 83 %, no clear change; with sampled answers 60 %, then 61 %, no clear change\.$/,
  )
  expect(wave([0.77, 0.83], [0.2, 0.9])).toMatch(
    /83 %, no clear change; with .* 20 %, then 90 %\.$/,
  )
  expect(wave([0.2, 0.9], [0.6, 0.61])).toMatch(/then 90 %; with .*, then 61 %, no clear change\.$/)
  expect(wave([0.2, 0.9], [0.2, 0.9])).toMatch(/with sampled answers 20 %, then 90 %\.$/)
})

test('beside the forest a caption leaves held-out problems to the chart', () => {
  const state = run(120, {
    'layer/entropy/3': [
      [70, 1.4],
      [120, 1],
    ],
    'val-aux/sort_digits/acc/greedy': [
      [70, 0.77],
      [120, 0.95],
    ],
  })
  expect(captionOf(state)).toContain('held-out')
  expect(captionOf(state, undefined, { isBrief: true })).toMatch(/became surer by 0\.40 nats\.$/)
})

test('what was not measured is not said', () => {
  expect(captionOf(initialState())).toBe('')
  expect(captionOf(run(67, {}))).toBe('')
  expect(captionOf(run(1, { 'layer/entropy/3': [[1, 3]] }))).toBe('')
})

test('every run has a lesson that follows from it', () => {
  const of = (id: string) => {
    const preset = presetOf(id)
    if (!preset) throw new Error(id)
    return nextLesson({ ...initialState(), runExperiment: preset.experiment })[0]
  }
  expect(of('tiny')).toBe('bupo')
  expect(of('tiny-ppo')).toBe('ppo')
  expect(of('rlhf-tiny')).toBe('rlhf')
  expect(of('tiny-grpo')).toBe('entropy')
})

test('at the end every phase has a sentence of its own numbers', () => {
  const state = run(120, {
    'layer/entropy/2': [
      [66, 1.85],
      [70, 1.59],
    ],
    'layer/entropy/3': [
      [1, 3.2],
      [66, 1.36],
      [70, 1.38],
      [120, 0.7],
    ],
  })
  expect(phaseCaptions(state)).toEqual([
    'Imitation, 66 steps: the final policy became surer by 1.84 nats.',
    'Reinforcement of layer 2 alone, 4 steps: its policy became surer by 0.26 nats; the final policy hardly changed its entropy (0.02 nats).',
    'Reinforcement of the whole model, 50 steps: the final policy became surer by 0.68 nats.',
  ])
})

test('a run of several algorithms says which one each phase had', () => {
  const state = run(120, {
    'layer/entropy/3': [
      [66, 1.4],
      [70, 1.3],
      [120, 0.7],
    ],
  })
  const rl = { target_layer: 'final', steps: 4 }
  const { phases } = parsed({
    phases: [
      { kind: 'sft', steps: 66 },
      { ...rl, kind: 'rl', adv_estimator: 'reinforce_plus_plus' },
      { ...rl, kind: 'rl', adv_estimator: 'grpo' },
    ],
  })
  const runExperiment = { ...experiment, phases }
  const heads = phaseCaptions({ ...state, runExperiment }).map((said) => captionLines(said)[0])
  expect(heads).toEqual([
    'Reinforcement of the whole model, 4 steps, REINFORCE++',
    'Reinforcement of the whole model, 50 steps, GRPO',
  ])
})

test('the headline compares the first and the last validation on problems never trained on', () => {
  const metric = 'val-aux/sort_digits/acc/greedy'
  const at = (...shares: readonly number[]) =>
    headline(run(200, { [metric]: shares.map((share, i): [number, number] => [50 * i, share]) }))
  expect(at(0.77, 0.85, 0.92)).toBe('It solves 92\u00a0% of new problems; it began at 77\u00a0%.')
  expect(at(0.771, 0.774)).toBe('It solves 77\u00a0% of new problems; as many as when it began.')
  expect(at(0.77)).toBeUndefined()
  expect(at(0.77, 0.13)).toBe(
    'It got worse: it solves 13\u00a0% of new problems; it began at 77\u00a0%.',
  )
  // Two of 128 problems are no change.
  expect(at(0.773, 0.758)).toMatch(
    /^No clear change: it solves 76\u00a0% of \d+ new problems; it began/,
  )
})

test('the headline tells what samples gained or lost where the likeliest answers did not', () => {
  const at = (greedy: readonly number[], sampled: readonly number[]) => {
    const points = (shares: readonly number[]) =>
      shares.map((share, i): [number, number] => [100 * i, share])
    return run(200, {
      'val-aux/sort_digits/acc/greedy': points(greedy),
      'val-core/sort_digits/acc/mean@1': points(sampled),
    })
  }
  expect(at([], []).runExperiment?.validation.n).toBe(1)
  expect(headline(at([0.77, 0.67], [0.234, 0.07]))).toBe(
    'It got worse: its samples solve 7\u00a0% of new problems; it began at 23\u00a0%. Its likeliest answers: 77\u00a0%, then 67\u00a0%.',
  )
  expect(headline(at([0.77, 0.8], [0.17, 0.52]))).toBe(
    'Its samples solve 52\u00a0% of new problems; it began at 17\u00a0%. Its likeliest answers: 77\u00a0%, then 80\u00a0%.',
  )
})

test('the headline of a composed reward is of what was asked for', () => {
  const plain = run(200, {
    'val-aux/sort_digits/acc/greedy': [
      [0, 1],
      [100, 1],
    ],
    'val-aux/sort_digits/reward/mean@1': [
      [0, 0.75],
      [100, 0.94],
    ],
  })
  expect(headline(plain)).toBe('It solves 100\u00a0% of new problems; as many as when it began.')
  const { runExperiment } = plain
  if (!runExperiment) throw new Error('the run has no experiment')
  const parts = [{ id: 'has_end', weight: 1 }] as const
  const composed = {
    ...plain,
    runExperiment: {
      ...runExperiment,
      reward: { ...runExperiment.reward, parts },
      validation: { ...runExperiment.validation, n: 1 },
    },
  } as typeof plain
  expect(headline(composed)).toBe(
    'Its sampled answers to new problems earn a reward of 94\u00a0%; it began at 75\u00a0%.',
  )
})

test('the headline says what the stories do that are rewarded for one thing', () => {
  const plain = run(200, {
    'val-aux/story/acc/greedy': [
      [0, 1],
      [100, 1],
    ],
    'val-aux/story/happy_end/mean@1': [
      [0, 0.6],
      [100, 1],
    ],
  })
  const { runExperiment } = plain
  if (!runExperiment) throw new Error('the run has no experiment')
  const told = (parts: typeof runExperiment.reward.parts) =>
    headline({
      ...plain,
      runExperiment: {
        ...runExperiment,
        task: { id: 'story' },
        reward: { ...runExperiment.reward, parts },
        validation: { ...runExperiment.validation, n: 1 },
      },
    } as typeof plain)
  const watched = { id: 'coherence', weight: 0 } as const
  expect(mainMeasure({ ...runExperiment, task: { id: 'story' } }).asked).toBeUndefined()
  expect(told([{ id: 'happy_end', weight: 1 }, watched])).toBe(
    'Happy end: 100\u00a0% of 128 new stories, sampled; it began at 60\u00a0%.',
  )
  // Two things that are asked for are one number only as a reward.
  expect(
    told([
      { id: 'happy_end', weight: 1 },
      { ...watched, weight: 1 },
    ]),
  ).toBe('It solves 100\u00a0% of new problems; as many as when it began.')
})

test('a caption has a head and a line for every sentence, also in Chinese', () => {
  expect(
    captionLines(
      'Imitation, 4 steps: the final policy became surer by 0.12 nats. It got 1\u00a0%.',
    ),
  ).toEqual([
    'Imitation, 4 steps',
    'The final policy became surer by 0.12 nats.',
    'It got 1\u00a0%.',
  ])
  expect(captionLines('模仿学习，4 步：最终策略的熵降低了 0.12 nats。平均得分变为 20 %。')).toEqual(
    ['模仿学习，4 步', '最终策略的熵降低了 0.12 nats。', '平均得分变为 20 %。'],
  )
})

test('what a phase did is named by its kind, and told in what was asked of a text', () => {
  const plain = run(20, {
    'layer/entropy/3': [
      [1, 1],
      [20, 0.5],
    ],
    'val-core/story/acc/greedy': [
      [0, 1],
      [20, 0.8],
    ],
    'val-aux/story/happy_end/mean@1': [
      [0, 0.9],
      [20, 0.3],
    ],
  })
  const preset = presetOf('story-dpo-clicks')?.experiment
  if (!preset) throw new Error('no preset')
  const { model, ...rest } = preset
  const layers = { ...model, num_hidden_layers: 3 }
  const state = { ...plain, runExperiment: { ...rest, model: layers } } as typeof plain
  expect(captionOf(state)).toBe(
    'Preference optimization of the whole model, 20 steps: the final policy became surer by 0.50 nats. Happy end in 16 held-out stories: 90\u00a0%, then 30\u00a0%.',
  )
})

test('a share of so few stories that chance may have moved it is no clear change', () => {
  const preset = presetOf('story-ends')?.experiment
  if (!preset) throw new Error('no preset')
  const ended = (share: number, coherent = 1) => {
    const columns = {
      'val-aux/story/acc/greedy': [
        [0, 1],
        [30, coherent],
      ],
      'val-aux/story/happy_end/mean@1': [
        [0, 0.6],
        [30, share],
      ],
    } as const
    return { ...run(30, columns as never), runExperiment: preset } as LabState
  }
  expect(headline(ended(0.8))).toBe(
    'Happy end: 80\u00a0% of 15 new stories, sampled; it began at 60\u00a0%: no clear change.',
  )
  // What was rewarded says whether it got worse, not what the task says beside it.
  expect(gotWorse(ended(1, 0.2))).toBe(false)
  expect(gotWorse(ended(0))).toBe(true)
})
