// Draws studies of this browser that are not open, each with how far it is.
import { useMemo } from 'react'
import { useStore } from 'zustand'
import { type Arm, expandStudy } from '../../../document/study/arms.ts'
import { exploratoryWords } from '../../../document/study/changes.ts'
import { answerSentence, foundOf } from '../../../document/study/report/answer.ts'
import { titleParts } from '../../../document/study/report/words.ts'
import type { RunResult } from '../../../document/study/results.ts'
import type { Study } from '../../../document/study/study.ts'
import { begunRuns } from '../../../page/study/begun_runs.ts'
import { runsOf } from '../../../page/study/kept_studies.ts'
import { saidQuestion } from '../../../page/study/recorded.ts'
import { analysisOf, studyStore } from '../../../page/study/study_state.ts'
import type { KeptStudy } from '../../../page/study/study_storage.ts'
import { reopenStudy } from '../../../page/study/study_store.ts'
import { whenText } from '../../shown/run_words.ts'
import { Progress, useTimeToCome } from '../progress/Progress.tsx'
import { DeleteStudy } from './DeleteStudy.tsx'
import { FoundMark } from './FoundMark.tsx'

/** '6 runs trained here on 29 Nov 2026, and 30 that came with the lab.' */
function runsWords({ study, recorded, trained_at }: KeptStudy, results: readonly RunResult[]) {
  const known = runsOf(study, results)
  const came = new Set(recorded?.fingerprints)
  const here = known.filter(({ fingerprint }) => !came.has(fingerprint)).length
  const trained =
    trained_at === undefined
      ? `${countRuns(here)} trained here`
      : `${countRuns(here)} trained here, the last one ${whenText(trained_at, Date.now())}`
  const said = here === 0 ? 'No run is trained here yet' : trained
  if (here === known.length) return `${said}.`
  return recorded?.file === undefined
    ? `${said}, and ${known.length - here} that came with the lab.`
    : `${said}, and ${known.length - here} that came with “${recorded.file}”.`
}

const knownArms = new WeakMap<Study, readonly Arm[]>()

/** None where it cannot be trained. */
function armsOf(study: Study): readonly Arm[] {
  const expanded = knownArms.has(study) ? undefined : expandStudy(study)
  const arms = knownArms.get(study) ?? (expanded?.ok ? expanded.arms : [])
  knownArms.set(study, arms)
  return arms
}

/** How far one is: live where runs of it have begun, else by its runs. */
function HowFar({ kept }: { readonly kept: KeptStudy }) {
  const state = useStore(studyStore)
  const of = { ...state, ...kept, problems: [], arms: armsOf(kept.study) }
  const time = useTimeToCome(of)
  return kept.is_training || begunRuns(of).length > 0 ? (
    <Progress state={of} time={time} />
  ) : (
    <p className="soft">{runsWords(kept, state.results)}</p>
  )
}

/** What the known runs of a study say; nothing before there are any. */
function Answer({ kept }: { readonly kept: KeptStudy }) {
  const { results } = useStore(studyStore)
  const { study, changes } = kept
  const found = useMemo(() => analysisOf({ study, arms: armsOf(study), results }), [study, results])
  if (!found || found.analysis.runs.length === 0) return null
  const verdicts = found.analysis.arms.flatMap(({ comparison }) => comparison?.verdict ?? [])
  return (
    <p className="soft" data-testid="study-own-answer">
      <FoundMark found={foundOf(verdicts)} />
      {answerSentence(found.study, found.analysis)} {exploratoryWords(changes)}
    </p>
  )
}

const countRuns = (count: number): string => `${count} ${count === 1 ? 'run' : 'runs'}`

function Own({ kept }: { readonly kept: KeptStudy }) {
  const { id, study } = kept
  const [title, question] = titleParts({ ...study, question: saidQuestion(study.question) })
  return (
    <li data-testid="study-own">
      <h3>{title}</h3>
      <div>
        {question === '' ? null : <p>{question}</p>}
        <Answer kept={kept} />
        <HowFar kept={kept} />
        {kept.problems?.map((line) => (
          <p key={line} className="bad" role="alert">
            {line}
          </p>
        ))}
      </div>
      <p className="study-buttons">
        <button type="button" data-testid="study-open" onClick={() => reopenStudy(id)}>
          Open the study
        </button>
        <DeleteStudy id={id} study={study} />
      </p>
    </li>
  )
}

/** Nothing where there is none. */
export function OwnStudies({ own }: { readonly own: readonly KeptStudy[] }) {
  if (own.length === 0) return null
  return (
    <section className="card" aria-label="Your studies" data-testid="study-list">
      <h2>Your studies</h2>
      <ul className="study-rows">
        {own.map((kept) => (
          <Own key={kept.id} kept={kept} />
        ))}
      </ul>
    </section>
  )
}
