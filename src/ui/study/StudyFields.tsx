// The fields of a study that is being written: what differs, how many seeds, what is equal, and what is measured.
import { experimentFields } from '../../lab/experiment/form/form.ts'
import { useLab } from '../base/run.ts'

const METRICS = {
  'acc/greedy': 'accuracy of greedy answers',
  'critic/score/mean': 'reward in training',
} as const

/** A study that is being written. */
export interface Draft {
  readonly question: string
  readonly path: string
  readonly values: string
  readonly seeds: number
  readonly same: string
  readonly metric: string
  readonly at: string
}
export const EMPTY: Draft = {
  question: '',
  path: '',
  values: '',
  seeds: 5,
  same: 'responses',
  metric: 'acc/greedy',
  at: 'end',
}

/** A select with its label. */
function Choice(props: {
  readonly label: string
  readonly id: string
  readonly value: string
  readonly options: Readonly<Record<string, string>>
  onChange(value: string): void
}) {
  const { label, id, value, options, onChange } = props
  return (
    <label>
      {label}
      <select data-testid={id} value={value} onChange={({ target }) => onChange(target.value)}>
        {Object.entries(options).map(([own, text]) => (
          <option key={own} value={own}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

export function StudyFields(props: { readonly draft: Draft; set(change: Partial<Draft>): void }) {
  const { draft, set } = props
  const experiment = useLab((state) => state.experiment)
  const paths = Object.fromEntries(
    experimentFields(experiment)
      .filter(({ has_effect, path }) => has_effect && path !== 'seed')
      .map(({ path, label }) => [path, `${label} (${path})`]),
  )
  return (
    <div className="study-fields">
      <Choice
        label="A field with several values"
        id="study-path"
        value={draft.path}
        options={{ '': 'none', ...paths }}
        onChange={(path) => set({ path })}
      />
      <label>
        Values, with commas, or a range such as 1e-4..1e-2 log 5
        <input
          data-testid="study-values"
          value={draft.values}
          onChange={({ target }) => set({ values: target.value })}
        />
      </label>
      <label>
        Seeds
        <input
          type="number"
          data-testid="study-seeds"
          min={1}
          max={64}
          value={draft.seeds}
          onChange={({ target }) => set({ seeds: Math.max(1, Math.min(64, Number(target.value))) })}
        />
      </label>
      <Choice
        label="The same for all arms"
        id="study-same"
        value={draft.same}
        options={{
          responses: 'responses',
          tokens: 'tokens',
          arithmetic: 'arithmetic',
          steps: 'steps',
        }}
        onChange={(same) => set({ same })}
      />
      <Choice
        label="Primary measure"
        id="study-metric"
        value={draft.metric}
        options={METRICS}
        onChange={(metric) => set({ metric })}
      />
      <Choice
        label="Measured"
        id="study-at"
        value={draft.at}
        options={{
          end: 'at the end',
          last: 'mean of the last five',
          area: 'mean over the budget',
        }}
        onChange={(at) => set({ at })}
      />
    </div>
  )
}
