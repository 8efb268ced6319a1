// Builds a study: two or more settings or runs, or a field with several values; seeds, budget and the measure, fixed beforehand.
import { type ChangeEvent, useState } from 'react'
import { nextExperiment } from '../../lab/page/next_experiment.ts'
import { labStore } from '../../lab/page/store.ts'
import { libraryStore, shownRuns } from '../../lab/runs/library/library.ts'
import { runName } from '../../lab/runs/record/names.ts'
import { armsFrom, type NamedExperiment } from '../../lab/study/build.ts'
import { readAxis } from '../../lab/study/grid.ts'
import { setStudy } from '../../lab/study/page/study_store.ts'
import { parseStudy } from '../../lab/study/study.ts'
import { Words } from '../glossary/Words.tsx'
import { selectionStore } from '../runs/table/selection.ts'
import { type Draft, EMPTY, StudyFields } from './StudyFields.tsx'

/** The document of a draft. */
function documentOf(draft: Draft, chosen: readonly NamedExperiment[]): object {
  const present = { name: 'present settings', experiment: nextExperiment(labStore.getState()) }
  const { base, arms } = armsFrom(chosen.length > 0 ? chosen : [present])
  const { path, values, question, seeds, same, metric, at } = draft
  const grid = path === '' ? {} : { [path]: readAxis(values) }
  return {
    name: (question || 'Study').slice(0, 80),
    question: question || 'Which of these is better?',
    base,
    arms: arms.length > 1 ? arms : [],
    grid,
    seeds: Array.from({ length: seeds }, (_, i) => i + 1),
    budget: { same },
    measure: { metric, at },
  }
}

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
      <button type="button" data-testid="study-add-settings" onClick={addPresent}>
        Add the present settings
      </button>{' '}
      <button type="button" data-testid="study-add-runs" onClick={addTicked}>
        Add the ticked runs
      </button>
    </fieldset>
  )
}

export function StudyForm() {
  const [draft, setDraft] = useState(EMPTY)
  const [chosen, setChosen] = useState<readonly NamedExperiment[]>([])
  const [problems, setProblems] = useState<readonly string[]>([])
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change })
  const take = (document: unknown) => {
    const parsed = parseStudy(document)
    if (parsed.ok) setStudy(parsed.study)
    else setProblems(parsed.issues.map(({ path, message }) => `${path || 'study'}: ${message}`))
  }
  const read = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const text = (await target.files?.[0]?.text()) ?? ''
    try {
      take(JSON.parse(text))
    } catch {
      setProblems(['The file is not JSON.'])
    }
  }
  return (
    <section className="card study-form" aria-label="New study" data-testid="study-form">
      <h2>A study</h2>
      <p className="soft">
        <Words text="One question, several settings with the same seeds and the same budget, and one measure that is fixed before anything is trained." />
      </p>
      <label className="wide">
        Question
        <input
          data-testid="study-question"
          value={draft.question}
          maxLength={400}
          placeholder="Does a higher learning rate help?"
          onChange={({ target }) => set({ question: target.value })}
        />
      </label>
      <Arms chosen={chosen} setChosen={setChosen} />
      <StudyFields draft={draft} set={set} />
      {problems.map((problem) => (
        <p key={problem} className="bad" role="alert">
          {problem}
        </p>
      ))}
      <p className="study-buttons">
        <button
          type="button"
          className="primary"
          data-testid="study-make"
          onClick={() => take(documentOf(draft, chosen))}
        >
          Make the study
        </button>
        <label className="study-file">
          Open a study file
          <input type="file" accept=".json" onChange={(event) => void read(event)} />
        </label>
      </p>
    </section>
  )
}
