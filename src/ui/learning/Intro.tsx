// Says in words what the chosen experiment does, before its run.

import { type ComponentProps, useMemo, useState } from 'react'
import { resolvePhases } from '../../document/experiment/resolve.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { SUMMARIES } from '../../document/presets/summaries.ts'
import { shippedModel } from '../../host/content/models/shipped.ts'
import type { LabState } from '../../page/state/store.ts'
import { Words } from '../glossary/Words.tsx'
import { formatSteps } from '../kit/format.ts'
import { TryModel } from '../open/models/TryModel.tsx'
import { lazyPart } from '../part/lazy_part.tsx'
import {
  phaseTarget,
  plannedSteps,
  shownExperiment,
  shownPhases,
  useLastLayer,
} from '../shown/run.ts'
import { usePresent } from '../shown/shown.ts'
import type { ChangedFrom as Changes } from './ChangedFrom.tsx'

const WhatToSee = lazyPart(async () => (await import('./WhatToSee.tsx')).WhatToSee, {
  name: 'What you should see',
  fallback: null,
})

const ChangedFrom = lazyPart<ComponentProps<typeof Changes>>(
  async () => (await import('./ChangedFrom.tsx')).ChangedFrom,
  { name: 'What was changed of the preset', fallback: null },
)

const ModelWrites = lazyPart(async () => (await import('./ModelWrites.tsx')).ModelWrites, {
  name: 'How the model continues',
  fallback: null,
})

const selectIsEmpty = ({ runExperiment, error }: LabState) => runExperiment === undefined && !error
/** Changes that the document holds. */
const selectByHand = (state: LabState) => shownExperiment(state).steering.length
/** How it would take less memory. */
const selectSavings = ({ plan }: LabState) => plan?.savings
const selectPreset = (state: LabState) => state.preset_id

/** The preset that is shown, and whether nothing in it was changed. One of another task says
 * nothing of this experiment. */
function usePreset() {
  const presetId = usePresent(selectPreset)
  const experiment = usePresent(shownExperiment)
  return useMemo(() => {
    const preset = PRESETS.find(({ id }) => id === presetId)
    const isSame = JSON.stringify(preset?.experiment) === JSON.stringify(experiment)
    return { preset, experiment, isSame }
  }, [presetId, experiment])
}

/** Whether an experiment trains on the task of a preset, and what that trains: both are named by
 * its summary. */
const trainsSame = (experiment: Experiment, preset: Experiment): boolean => {
  const last = preset.model.num_hidden_layers
  const targets = (of: Experiment) => resolvePhases(of).map((phase) => phaseTarget(phase, last))
  const isOfTask = experiment.task.id === preset.task.id
  return isOfTask && targets(experiment).join() === targets(preset).join()
}

/** Opens the model that a preset begins with, where it comes with the page. */
function WriteFirst({ source }: { readonly source: string | null }) {
  const model = source === null ? undefined : shippedModel(source)
  if (!model) return null
  return (
    <>
      <ModelWrites name={model.name} />
      <TryModel model={model} testid="write-first">
        {`Try the model “${model.name}” before it is trained`}
      </TryModel>
    </>
  )
}

export function Intro() {
  const isEmpty = usePresent(selectIsEmpty)
  const { preset, experiment, isSame } = usePreset()
  const phases = usePresent(shownPhases)
  const lastLayer = useLastLayer()
  const byHand = usePresent(selectByHand)
  const planned = usePresent(plannedSteps)
  const savings = usePresent(selectSavings)
  const [isOpen, setOpen] = useState(false)
  if (!isEmpty) return null
  const summary =
    preset && trainsSame(experiment, preset.experiment) ? SUMMARIES[preset.id] : undefined
  return (
    <section className="card intro" aria-label="The chosen experiment" data-testid="intro">
      <p>
        {summary === undefined ? null : <Words text={summary} />} <b>Train</b> runs{' '}
        {phases.length === 1 ? 'one phase' : `${phases.length} phases`} on this machine:{' '}
        {phases.map((phase, i) => (
          <span key={`${i} ${phase.name}`}>
            {i > 0 ? ', then ' : ''}
            {formatSteps(phase.steps)} of <i>{phase.name}</i> ({phaseTarget(phase, lastLayer)})
          </span>
        ))}
        {byHand > 0
          ? `; with the changes made by hand while it runs (${byHand}), ${formatSteps(planned)} in all`
          : ''}
        . Nothing leaves the browser.{savings ? ` ${savings}` : ''}
      </p>
      {preset && !isSame ? <ChangedFrom {...{ preset, experiment }} /> : null}
      {preset && isSame ? (
        <div className="intro-ways">
          <WriteFirst source={preset.experiment.model.source} />
          <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
            <summary>What you should see</summary>
            {isOpen ? <WhatToSee id={preset.id} /> : null}
          </details>
        </div>
      ) : null}
    </section>
  )
}
