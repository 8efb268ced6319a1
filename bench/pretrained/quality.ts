// Judges stories that a model told: how many are right, how many of their sentences fit, how they
// end and how varied they are.
import { createTask, loadTask } from '../../src/tasks/index.ts'
import { distinctShare } from '../../src/tasks/rewards/distinct_ngrams.ts'
import { type Reading, readStory } from '../../src/tasks/stories/read.ts'

// With this file: whoever imports it may close its loader then.
await loadTask('story')
const task = createTask('story', { plots: 8, words: 16 })

/** Tokens of a continuation at most. */
export const MAX_TOKENS = task.max_response_length - 1

/** The first prompts that nothing was trained on; `told`: sentences of a story that they tell. */
export function heldOutPrompts(count: number, told = 2): readonly string[] {
  const { sample } = told === 2 ? task : createTask('story', { plots: 8, words: 16, told })
  return Array.from({ length: count }, (_, i) => sample(1, i, 'test').prompt)
}

const faultsOf = ({ sentences }: Reading) => sentences.flatMap(({ faults }) => faults)
const percent = (share: number) => `${Math.round(100 * share)} %`

/** Cells of a table: right, fits, ends, ends happily, ends sadly, varied. Right are stories that
 * come to an end without a fault. */
export function judged(prompts: readonly string[], texts: readonly string[]): readonly string[] {
  const readings = texts.map((text, i) => readStory(prompts[i] + text))
  const share = (holds: (reading: Reading) => boolean) =>
    percent(readings.filter(holds).length / readings.length)
  const fits = readings.map(
    ({ sentences }) =>
      sentences.filter(({ faults }) => faults.length === 0).length / sentences.length,
  )
  const endsIn = (wanted: string) => share((own) => own.has_ended && own.mood === wanted)
  return [
    share((own) => own.has_ended && faultsOf(own).length === 0),
    percent(fits.reduce((a, b) => a + b, 0) / fits.length),
    share(({ has_ended }) => has_ended),
    endsIn('happy'),
    endsIn('sad'),
    distinctShare(texts.join('\n'), 3).toFixed(2),
  ]
}

/** A story as a line of a list, with what is wrong with it. */
export function written(prompt: string, text: string): string {
  const faults = faultsOf(readStory(prompt + text))
  return `- **${prompt}**${text}${faults.length > 0 ? ` *(${faults.join('; ')})*` : ''}`
}
