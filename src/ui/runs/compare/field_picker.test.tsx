// A name that no field has stays as it was typed, with what is wrong and what it may mean.
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { experimentFields } from '../../../document/experiment/form/form.ts'
import { presetOf } from '../../../document/presets/presets.ts'
import { FieldPicker } from './FieldPicker.tsx'

const preset = presetOf('tiny')
if (!preset) throw new Error('the preset is gone')
const fields = experimentFields(preset.experiment)
const picker = (unknown: string | undefined) =>
  renderToStaticMarkup(
    <FieldPicker
      id="x"
      fields={fields}
      chosen={fields.find(({ path }) => path === 'actor.optim.lr')}
      unknown={unknown}
      onField={() => {}}
      onUnknown={() => {}}
    />,
  )

test('what was typed is kept beside its mistake, and near names can be taken', () => {
  expect(picker(undefined)).not.toContain('aria-invalid')
  const page = picker('temperatura')
  expect(page).toMatch(/<input[^>]* value="temperatura"/)
  expect(page).toMatch(/<input[^>]* aria-invalid="true" aria-describedby="([^"]+)"/)
  expect(page).toContain('No field is called “temperatura”.')
  expect(page).toMatch(/<button[^>]* title="rollout.temperature"[^>]*>Temperature \(Rollout\)</)
  expect(picker('xyzzyx')).not.toContain('<button')
})
