// Builds a study: two or more settings or runs, or a field with several values; seeds, budget and
// the measure, fixed beforehand.
import { useDeferredValue, useMemo, useState } from 'react'
import type { NamedExperiment } from '../../document/study/build.ts'
import { type Draft, EMPTY_DRAFT, readDraft } from '../../document/study/draft.ts'
import { libraryStore, shownRuns } from '../../page/runs/library/library_store.ts'
import { nextExperiment } from '../../page/state/next_experiment.ts'
import { labStore } from '../../page/state/store.ts'
import { setStudy } from '../../page/study/study_store.ts'
import { runName } from '../../record/run/names.ts'
import { selectionStore } from '../runs/base/selection.ts'
import { useLab } from '../shown/run.ts'
import { Problem, type Problems, StudyFields } from './StudyFields.tsx'

/** The arms that were chosen so far, and ways to add some. */
function Arms(props: {
  readonly chosen: readonly NamedExperiment[]
  setChosen(chosen: readonly NamedExperiment[]): void
}) {
  const { chosen, setChosen } = props
  const add = (more: readonly NamedExperiment[]) => setChosen([...chosen, ...more])
  const addPresent = () => {
    const experiment = nextExperiment(labStore.getState())
    add([{ name: `settings ${chosen.length + 1}`, experiment }])
  }
  const addTicked = () => {
    const { ticked } = selectionStore.getState()
    const entries = shownRuns(libraryStore.getState()).filter(({ id }) => ticked.includes(id))
    add(
      entries.map((entry) => ({ name: runName(entry).name, experiment: entry.header.experiment })),
    )
  }
  return (
    <fieldset>
      <legend>Arms</legend>
      <p className="soft">
        Change the settings and add them, or tick runs in the tab Runs. The first arm is what the
        others are compared with.
      </p>
      <ol>
        {chosen.map(({ name }, i) => (
          <li key={`${chosen.length} ${i}`}>
            <input
              aria-label={`Name of arm ${i + 1}`}
              value={name}
              onChange={({ target }) =>
                setChosen(chosen.map((one, k) => (k === i ? { ...one, name: target.value } : one)))
              }
            />{' '}
            <button type="button" onClick={() => setChosen(chosen.filter((_, k) => k !== i))}>
              Take out
            </button>
          </li>
        ))}
      </ol>
      <p className="study-buttons">
        <button type="button" data-testid="study-add-settings" onClick={addPresent}>
          Add the present settings
        </button>
        <button type="button" data-testid="study-add-runs" onClick={addTicked}>
          Add the ticked runs
        </button>
      </p>
    </fieldset>
  )
}

const NO_PROBLEMS: Problems = new Map()

export function StudyForm() {
  const [draft, setDraft] = useState(EMPTY_DRAFT)
  const [chosen, setChosen] = useState<readonly NamedExperiment[]>([])
  const [wasTried, setTried] = useState(false)
  const experiment = useLab((state) => state.experiment)
  // Making all arms for every letter would be slow.
  const typed = useDeferredValue(draft)
  const made = useMemo(() => readDraft(typed, chosen, experiment), [typed, chosen, experiment])
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change })
  // Nothing is wrong with a form that nobody has filled in yet.
  const problems = wasTried && !made.ok ? made.problems : NO_PROBLEMS
  const make = () => {
    const now = readDraft(draft, chosen, nextExperiment(labStore.getState()))
    if (now.ok) setStudy(now.study)
    else setTried(true)
  }
  return (
    <div id="study-form" className="study-form" data-testid="study-form">
      <label className="wide">
        Question
        <input
          data-testid="study-question"
          value={draft.question}
          maxLength={400}
          placeholder="Does a higher learning rate help?"
          onChange={({ target }) => set({ question: target.value })}
        />
        <Problem problems={problems} field="question" />
      </label>
      <Arms chosen={chosen} setChosen={setChosen} />
      <Problem problems={problems} field="arms" />
      <StudyFields draft={draft} problems={problems} set={set} />
      <p className="soft" data-testid="study-runs">
        {made.ok ? `${made.runs} runs in all.` : ''}
      </p>
      <Problem problems={problems} field="form" />
      <p className="study-buttons">
        <button type="button" className="primary" data-testid="study-make" onClick={make}>
          Make the study
        </button>
      </p>
    </div>
  )
}
