// Opens a study with one of its arms in sight.
import { type RefObject, useEffect, useRef } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { openTab, showToast } from '../shown/store.ts'

const MARKED_MS = 4000

/** The arm that is to come into sight; a new object asks again. */
const openedArmStore = createStore<{ readonly wanted: { readonly arm: string } | undefined }>(
  () => ({ wanted: undefined }),
)

interface PlaceOfArm {
  /** Of the study, as this browser keeps it. */
  readonly id: string
  readonly arm: string
}

export async function openArm({ id, arm }: PlaceOfArm): Promise<void> {
  try {
    const [{ openStudy, reopenStudy }, { studyStore }] = await Promise.all([
      import('../../page/study/study_store.ts'),
      import('../../page/study/study_state.ts'),
    ])
    await openStudy()
    if (studyStore.getState().id !== id) reopenStudy(id)
    openedArmStore.setState({ wanted: { arm } })
    openTab('study')
  } catch (error) {
    showToast(error instanceof Error ? error.message : String(error))
  }
}

/** Where an arm is drawn, and whether it is the wanted one, which comes into sight. */
export function useOpenedArm(arm: string): {
  readonly ref: RefObject<HTMLTableRowElement | null>
  readonly isWanted: boolean
} {
  const ref = useRef<HTMLTableRowElement>(null)
  const wanted = useStore(openedArmStore, ({ wanted }) =>
    wanted?.arm === arm ? wanted : undefined,
  )
  useEffect(() => {
    if (!wanted) return
    // Behind what the tab itself brings into sight when it shows another study.
    const frame = requestAnimationFrame(() => ref.current?.scrollIntoView({ block: 'center' }))
    const timer = setTimeout(() => {
      if (openedArmStore.getState().wanted === wanted)
        openedArmStore.setState({ wanted: undefined })
    }, MARKED_MS)
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, [wanted])
  return { ref, isWanted: wanted !== undefined }
}
