// Follows the recipe "Add a setting" in another section: a switch of validation. No other file is
// touched.
import { expect } from 'vitest'

const PATH = 'validation.at_end'

export const switchSetting = {
  name: 'a setting that is a switch',
  edits: [
    {
      file: 'src/rl/config/validation.ts',
      after: 'export interface Validation {',
      text: '  /** Whether the last step of a phase is evaluated, whatever its number; default true. */\n  readonly at_end?: boolean',
    },
    {
      file: 'src/rl/config/validation.ts',
      after: 'export const VALIDATION: Tree<Required<Validation>> = {',
      text: `  at_end: boolean({
    label: 'At the end of a phase',
    help: 'Evaluates the last step of a phase too, whatever its number.',
    default: true,
    elsewhere: { lost: 'it evaluates the last step as any other' },
  }),`,
    },
    {
      file: 'src/rl/train/stages/training.ts',
      after: '  const { test_freq } = config.validation',
      text: '  const { at_end = true } = config.validation\n  if (!at_end) return test_freq !== null && progress.step % test_freq === 0',
    },
  ],
  checks: {
    'the form, documents and links have it': document,
    'the place that uses it has its value': use,
  },
}

async function document(load) {
  const { parseExperiment } = await load('document/experiment/experiment.ts')
  const { experimentFields } = await load('document/experiment/form/form.ts')
  const { decodeLink, encodeLink } = await load('document/links/link.ts')
  const { experiment, issues = [] } = parseExperiment({ validation: { at_end: false } })
  expect(issues).toEqual([])
  const field = experimentFields(experiment).find(({ path }) => path === PATH)
  expect(field).toMatchObject({ value: false, default: true, kind: 'boolean' })
  expect(decodeLink(encodeLink(experiment)).experiment).toEqual(experiment)
}

async function use(load) {
  const { isValidationDue } = await load('rl/train/stages/training.ts')
  const progress = { step: 7, phase_step: 7, current: { kind: 'rl', steps: 7 } }
  const isDue = (validation) => isValidationDue({ config: { validation }, progress })
  expect(isDue({ test_freq: 10 })).toBe(true)
  expect(isDue({ test_freq: 10, at_end: false })).toBe(false)
  expect(isDue({ test_freq: 7, at_end: false })).toBe(true)
}
