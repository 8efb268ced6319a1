// Says above the charts what a preset is known to do, and when its run is over what came of it and
// what to do next.
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { sameSettings } from '../../document/experiment/experiment.ts'
import { doneByHand } from '../../document/experiment/steering/steered_kernels.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { libraryStore, shownRuns } from '../../page/runs/library/library_store.ts'
import type { LabState } from '../../page/state/store.ts'
import { Words } from '../glossary/Words.tsx'
import { t } from '../kit/translator.ts'
import { isLowWindow } from '../kit/use_media.ts'
import { lazyPart } from '../part/lazy_part.tsx'
import { isImported, usePresent } from '../shown/shown.ts'
import { Answers, readsAnswers } from './Answers.tsx'
import { controlSays, insideSays, settingsOfBoth } from './control_result.ts'
import { examplesOf } from './examples.ts'
import { Next } from './Next.tsx'
import { besideSays, insideWords } from './says/beside.ts'
import { captionLines, phaseCaptions } from './says/captions.ts'
import { firstLight } from './says/first_light.ts'
import { onTheWay } from './says/on_the_way.ts'
import './end_card.css'

const WhatToSee = lazyPart(async () => (await import('../learning/WhatToSee.tsx')).WhatToSee, {
  name: 'What other seeds showed',
  fallback: null,
})

/** The preset that was trained, where nothing of it was changed but its seed. */
const presetOf = (runExperiment: LabState['runExperiment'], isSteered: boolean) =>
  runExperiment &&
  !isSteered &&
  PRESETS.find(({ experiment }) =>
    sameSettings({ ...experiment, seed: runExperiment.seed }, runExperiment),
  )
const selectOfRun = ({ runExperiment }: LabState) => runExperiment
const selectIsSteered = ({ runDocument }: LabState) =>
  doneByHand(runDocument?.steering ?? []).length > 0
const selectIsOver = ({ status }: LabState) => status === 'finished'
const selectAll = (state: LabState) => state

/** Of a log, which often has nothing that can be said of its run but its curves. */
const selectIsUntold = (state: LabState) =>
  isImported() && happenedIn(state).length === 0 && examplesOf(state, 1) === undefined

/** Where a low window shows the beginning of the tab when the run ends, what it came to comes into
 * sight, which is said above it. */
function useHeadline(isOver: boolean) {
  const card = useRef<HTMLElement>(null)
  const wasOver = useRef(isOver)
  useLayoutEffect(() => {
    const ends = isOver && !wasOver.current
    wasOver.current = isOver
    if (!ends || !isLowWindow() || !card.current) return
    if (card.current.getBoundingClientRect().top >= 0) scrollTo(0, 0)
  }, [isOver])
  return card
}

export function EndCard() {
  const isOver = usePresent(selectIsOver)
  const card = useHeadline(isOver)
  const runExperiment = usePresent(selectOfRun)
  const isSteered = usePresent(selectIsSteered)
  const preset = useMemo(() => presetOf(runExperiment, isSteered), [runExperiment, isSteered])
  const [isOpen, setOpen] = useState(false)
  const isUntold = usePresent(selectIsUntold)
  if ((!isOver && !preset) || isUntold) return null
  return (
    <section ref={card} className={isOver ? 'card end-card' : 'intro'} data-testid="end-card">
      {isOver ? <Outcome /> : null}
      {preset ? (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>{isOver ? 'What it came to with several seeds' : 'What you should see'}</summary>
          {isOpen ? <WhatToSee id={preset.id} /> : null}
        </details>
      ) : null}
    </section>
  )
}

/** Stories are long: what happened comes before them. */
function Outcome() {
  const state = usePresent(selectAll)
  const isRead = readsAnswers(state)
  const runs = useStore(libraryStore, shownRuns)
  const both = useMemo(() => settingsOfBoth(state, runs), [state, runs])
  return (
    <>
      {isRead ? null : <Answers />}
      <Says state={state} />
      <Next state={state} both={both} />
      {isRead ? <Answers /> : null}
    </>
  )
}

/** What happened, in the order of reading: each phase, what else was measured, what lay between. */
function happenedIn(state: LabState): readonly (readonly string[])[] {
  const groups = [besideSays(state), ['On the way', ...onTheWay(state)], insideWords(state)]
  return [
    ...phaseCaptions(state).map((caption) => captionLines(t(caption))),
    ...groups.filter(({ length }) => length > 1).map((lines) => lines.map(t)),
  ]
}

function Says({ state }: { readonly state: LabState }) {
  const happened = happenedIn(state)
  const light = firstLight(state)
  const runs = useStore(libraryStore, shownRuns)
  const compared = useMemo(() => controlSays(state, runs), [state, runs])
  const inside = useMemo(() => insideSays(state, runs), [state, runs])
  return (
    <div className="end-says">
      {compared === undefined ? null : (
        <p className="figure-says" data-testid="control-says">
          {compared}
        </p>
      )}
      {inside === undefined ? null : (
        <p className="figure-says" data-testid="inside-says">
          <Words text={inside} />
        </p>
      )}
      {happened.length > 0 ? <h2>What happened</h2> : null}
      {light === undefined ? null : (
        <p className="figure-says" data-testid="first-light">
          <Words text={light} />
        </p>
      )}
      <ol>
        {happened.map((lines) => (
          <Caption key={lines.join()} lines={lines} />
        ))}
      </ol>
    </div>
  )
}

/** What a phase did, or what happened on the way: its name, and a line for every sentence. */
function Caption({ lines: [head, ...says] }: { readonly lines: readonly string[] }) {
  return (
    <li>
      <h3>
        <Words text={head} />
      </h3>
      {says.map((line) => (
        <p key={line}>
          <Words text={line} />
        </p>
      ))}
    </li>
  )
}
