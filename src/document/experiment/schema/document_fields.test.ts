import { expect, test } from 'vitest'
import { PRESETS } from '../../presets/presets.ts'
import { experimentFields } from '../form/form.ts'
import { parsed } from '../testing.ts'
import { documentFields } from './document_fields.ts'

test('a form shows the fields of the document, each once, with their values', () => {
  const experiments = [
    ...PRESETS.map(({ experiment }) => experiment),
    parsed({
      phases: [
        { kind: 'sft' },
        { kind: 'reward_model' },
        { kind: 'preference' },
        { kind: 'rl', critic: {} },
      ],
    }),
  ]
  for (const experiment of experiments) {
    const shown = ({ path, value }: { path: string; value: unknown }) => `${path}=${value}`
    expect(documentFields(experiment).map(shown)).toEqual(experimentFields(experiment).map(shown))
  }
})

test('a phase’s own null is a value, and not the experiment’s', () => {
  const experiment = parsed({
    actor: { loss_scale_factor: 7 },
    phases: [{ kind: 'rl', actor: { loss_scale_factor: null } }, { kind: 'rl' }],
  })
  const field = (index: number) =>
    documentFields(experiment).find(
      ({ path }) => path === `phases.${index}.actor.loss_scale_factor`,
    )
  expect(field(0)).toMatchObject({ value: null, default: 7, isOverridden: true })
  expect(field(1)).toMatchObject({ value: 7, default: 7, isOverridden: false })
})
