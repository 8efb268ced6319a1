// Draws one choice of the advantage estimator for all phases of reinforcement; each has its own
// under its heading.
import { RotateCcw } from 'lucide-react'
import { useId } from 'react'
import { experimentFields } from '../../document/experiment/form/form.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { editField } from '../../page/client/edits.ts'
import type { LabState } from '../../page/state/store.ts'
import { Words } from '../glossary/Words.tsx'
import { refusedWords } from '../shown/names/refused.ts'
import { selectIsBusy, useLab } from '../shown/run.ts'
import { showToast } from '../shown/store.ts'

const selectExperiment = ({ experiment }: LabState) => experiment

/** The phases of reinforcement with this estimator; others as they are. */
export const withEstimator = ({ phases }: Experiment, name: string): readonly object[] =>
  phases.map((phase) => (phase.kind === 'rl' ? { ...phase, adv_estimator: name } : phase))

/** The phases with the estimators that the preset says. */
export const withEstimatorsOf = (
  { phases }: Experiment,
  original: ReadonlyMap<string, unknown>,
): readonly object[] =>
  phases.map((phase, i) => {
    const was = original.get(`phases.${i}.adv_estimator`)
    return was === undefined ? phase : { ...phase, adv_estimator: was }
  })

/** Nothing where nothing is reinforced. `original`: what the preset says of each field. */
export function Algorithm({ original }: { readonly original: ReadonlyMap<string, unknown> }) {
  const id = useId()
  const experiment = useLab(selectExperiment)
  const isBusy = useLab(selectIsBusy)
  const fields = experimentFields(experiment).filter(({ path }) =>
    /^phases\.\d+\.adv_estimator$/.test(path),
  )
  const [first] = fields
  if (!first) return null
  const chosen = new Set(fields.map(({ value }) => value))
  const put = (phases: readonly object[]) => {
    const refused = editField('phases', phases)
    if (refused !== undefined) showToast(refusedWords(refused))
  }
  const before = (path: string) => original.get(path)
  const isChanged = fields.some(({ path, value }) => (before(path) ?? value) !== value)
  return (
    <div className="field algorithm" data-changed={isChanged || undefined}>
      <div className="field-head">
        <label htmlFor={id}>Algorithm</label>
        {isChanged ? (
          <button
            type="button"
            className="plain undo"
            aria-label="Put Algorithm back"
            disabled={isBusy}
            onClick={() => put(withEstimatorsOf(experiment, original))}
          >
            <span className="changed-dot" aria-hidden="true" />
            <RotateCcw className="icon" aria-hidden="true" />
          </button>
        ) : null}
      </div>
      <select
        id={id}
        data-testid="algorithm"
        disabled={isBusy}
        value={chosen.size > 1 ? '' : `${first.value}`}
        onChange={({ target }) => put(withEstimator(experiment, target.value))}
      >
        {chosen.size > 1 ? <option value="">another in each phase</option> : null}
        {first.options?.map(({ value, label }) => (
          <option key={`${value}`} value={`${value}`}>
            {label}
          </option>
        ))}
      </select>
      <p className="soft help">
        <Words text="The advantage estimator of all phases of reinforcement. A run that is on keeps its own." />
      </p>
    </div>
  )
}
