// Draws how a model samples what it writes.
import { useState } from 'react'
import type { WritingSettings } from '../../../../host/protocol/opened_model.ts'
import { NumberField } from './NumberField.tsx'
import { LAST_SEED } from './next_seed.ts'

export const MOST_TOKENS = 512

/** Ranges of the settings. */
const FIELDS = [
  { name: 'temperature', label: 'temperature', min: 0, max: 5, step: 0.1 },
  { name: 'top_p', label: 'top_p', min: 0.01, max: 1, step: 0.01 },
  { name: 'top_k', label: 'top_k, 0 for all', min: 0, max: 100_000, step: 1 },
  { name: 'max_tokens', label: 'tokens at most', min: 1, max: MOST_TOKENS, step: 1 },
  { name: 'seed', label: 'seed of the next sample', min: 0, max: LAST_SEED, step: 1 },
] as const

interface SettingsProps {
  readonly settings: WritingSettings
  readonly onChange: (settings: WritingSettings) => void
}

/** The likeliest token each time, as validations take it. */
export function Greedy({ settings, onChange }: SettingsProps) {
  // What it was before; of a model that begins with greedy answers there is none.
  const [before, setBefore] = useState(1)
  const onCheck = (isGreedy: boolean) => {
    if (isGreedy) setBefore(settings.temperature)
    onChange({ ...settings, temperature: isGreedy ? 0 : before })
  }
  return (
    <label className="model-check">
      <input
        type="checkbox"
        data-testid="chat-greedy"
        checked={settings.temperature === 0}
        onChange={({ target }) => onCheck(target.checked)}
      />
      <span>
        greedy: always the likeliest token (temperature 0), as held-out accuracy is measured
      </span>
    </label>
  )
}

/** A number that is not taken, and the settings that hold in spite of it. */
interface Typed extends Pick<(typeof FIELDS)[number], 'name' | 'label'> {
  readonly why: string
  readonly held: WritingSettings
}

/** Of two fields with a wrong number, the last one says why: there is one line for it. */
export function Settings({ settings, onChange }: SettingsProps) {
  const [typed, setTyped] = useState<Typed>()
  const wrong = typed?.held === settings ? typed : undefined
  return (
    <div className="chat-settings">
      {FIELDS.map((field) => (
        <NumberField
          key={field.name}
          {...field}
          value={settings[field.name]}
          onChange={(value, why) => {
            const held = { ...settings, [field.name]: value }
            setTyped(why === undefined ? undefined : { ...field, why, held })
            onChange(held)
          }}
        />
      ))}
      {wrong ? (
        <small className="bad" role="alert">
          {wrong.label}: {wrong.why}; it stays {settings[wrong.name]}
        </small>
      ) : null}
    </div>
  )
}
