// The studies of this browser that are not open, each with how far it is.
import { useStore } from 'zustand'
import { runsOf } from '../../page/study/kept_studies.ts'
import { studyStore } from '../../page/study/study_state.ts'
import type { KeptStudy } from '../../page/study/study_storage.ts'
import { reopenStudy } from '../../page/study/study_store.ts'
import { DeleteStudy } from './DeleteStudy.tsx'

function Own({ kept }: { readonly kept: KeptStudy }) {
  const { results } = useStore(studyStore)
  const { id, study } = kept
  const count = runsOf(study, results).length
  return (
    <li data-testid="study-own">
      <h3>{study.name}</h3>
      <p>{study.question}</p>
      <p className="soft">
        {count === 0
          ? 'No run is trained yet.'
          : `${count} ${count === 1 ? 'run' : 'runs'} trained.`}
      </p>
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
export function OwnStudies() {
  const { others } = useStore(studyStore)
  if (others.length === 0) return null
  return (
    <section className="card" aria-label="Your studies" data-testid="study-list">
      <h2>Your studies</h2>
      <ul className="study-gallery">
        {others.map((kept) => (
          <Own key={kept.id} kept={kept} />
        ))}
      </ul>
    </section>
  )
}
