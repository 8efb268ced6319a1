// Draws a study while it is trained and afterwards: its answer first, how far it is, pictures,
// table and files.
import { ArrowLeft } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { deviceName } from '../../document/links/names.ts'
import { exploratoryWords } from '../../document/study/changes.ts'
import { redraft } from '../../document/study/draft/redraft.ts'
import { answerSentence, measuredSentence } from '../../document/study/report/answer.ts'
import { planSentence, titleParts } from '../../document/study/report/words.ts'
import { FEWEST_PAIRS } from '../../document/study/statistics/student.ts'
import type { Study } from '../../document/study/study.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { begunRuns } from '../../page/study/begun_runs.ts'
import { isOfLab, saidQuestion } from '../../page/study/recorded.ts'
import {
  AT_ONCE,
  analysisOf,
  plan,
  type StudyState,
  studyStore,
} from '../../page/study/study_state.ts'
import { closeStudy, dropRecorded, setAtOnce } from '../../page/study/study_store.ts'
import { useLab } from '../shown/run.ts'
import { ArmsTable, FurtherMeasures } from './ArmsTable.tsx'
import { Findings } from './Findings.tsx'
import { BaseLine } from './form/BaseLine.tsx'
import { Lengths } from './form/Lengths.tsx'
import { StudyForm } from './form/StudyForm.tsx'
import { Progress, useTimeToCome } from './progress/Progress.tsx'
import { StudyGrid } from './progress/StudyGrid.tsx'
import { StudyButtons } from './StudyButtons.tsx'
import { filesOfStudy, saveText } from './study_files.ts'

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

/** Runs that came with the lab or a file: where they were recorded, and how to train them here. */
function Recorded({ state }: { readonly state: StudyState }) {
  const { recorded, study } = state
  const lacksGpu = useLab(selectLacksGpu)
  const came = new Set(recorded?.fingerprints)
  const shown = analysisOf(state)?.analysis.runs ?? []
  const count = study?.search
    ? came.size
    : shown.filter(({ fingerprint }) => came.has(fingerprint)).length
  if (!recorded || count === 0) return null
  return (
    <p className="soft study-recorded" data-testid="study-recorded">
      {study?.search
        ? `${count} runs, with those of the search, `
        : count === shown.length
          ? `All ${count} runs `
          : `${count} of these runs `}
      {recorded.file === undefined ? 'came with the lab.' : `came with “${recorded.file}”.`} They
      were recorded on <span title={recorded.adapter}>{deviceName(recorded.adapter)}</span>.{' '}
      <button
        type="button"
        data-testid="study-train-here"
        hidden={lacksGpu}
        onClick={() => void dropRecorded()}
      >
        Put them aside and train them here
      </button>
    </p>
  )
}

/** What is asked, what all arms begin from, and the answer as far as it is known. */
function Head({ state, study }: { readonly state: StudyState; readonly study: Study }) {
  const analysed = analysisOf(state)
  const known = analysed?.analysis.runs.length ?? 0
  const measured = analysed && measuredSentence(analysed.study, analysed.analysis)
  const exploratory = exploratoryWords(state.changes)
  const [title, question] = titleParts({ ...study, question: saidQuestion(study.question) })
  return (
    <>
      <button
        type="button"
        className="study-close"
        data-testid="study-close"
        title={
          state.is_training
            ? 'Leaves the study; it is trained on'
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
      <BaseLine study={study} arms={state.arms} />
      {state.isPlanAlone && known === 0 ? (
        <p className="soft" data-testid="study-plan-alone">
          The link or file holds the plan of this study, not its results. Where it was trained,
          “Save a report” writes a .zip that holds both, and opens with “Open a study file …”.
        </p>
      ) : null}
      {/* That it cannot answer is to be known before it is trained. */}
      {analysed && (known > 0 || study.seeds.length < FEWEST_PAIRS) ? (
        <p className="study-answer" data-testid="study-answer">
          <strong>{answerSentence(analysed.study, analysed.analysis)}</strong>
          {measured === undefined ? null : <span className="soft study-measured">{measured}</span>}
          {exploratory === '' ? null : (
            <span className="study-exploratory" data-testid="study-exploratory">
              {exploratory}
            </span>
          )}
        </p>
      ) : null}
    </>
  )
}

/** The form of the open study, where it is to be changed. */
function useChange({ id, study }: StudyState) {
  const [changing, setChanging] = useState('')
  const from = useMemo(() => study && redraft(study), [study])
  const isOpen = changing !== '' && changing === id
  return {
    canChange: from !== undefined,
    isOpen,
    form:
      isOpen && study && from ? (
        // One that was changed otherwise meanwhile is read again.
        <StudyForm
          key={JSON.stringify(study)}
          changed={{ of: study, from, onDone: () => setChanging('') }}
        />
      ) : null,
    toggle: () => setChanging(isOpen ? '' : studyStore.getState().id),
  }
}

/** A study of the lab before its recorded runs are there: nothing of it waits to be trained. */
function LoadingView({ state, study }: { readonly state: StudyState; readonly study: Study }) {
  return (
    <section className="card" aria-label="Study" data-testid="study-view">
      <Head state={state} study={study} />
      <p className="soft" role="status" data-testid="study-loading">
        Loading its recorded runs …
      </p>
    </section>
  )
}

export function StudyView({ study }: { readonly study: Study }) {
  const state = useStore(studyStore)
  return state.isLoading ? (
    <LoadingView state={state} study={study} />
  ) : (
    <WholeView state={state} study={study} />
  )
}

function WholeView({ state, study }: { readonly state: StudyState; readonly study: Study }) {
  const change = useChange(state)
  const { problems, notes, arms } = state
  const time = useTimeToCome(state)
  const missing = plan(study, arms, state.results)?.runs.length ?? 0
  const analysed = analysisOf(state)
  const isFixed = isOfLab({ study, recorded: state.recorded })
  const known = analysed?.analysis.runs.length ?? 0
  const isWhole = missing === 0 && !state.is_training
  const grid = analysed ? (
    <StudyGrid
      analysis={analysed.analysis}
      measure={study.measure}
      seeds={analysed.study.seeds}
      begun={begunRuns(state)}
    />
  ) : null
  return (
    <>
      <section className="card" aria-label="Study" data-testid="study-view">
        <Head state={state} study={study} />
        <Progress state={state} time={time} />
        <StudyButtons
          state={state}
          study={study}
          missing={missing}
          known={known}
          time={time}
          change={change}
        />
        {change.form}
        {analysed && known === 0 ? (
          <p className="soft" data-testid="study-planned">
            {planSentence(study, analysed.analysis)}
          </p>
        ) : null}
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
        <Recorded state={state} />
        {isWhole ? null : <AtOnce atOnce={state.at_once} />}
      </section>
      {analysed && known > 0 ? (
        <Findings study={analysed.study} analysis={analysed.analysis} changes={state.changes} />
      ) : null}
      {analysed ? (
        <section className="card" aria-label="Arms">
          {isWhole ? null : <Lengths study={study} arms={arms} />}
          <ArmsTable {...{ study, analysis: analysed.analysis, arms, isFixed }} />
          <FurtherMeasures {...{ study, analysis: analysed.analysis, arms, isFixed }} />
          {isWhole ? grid : null}
          {known > 0 ? <Files state={state} /> : null}
        </section>
      ) : null}
    </>
  )
}
