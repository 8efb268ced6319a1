// Draws the inside of the export dialog: what leaves, for which system, what is lost on the way,
// and the files.
import { useEffect, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { isOver, phaseWords } from '../../../jobs/settings/phase_choice.ts'
import { closeDialog } from '../../open/dialogs.ts'
import { type Wanted, wantedStore } from '../../open/open_export.ts'
import { canScale, FIRST_PLAN, isJob, outcomeOf, type Plan, planFor } from './plan.ts'
import { SaveButtons } from './SaveButtons.tsx'
import { ScaleFields } from './ScaleFields.tsx'
import {
  firstChoice,
  loadSource,
  type PageSource,
  SETTINGS,
  type SourceChoice,
  sourceChoices,
} from './sources.ts'
import { Notes, TargetChoice } from './TargetChoice.tsx'
import './export.css'

const selectWanted = ({ wanted }: { readonly wanted: Wanted | undefined }) => wanted

/** The menu of sources, the chosen one, and what it holds once that is read. */
function useSources(wanted: Wanted | undefined) {
  const [choices, setChoices] = useState<readonly SourceChoice[]>([SETTINGS])
  const [choice, setChoice] = useState<SourceChoice>()
  const [read, setRead] = useState<{ of: string; source?: PageSource; why?: string }>()
  useEffect(() => {
    let isHere = true
    void sourceChoices(wanted).then((found) => {
      if (!isHere) return
      setChoices(found)
      setChoice(firstChoice(found, wanted))
    })
    return () => {
      isHere = false
    }
  }, [wanted])
  useEffect(() => {
    if (!choice) return undefined
    let isHere = true
    loadSource(choice).then(
      (source) => isHere && setRead({ of: choice.id, source }),
      (error) => isHere && setRead({ of: choice.id, why: String(error?.message ?? error) }),
    )
    return () => {
      isHere = false
    }
  }, [choice])
  const current = read?.of === choice?.id ? read : undefined
  return { choices, choice, setChoice, source: current?.source, why: current?.why }
}

export function ExportForm() {
  const wanted = useStore(wantedStore, selectWanted)
  const { choices, choice, setChoice, source, why } = useSources(wanted)
  const [chosen, setPlan] = useState<Plan>(FIRST_PLAN)
  const plan = useMemo(() => (source ? planFor(source, chosen) : chosen), [source, chosen])
  const change = (part: Partial<Plan>) => setPlan({ ...plan, ...part })
  const outcome = useMemo(() => source && outcomeOf(source, plan), [source, plan])
  const first = useRef<HTMLSelectElement>(null)
  // The dialog was open before this was loaded, so the focus was on nothing in it.
  useEffect(() => first.current?.focus(), [])
  const isScaled = plan.cluster !== undefined && canScale(plan.format)
  return (
    <div className="export" data-testid="export-form">
      <div className="dialog-head">
        <h2>Export</h2>
        <button type="button" onClick={() => closeDialog('export')}>
          Close
        </button>
      </div>
      <p className="soft">
        Takes out the model, a job that another system trains, or the curves. Nothing is uploaded.
      </p>
      <label>
        <span>What</span>
        <select
          ref={first}
          data-testid="export-source"
          value={choice?.id ?? SETTINGS.id}
          disabled={isScaled}
          onChange={({ target }) => setChoice(choices.find(({ id }) => id === target.value))}
        >
          {choices.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {why === undefined ? null : (
        <p className="export-refused" role="alert">
          {why}
        </p>
      )}
      {source && outcome ? (
        <>
          <TargetChoice source={source} plan={plan} onPlan={change} />
          <PhaseChoice source={source} plan={plan} onPlan={change} />
          {canScale(plan.format) ? (
            <ScaleFields plan={plan} outcome={outcome} onPlan={change} />
          ) : null}
          <Notes outcome={outcome} format={plan.format} />
          <SaveButtons source={source} plan={plan} outcome={outcome} />
        </>
      ) : (
        <p className="soft">{why === undefined ? 'Reading …' : ''}</p>
      )}
    </div>
  )
}

/** Only where there is more than one phase that a job could train. */
function PhaseChoice(props: {
  readonly source: PageSource
  readonly plan: Plan
  readonly onPlan: (change: Partial<Plan>) => void
}) {
  const { source, plan, onPlan } = props
  const phases = source.experiment.phases.flatMap((phase, index) =>
    phase.kind === 'rl' || phase.kind === 'preference'
      ? [{ index, words: phaseWords(phase, index) }]
      : [],
  )
  if (!isJob(plan.format) || phases.length < 2) return null
  return (
    <label>
      <span>Phase</span>
      <select
        data-testid="export-phase"
        value={plan.phase ?? ''}
        onChange={({ target }) =>
          onPlan({ phase: target.value === '' ? undefined : Number(target.value) })
        }
      >
        <option value="">
          {isOver(source.experiment, source.place)
            ? 'The last phase again, from the run’s end'
            : 'The whole model’s phase to come'}
        </option>
        {phases.map(({ index, words }) => (
          <option key={index} value={index}>
            {words[0].toUpperCase() + words.slice(1)}
          </option>
        ))}
      </select>
    </label>
  )
}
