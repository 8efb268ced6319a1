// Lists the questions that the tab answers, each with what this run says to it, and jumps to the
// figures: the tab is many windows high.
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { wantObserved } from '../../page/client/observing.ts'
import { useRecordOver } from '../look/kept_states.ts'
import { useNextObserved } from '../look/next_observed.ts'
import { useSlowFrame } from '../shown/readout.ts'
import { useIsLiving, useKept } from '../shown/rested.ts'
import { useLastLayer } from '../shown/run.ts'
import { useAtStep } from '../shown/shown.ts'
import { useVisible } from '../shown/visible.ts'
import { LENS_TEXTS } from '../tokens/lens/LayerLens.tsx'
import { keyOf, touchStore } from '../touch/touch_store.ts'
import { pressedSays, QUESTIONS, type Question } from './base/answers.ts'

/** The heads of the groups that have a figure: cards come and go with the run. */
const headsOf = (panel: Element): HTMLElement[] =>
  [...panel.querySelectorAll<HTMLElement>(':scope > .inside-group')].filter((head) =>
    head.nextElementSibling?.matches('.figure'),
  )

const isSame = (a: readonly HTMLElement[], b: readonly HTMLElement[]): boolean =>
  a.length === b.length && a.every((head, i) => head === b[i])

/** Moves the focus too, so that the next Tab continues from there. */
function jumpTo(head: HTMLElement): void {
  head.tabIndex = -1
  head.scrollIntoView()
  head.focus({ preventScroll: true })
}

const CAUSES: Question = 'What causes it?'

interface LineProps {
  readonly head: HTMLElement
  readonly answer: string | undefined
}

/** What fills it: most figures fill by themselves. */
const unmeasured = ({ dataset }: HTMLElement) =>
  dataset.question === CAUSES
    ? 'Not measured yet: a button there switches each part off in turn.'
    : 'Not measured yet.'

function Line({ head, answer }: LineProps) {
  return (
    <li>
      <button type="button" className="plain" onClick={() => jumpTo(head)}>
        {head.dataset.question}
      </button>
      {answer === undefined ? <p className="soft">{unmeasured(head)}</p> : <p>{answer}</p>}
    </li>
  )
}

const selectFound = ({ found }: ReturnType<typeof touchStore.getState>) => found

/** What the button found in the shown run, whatever was observed while it trained. */
function usePressed(): string | undefined {
  const record = useRecordOver()
  const found = useStore(touchStore, selectFound)
  return record === undefined ? undefined : pressedSays(found.get(keyOf(record, 'parts')))
}

/** All answers are of one step: of the newest that was measured while they were in view. */
const ANSWERS = {
  groups: ['entropy', 'flow'],
  lens: { held_out: LENS_TEXTS, samples: [] },
} as const

/** Metrics of every step answer, too. */
const SAYS_MS = 1000

/** Which step is measured next, with room for it from the start. */
function Next() {
  const next = useNextObserved()
  if (next === undefined) return null
  return (
    <p className="soft inside-next" data-testid="inside-next">
      {next}
    </p>
  )
}

export function Contents() {
  const nav = useRef<HTMLElement>(null)
  const [heads, setHeads] = useState<readonly HTMLElement[]>([])
  // Before the tab is painted, so that nothing below it moves.
  useLayoutEffect(() => {
    const panel = nav.current?.parentElement
    if (!panel) return
    const update = () =>
      setHeads((before) => {
        const now = headsOf(panel)
        return isSame(before, now) ? before : now
      })
    const observer = new MutationObserver(update)
    observer.observe(panel, { childList: true })
    update()
    return () => observer.disconnect()
  }, [])
  const isVisible = useVisible(nav)
  const isLiving = useIsLiving()
  useEffect(() => {
    if (isVisible && isLiving) return wantObserved('answers', ANSWERS)
  }, [isVisible, isLiving])
  const kept = useKept().observations
  const atStep = useAtStep()
  const last = useLastLayer()
  const pressed = usePressed()
  useSlowFrame(SAYS_MS)
  const answerTo = ({ dataset: { question } }: HTMLElement) =>
    (question === CAUSES ? pressed : undefined) ??
    QUESTIONS[question as Question](kept, atStep, last)
  return (
    <nav ref={nav} className="inside-contents" aria-label="Contents of this tab">
      <ul>
        {heads.map((head) => (
          <Line key={head.dataset.question} head={head} answer={answerTo(head)} />
        ))}
      </ul>
      {isLiving ? <Next /> : null}
    </nav>
  )
}
