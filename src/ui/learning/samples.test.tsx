import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { hasOneAnswer } from '../../document/experiment/asked.ts'
import { figuresOf } from '../../document/presets/drawn.ts'
import { Series } from '../../host/columns/series.ts'
import { labStore } from '../../page/state/store.ts'
import { RunPicture } from '../gallery/RunPicture.tsx'
import { REWARD } from '../shown/metrics.ts'
import { viewStore } from '../shown/shown.ts'
import { VERL_LOG } from '../shown/testing.ts'
import { groupByPrompt } from './grouping.ts'
import { advantageText, listSays, Samples } from './Samples.tsx'
import { partWords } from './scores/PartScores.tsx'

test('a prompt that a step drew twice is two groups, where it is known how large one is', () => {
  const samples = ['008>', '008>', '123>', '008>', '008>'].map((prompt, i) => ({ prompt, i }))
  const sizes = (size?: number) => groupByPrompt(samples, size).map(([, group]) => group.length)
  expect(sizes()).toEqual([4, 1])
  expect(sizes(2)).toEqual([2, 1, 2])
})

test('parts of a reward are said in words', () => {
  const words = (part: string, score: number) => partWords({ id: 'story' }, part, score)
  expect(words('happy_end', 0)).toBe('Happy end: no')
  expect(words('happy_end', 1)).toBe('Happy end: yes')
  expect(words('coherence', 1)).toBe('Coherence: 1')
  expect(words('distinct_ngrams', 0.93)).toBe('Variety: 0.93')
  // A program by its name.
  expect(words('my_reward', 2.5)).toBe('my_reward: 2.5')
})

test('how much of how many steps the list has is said before what is below', () => {
  expect(listSays(12, 128, 3)).toBe(
    'Here are 12 of each step’s 128 prompts, for the 3 newest steps. ',
  )
  expect(listSays(12, 128, 1)).toBe('Here are 12 of this step’s 128 prompts. ')
  expect(listSays(12, 12, 3)).toBe('')
})

test('a written end is shown as the answer only where responses are compared with it', () => {
  expect(hasOneAnswer({ id: 'story' })).toBe(false)
  expect(hasOneAnswer({ id: 'sort_digits' })).toBe(true)
})

test('what rounding leaves of no advantage has no sign', () => {
  expect([7.4e-7, -7.4e-7, 0.774, -1.28].map(advantageText)).toEqual([
    '0.00',
    '0.00',
    '+0.77',
    '−1.28',
  ])
})

test('a reward that can exceed 1 is written as a number, of a task and of a reward model', () => {
  const figures = figuresOf('story-animals')
  if (!figures) throw new Error('no figures')
  const says = (isShare: boolean, isModels = false) =>
    renderToStaticMarkup(<RunPicture {...{ figures, isShare, isModels }} />)
  expect(says(false)).toMatch(/Mean reward of samples \d\.\d\d → \d\.\d\d/)
  expect(says(true)).toMatch(/Mean reward of samples \d+ % → \d+ %/)
  expect(says(false, true)).toContain('Mean score of samples by the reward model')
})

test('a log without samples has no place for them', () => {
  const said = () => renderToStaticMarkup(<Samples />)
  viewStore.setState({ log: VERL_LOG })
  expect(said()).toBe('')
  viewStore.setState({ log: undefined })
  expect(said()).toContain('Samples')
})

test('where a step was scored, what is not there was not kept', () => {
  const { series } = labStore.getState()
  const said = (metric: string) => {
    labStore.setState({ series: new Map([[metric, new Series()]]) })
    return renderToStaticMarkup(<Samples />)
  }
  expect(said(REWARD)).toContain('No samples were kept up to this step.')
  expect(said('actor/entropy')).not.toContain('were kept')
  labStore.setState({ series })
})
