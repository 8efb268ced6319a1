// Shows what the arms of a study that is changed begin from, and takes the present settings in its
// place.
import { useMemo } from 'react'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { Study } from '../../../document/study/study.ts'
import { openExperiment } from '../../../page/client/opening.ts'
import { labStore } from '../../../page/state/store.ts'
import { presentSettings } from '../../../page/study/present_settings.ts'
import { baseWords } from '../../../record/run/base_words.ts'
import { showToast } from '../../shown/store.ts'

interface BaseOfStudyProps {
  readonly of: Study
  readonly base: Experiment
  onBase(base: Experiment): void
}

export function BaseOfStudy({ of, base, onBase }: BaseOfStudyProps) {
  const words = useMemo(() => baseWords(base), [base])
  const open = () =>
    showToast(
      openExperiment(base, `what “${of.name}” begins from`) ??
        'The settings are those that the study begins from. Undo brings yours back.',
    )
  return (
    <fieldset>
      <legend>What all arms begin from</legend>
      <p className="soft" data-testid="study-form-base">
        {words}
      </p>
      <p className="study-buttons">
        <button type="button" data-testid="study-base-open" onClick={open}>
          Put it into the settings
        </button>
        <button
          type="button"
          data-testid="study-base-present"
          title="What an arm says otherwise stays; the rest becomes what the settings say now"
          onClick={() => onBase(presentSettings(labStore.getState()))}
        >
          Begin from the present settings
        </button>
      </p>
    </fieldset>
  )
}
