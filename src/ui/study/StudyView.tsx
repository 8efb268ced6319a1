// Draws a study while it is trained and afterwards: its answer first, how far it is, pictures,
// table and files.
import { ArrowLeft } from 'lucide-react'
import { useStore } from 'zustand'
import { deviceName } from '../../document/links/names.ts'
import { FEWEST_PAIRS } from '../../document/study/analysis.ts'
import { shortAnswer } from '../../document/study/report/short_answer.ts'
import { titleParts } from '../../document/study/report/words.ts'
import type { Study } from '../../document/study/study.ts'
import { encodeStudy } from '../../document/study/study_link.ts'
import { isOfLab } from '../../page/study/recorded.ts'
import {
  AT_ONCE,
  analysisOf,
  plan,
  type StudyState,
  studyStore,
} from '../../page/study/study_state.ts'
import {
  closeStudy,
  dropRecorded,
  pauseStudy,
  setAtOnce,
  setStudy,
  trainStudy,
} from '../../page/study/study_store.ts'
import { showToast } from '../shown/store.ts'
import { ArmsTable, FurtherMeasures } from './ArmsTable.tsx'
import { DeleteStudy } from './DeleteStudy.tsx'
import { Findings } from './Findings.tsx'
import { Progress, useTimeToCome } from './Progress.tsx'
import { StudyGrid } from './StudyGrid.tsx'
import { filesOfStudy, saveStudyFolder, saveText } from './study_files.ts'

/** How many runs train at once. */
function AtOnce({ atOnce }: { readonly atOnce: number }) {
  return (
    <label className="study-at-once">
      Runs at once{' '}
      <select
        data-testid="study-at-once"
        value={atOnce}
        onChange={({ target }) => setAtOnce(Number(target.value))}
      >
        {AT_ONCE.map((count) => (
          <option key={count} value={count}>
            {count}
          </option>
        ))}
      </select>{' '}
      <span className="soft">
        They share the GPU and take a step each in turn, as many as fit into memory together. Their
        numbers are those of one run after the other, bit for bit.
      </span>
    </label>
  )
}

/** The study's address. */
const linkOf = (study: Study): string =>
  `${location.href.replace(/[?#].*$/s, '')}#tab=study&study=${encodeStudy(study)}`

async function copyLink(study: Study): Promise<void> {
  try {
    await navigator.clipboard.writeText(linkOf(study))
    showToast('The link is in the clipboard')
  } catch {
    showToast('The browser did not let the page write to the clipboard')
  }
}

/** Everything as files, one after the other. */
function Files({ state }: { readonly state: StudyState }) {
  return (
    <p className="study-buttons">
      <span className="soft">Save</span>
      {[...filesOfStudy(state)].map(([name, text]) => (
        <button
          key={name}
          type="button"
          data-testid={`study-save-${name}`}
          onClick={() => saveText(name, text)}
        >
          {name}
        </button>
      ))}
    </p>
  )
}

/** Runs that came with the lab: where they were recorded, and how to train them here. */
function Recorded({ recorded, study }: Pick<StudyState, 'recorded' | 'study'>) {
  if (!recorded) return null
  return (
    <p className="soft study-recorded" data-testid="study-recorded">
      {recorded.fingerprints.length}
      {study?.search ? ' runs, with those of the search, ' : ' of these runs '}
      came with the lab. They were recorded on{' '}
      <span title={recorded.adapter}>{deviceName(recorded.adapter)}</span>.{' '}
      <button type="button" data-testid="study-train-here" onClick={() => void dropRecorded()}>
        Put them aside and train them here
      </button>
    </p>
  )
}

interface ButtonsProps {
  readonly state: StudyState
  readonly study: Study
  /** Runs that are still to be trained. */
  readonly missing: number
  /** Runs from which a report can be made. */
  readonly known: number
}

function Buttons({ state, study, missing, known }: ButtonsProps) {
  const { is_training } = state
  const next = Math.max(...study.seeds) + 1
  const isAnswered = study.seeds.length >= FEWEST_PAIRS
  const isReportFirst = missing === 0 && isAnswered
  return (
    <p className="study-buttons">
      {is_training ? (
        <button type="button" data-testid="study-pause" onClick={pauseStudy}>
          Pause
        </button>
      ) : missing === 0 ? null : (
        <button type="button" className="primary" data-testid="study-train" onClick={trainStudy}>
          Train {missing} {missing === 1 ? 'run' : 'runs'}
        </button>
      )}
      {known > 0 ? (
        <button
          type="button"
          className={isReportFirst ? 'primary' : ''}
          data-testid="study-report"
          title="The report with its pictures, the tables, the study and its runs, in one .zip"
          onClick={() => void saveStudyFolder(state)}
        >
          Save a report
        </button>
      ) : null}
      <button
        type="button"
        className={missing === 0 && !isAnswered ? 'primary' : ''}
        data-testid="study-more-seeds"
        onClick={() => setStudy({ ...study, seeds: [...study.seeds, next] })}
      >
        One more seed
      </button>
      <button
        type="button"
        data-testid="study-fewer-seeds"
        disabled={study.seeds.length < 2}
        onClick={() => setStudy({ ...study, seeds: study.seeds.slice(0, -1) })}
      >
        One seed less
      </button>
      <button type="button" data-testid="study-link" onClick={() => void copyLink(study)}>
        Copy the link
      </button>
      {isOfLab({ study, recorded: state.recorded }) ? null : (
        <DeleteStudy id={state.id} study={study} />
      )}
    </p>
  )
}

export function StudyView({ study }: { readonly study: Study }) {
  const state = useStore(studyStore)
  const { problems, notes, arms } = state
  const time = useTimeToCome(state)
  const missing = plan(study, arms, state.results)?.runs.length ?? 0
  const analysed = analysisOf(state)
  const [title, question] = titleParts(study)
  const known = analysed?.analysis.runs.length ?? 0
  const isWhole = missing === 0 && !state.is_training
  const grid = analysed ? (
    <StudyGrid
      analysis={analysed.analysis}
      measure={study.measure}
      seeds={analysed.study.seeds}
      present={state.present}
    />
  ) : null
  return (
    <>
      <section className="card" aria-label="Study" data-testid="study-view">
        <button
          type="button"
          className="study-close"
          data-testid="study-close"
          title={
            state.is_training
              ? 'Pauses it and leaves it; its runs are kept, and it is trained on when you open it and press Train'
              : 'Leaves the study; it is kept with its runs'
          }
          onClick={closeStudy}
        >
          <ArrowLeft className="icon" aria-hidden="true" /> All studies
        </button>
        <h2 className="study-title" tabIndex={-1}>
          {title}
        </h2>
        {question === '' ? null : <p>{question}</p>}
        {analysed && known > 0 ? (
          <p className="study-answer" data-testid="study-answer">
            <strong>{shortAnswer(analysed.study, analysed.analysis)}</strong>
          </p>
        ) : null}
        <Progress state={state} time={time} />
        <Buttons state={state} study={study} missing={missing} known={known} />
        {problems.map((line) => (
          <p key={line} className="bad" role="alert">
            {line}
          </p>
        ))}
        {notes.map((line) => (
          <p key={line} className="soft">
            {line}
          </p>
        ))}
        {/* What was found comes first once nothing waits. */}
        {isWhole ? null : grid}
        <Recorded recorded={state.recorded} study={study} />
        {isWhole ? null : <AtOnce atOnce={state.at_once} />}
      </section>
      {analysed && known > 0 ? (
        <Findings study={analysed.study} analysis={analysed.analysis} changes={state.changes} />
      ) : null}
      {analysed ? (
        <section className="card" aria-label="Arms">
          <ArmsTable study={study} analysis={analysed.analysis} arms={arms} />
          <FurtherMeasures study={study} analysis={analysed.analysis} arms={arms} />
          {isWhole ? grid : null}
          {known > 0 ? <Files state={state} /> : null}
        </section>
      ) : null}
    </>
  )
}
