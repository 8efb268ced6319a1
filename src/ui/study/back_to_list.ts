// Leads the browser's Back from an open study to the list of studies, and Forward to the study
// again: opening one from the list is an entry of the history, which its state marks.
import { useEffect, useRef } from 'react'
import { tabOf } from '../../document/links/view.ts'
import { isObject } from '../../formats/json.ts'
import { studyStore } from '../../page/study/study_state.ts'
import { closeStudy, reopenStudy } from '../../page/study/study_store.ts'
import { pushEntry } from '../kit/way_back.ts'

/** The study of an entry; undefined for the list. */
function markOf(state: unknown): string | undefined {
  return isObject(state) && typeof state.study === 'string' ? state.study : undefined
}

/** The state of the present entry with another mark. */
const marked = (study: string | undefined) => ({
  ...(isObject(history.state) ? history.state : {}),
  study,
})

const isOpen = (): boolean => studyStore.getState().study !== undefined

/** Shows what the entry has that the browser has gone to. Another part of the page is opened by its
 * address. */
function follow({ state }: PopStateEvent): void {
  if (tabOf(location.hash) !== 'study') return
  const study = markOf(state)
  if (study === undefined) closeStudy()
  else if (studyStore.getState().others.some(({ id }) => id === study)) reopenStudy(study)
}

/** `id`: of the open study; '' while the list is shown. What the tab or a link opens with is no
 * step from the list. */
export function useBackToList(isReady: boolean, id: string): void {
  const before = useRef<string>(undefined)
  /** The entry on top was made here, and the list is right below it. */
  const isOnTop = useRef(false)
  useEffect(() => {
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  useEffect(() => {
    if (!isReady) return
    const was = before.current
    before.current = isOpen() ? id || studyStore.getState().id : ''
    if (was === undefined || was === id || markOf(history.state) === (id || undefined)) return
    if (id === '') {
      if (isOnTop.current) history.back()
      else history.replaceState(marked(undefined), '')
    } else if (was === '') pushEntry(location.href, marked(id))
    else history.replaceState(marked(id), '')
    isOnTop.current = id !== '' && (was === '' || isOnTop.current)
  }, [isReady, id])
}
