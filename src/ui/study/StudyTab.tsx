// Draws the tab of studies: builds one, trains it in the background, and shows what it found.
import { useEffect, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { viewParts, withParts } from '../../document/links/view.ts'
import { linkedStudy } from '../../page/study/linked_study.ts'
import { studyStore } from '../../page/study/study_state.ts'
import { openLabStudy, openStudy } from '../../page/study/study_store.ts'
import './study.css'
import { useBackToList } from './back_to_list.ts'
import { StudyList } from './list/StudyList.tsx'
import { StudyView } from './StudyView.tsx'
import { UndoToast } from './UndoToast.tsx'

/** Takes the study of a link, once; what is wrong with it otherwise. */
function useLinkedStudy(isReady: boolean): string {
  const [problem, setProblem] = useState('')
  useEffect(() => {
    const { study: text } = viewParts(location.hash)
    if (!isReady || text === undefined) return
    const { pathname, search } = location
    const rest = withParts(location.hash, { study: undefined })
    history.replaceState(history.state, '', `${pathname}${search}${rest}`)
    const parsed = linkedStudy(text)
    if (!parsed.ok)
      setProblem(
        `The link holds no whole study: ${parsed.issues.map(({ path, message }) => `${path} ${message}`).join('; ')}`,
      )
    else if (JSON.stringify(parsed.study) !== JSON.stringify(studyStore.getState().study))
      void openLabStudy(parsed.study)
  }, [isReady])
  return problem
}

/** Another study that is opened begins in sight, with its answer, and takes the focus; so does the
 * list when one is left. Nothing moves where the page or the tab is opened with one. */
function useBeginning(isReady: boolean, id: string) {
  const panel = useRef<HTMLDivElement>(null)
  const before = useRef<string>(undefined)
  useEffect(() => {
    if (!isReady) return
    const isOther = before.current !== undefined && before.current !== id
    before.current = id
    if (!isOther) return
    panel.current?.scrollIntoView()
    panel.current?.querySelector('h2')?.focus({ preventScroll: true })
  }, [isReady, id])
  return panel
}

export function StudyTab() {
  const { isReady, study, id } = useStore(studyStore)
  const panel = useBeginning(isReady, id)
  const problem = useLinkedStudy(isReady)
  useBackToList(isReady, study ? id : '')
  useEffect(() => void openStudy(), [])
  if (!isReady) return <p className="soft">Opening …</p>
  return (
    <div className="study" ref={panel}>
      {problem ? (
        <p className="bad" role="alert">
          {problem}
        </p>
      ) : null}
      {study ? <StudyView study={study} /> : <StudyList />}
      <UndoToast />
    </div>
  )
}
