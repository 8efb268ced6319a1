// Lists the presets as the options of a menu: those that train at once, then those for models that
// a person opens first.

import { PRESETS } from '../../document/presets/presets.ts'
import { unopenedModel } from '../../host/content/models/unopened.ts'

const option = ({ id, name }: (typeof PRESETS)[number]) => (
  <option key={id} value={id}>
    {name}
  </option>
)
const isReal = ({ experiment }: (typeof PRESETS)[number]) => unopenedModel(experiment) !== undefined

export const PresetOptions = () => (
  <>
    {PRESETS.filter((preset) => !isReal(preset)).map(option)}
    <optgroup label="Real models">{PRESETS.filter(isReal).map(option)}</optgroup>
  </>
)
