// Draws the picture's card about a run that is over: what each phase did, what other seeds showed,
// and what to do next.
import { BookOpen, Trees } from 'lucide-react'
import { useState } from 'react'
import { sameSettings } from '../../document/experiment/experiment.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { choosePreset } from '../../page/client/opening.ts'
import type { LabState } from '../../page/state/store.ts'
import { Words } from '../glossary/Words.tsx'
import { openLesson } from '../open/open_lesson.ts'
import { lazyPart } from '../part/lazy_part.tsx'
import { useShown } from '../shown/shown.ts'
import { headline, nextLesson, phaseCaptions } from './captions.ts'

const WhatToSee = lazyPart(async () => (await import('../learning/WhatToSee.tsx')).WhatToSee, {
  name: 'What other seeds showed',
  fallback: null,
})

/** The preset that was trained, where nothing of it was changed but its seed. */
const presetOfRun = ({ run_experiment }: LabState) =>
  run_experiment &&
  PRESETS.find(({ experiment }) =>
    sameSettings({ ...experiment, seed: run_experiment.seed }, run_experiment),
  )
const selectAll = (state: LabState) => state

export function EndCard() {
  const state = useShown(selectAll)
  const [is_open, setOpen] = useState(false)
  const preset = presetOfRun(state)
  const [lesson, words] = nextLesson(state)
  return (
    <>
      <h2>{headline(state) ?? 'What was seen'}</h2>
      <ol>
        {phaseCaptions(state).map((caption) => (
          <li key={caption}>
            <Words text={caption} />
          </li>
        ))}
      </ol>
      {preset ? (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>What it came to with several seeds</summary>
          {is_open ? <WhatToSee id={preset.id} /> : null}
        </details>
      ) : null}
      <div className="forest-next">
        <button type="button" data-testid="next-lesson" onClick={() => openLesson(lesson)}>
          <BookOpen className="icon" aria-hidden="true" /> {words}
        </button>
        {preset?.id.startsWith('first-run') ? (
          <button
            type="button"
            data-testid="next-preset"
            onClick={() => choosePreset(PRESETS[0].id)}
          >
            <Trees className="icon" aria-hidden="true" /> Choose the six layers that add
          </button>
        ) : null}
      </div>
    </>
  )
}
