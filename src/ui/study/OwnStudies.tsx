// Draws studies of this browser that are not open, each with how far it is.
import { useStore } from 'zustand'
import { titleParts } from '../../document/study/report/words.ts'
import type { RunResult } from '../../document/study/results.ts'
import { runsOf } from '../../page/study/kept_studies.ts'
import { studyStore } from '../../page/study/study_state.ts'
import type { KeptStudy } from '../../page/study/study_storage.ts'
import { reopenStudy } from '../../page/study/study_store.ts'
import { DeleteStudy } from './DeleteStudy.tsx'

/** '6 runs trained here, and 30 that came with the lab.' */
function runsWords({ study, recorded }: KeptStudy, results: readonly RunResult[]): string {
  const known = runsOf(study, results)
  const came = new Set(recorded?.fingerprints)
  const here = known.filter(({ fingerprint }) => !came.has(fingerprint)).length
  const said = here === 0 ? 'No run is trained here yet' : `${countRuns(here)} trained here`
  return here === known.length
    ? `${said}.`
    : `${said}, and ${known.length - here} that came with the lab.`
}

const countRuns = (count: number): string => `${count} ${count === 1 ? 'run' : 'runs'}`

function Own({ kept }: { readonly kept: KeptStudy }) {
  const { results } = useStore(studyStore)
  const { id, study } = kept
  const [title, question] = titleParts(study)
  return (
    <li data-testid="study-own">
      <h3>{title}</h3>
      <div>
        {question === '' ? null : <p>{question}</p>}
        <p className="soft">{runsWords(kept, results)}</p>
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
