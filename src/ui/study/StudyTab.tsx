// The tab of studies: builds one, trains it in the background, and shows what it found.
import { useEffect, useState } from 'react'
import { useStore } from 'zustand'
import { viewParts } from '../../document/links/view.ts'
import { decodeStudy } from '../../document/study/study_link.ts'
import { studyStore } from '../../page/study/study_state.ts'
import { openLabStudy, openStudy } from '../../page/study/study_store.ts'
import './study.css'
import { DeletedStudy } from './DeleteStudy.tsx'
import { Gallery } from './Gallery.tsx'
import { NewStudy } from './NewStudy.tsx'
import { OwnStudies } from './OwnStudies.tsx'
import { StudyView } from './StudyView.tsx'

/** Takes the study of a link, once; what is wrong with it otherwise. */
function useLinkedStudy(is_ready: boolean): string {
  const [problem, setProblem] = useState('')
  useEffect(() => {
    const { study: text } = viewParts(location.hash)
    if (!is_ready || text === undefined) return
    const { pathname, search } = location
    history.replaceState(history.state, '', `${pathname}${search}#tab=study`)
    const parsed = decodeStudy(text)
    if (!parsed.ok)
      setProblem(parsed.issues.map(({ path, message }) => `${path} ${message}`).join('; '))
    else if (JSON.stringify(parsed.study) !== JSON.stringify(studyStore.getState().study))
      void openLabStudy(parsed.study)
  }, [is_ready])
  return problem
}

export function StudyTab() {
  const { is_ready, study } = useStore(studyStore)
  const problem = useLinkedStudy(is_ready)
  useEffect(() => void openStudy(), [])
  if (!is_ready) return <p className="soft">Opening …</p>
  return (
    <div className="study">
      {problem ? (
        <p className="bad" role="alert">
          {problem}
        </p>
      ) : null}
      {study ? (
        <StudyView study={study} />
      ) : (
        <>
          <NewStudy />
          <OwnStudies />
          <Gallery />
        </>
      )}
      <DeletedStudy />
    </div>
  )
}
